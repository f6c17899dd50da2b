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

/// Runs samples through the float model and gathers statistics of them. One per thread or worker: each is given its
/// part of the samples, and the parts' statistics merge to those of all.
class Calibrator {
 public:
  /// Gives the program of the whole float model, for samples of which a watched tensor is not finite.
  using WholeProgram = std::function<std::shared_ptr<const run::Program>()>;

  /// `program` observes the values of `requests`; `data_set_size` is the number of samples in the whole data set, of
  /// which those given may be a part. `whole`: where `program` does not give the model's outputs.
  Calibrator(std::shared_ptr<const run::Program> program, std::vector<Request> requests, Provenance provenance,
             uint64_t data_set_size, WholeProgram whole = nullptr);

  /// Runs one sample. `inputs` in graph-input order, batch as the model wants it; `sample.index` is its number in the
  /// whole data set, `place` names it in errors. Error kInvalidSamples when it does not fit the model, or when a
  /// watched tensor and an input or output are not finite; the calibrator then holds part of that sample and must be
  /// dropped.
  void add(SampleRecord sample, std::string_view place, std::span<const Tensor> inputs);

  /// The digest of the sample that was added last, for who takes it while the sample runs.
  void note_digest(std::string digest);

  /// Of the samples given so far.
  Statistics statistics() const;
  /// The same for who gives no more samples: gives back what running took first.
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
