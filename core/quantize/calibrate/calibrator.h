// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/calibrate/collector.h"
#include "core/calibrate/statistics.h"
#include "core/run/program.h"

namespace tersor::calibrate {

/// Runs samples through the float model and gathers statistics of its tensors. Each thread or worker has its own
/// calibrator for its part of the samples; the statistics of the parts merge into those of all.
class Calibrator {
 public:
  /// Returns the program of the whole float model, for samples with a watched tensor that is not finite.
  using WholeProgram = std::function<std::shared_ptr<const run::Program>()>;

  /// `program` observes the values of `requests`. `data_set_size` is the number of samples in the whole data set, of
  /// which the given samples may be a part. `whole` is needed where `program` does not compute the model's outputs.
  Calibrator(std::shared_ptr<const run::Program> program, std::vector<Request> requests, Provenance provenance,
             uint64_t data_set_size, WholeProgram whole = nullptr);

  /// Runs one sample. `inputs` are in graph-input order, with the batch size of the model. `sample.index` is the
  /// sample's number in the whole data set, and `place` names it in errors. Error kInvalidSamples if the sample does
  /// not fit the model, or if a watched tensor and a graph input or output are not finite. After an error the
  /// calibrator holds part of that sample and must be dropped.
  void add(SampleRecord sample, std::string_view place, std::span<const Tensor> inputs);

  /// Sets the digest of the sample that was added last, for callers that compute it while the sample runs.
  void note_digest(std::string digest);

  /// Statistics of the samples added so far.
  Statistics statistics() const;
  /// The same for the last call: frees the memory of the runs first.
  Statistics finish() &&;

 private:
  run::Runner runner_;
  Collector collector_;
  Provenance provenance_;
  uint64_t data_set_size_;
  WholeProgram whole_;
  std::vector<SampleRecord> samples_;
};

}  // namespace tersor::calibrate
