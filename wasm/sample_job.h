// SPDX-License-Identifier: Apache-2.0
// One worker's part of a job that goes through samples. Parts become bytes that any worker can merge.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/byte_buffer.h"
#include "core/evaluate/evaluation.h"
#include "core/report/compare.h"
#include "core/samples/source.h"
#include "core/tersor.h"

namespace tersor::wasm {

struct JobSample {
  int64_t index = 0;  // in the whole data set
  std::optional<int64_t> label;
  std::string place;  // for errors
  std::vector<Tensor> inputs;
  // Of jobs that want digests: samples::digested_bytes(), and the digest of them.
  ByteBuffer digested;
  std::string digest;
};

class SampleJob {
 public:
  virtual ~SampleJob() = default;
  virtual bool wants_digests() const { return false; }
  virtual void add(const JobSample& sample) = 0;
  virtual ByteBuffer finish() = 0;
};

/// Finishes as packed statistics (calibrate::pack()) of the samples added. `data_set_size` 0: not known.
std::unique_ptr<SampleJob> make_calibration(const Job& job, uint64_t data_set_size);
std::unique_ptr<SampleJob> make_evaluation(std::shared_ptr<const run::Program> program, evaluate::Metric metric,
                                           int64_t group);
std::unique_ptr<SampleJob> make_comparison(std::shared_ptr<const report::CompareProgram> program);

/// Packed statistics.
ByteBuffer merge_statistics(std::span<const samples::Bytes> parts);
evaluate::EvaluationResult merge_evaluations(std::span<const samples::Bytes> parts,
                                             const std::optional<std::vector<int64_t>>& reference);
report::Comparison merge_comparisons(std::span<const samples::Bytes> parts,
                                     std::shared_ptr<const report::CompareProgram> program,
                                     std::span<const std::byte> statistics);

}  // namespace tersor::wasm
