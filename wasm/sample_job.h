// SPDX-License-Identifier: Apache-2.0
// One worker's part of a job that goes through samples. Parts become bytes that any worker can merge.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

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
};

class SampleJob {
 public:
  virtual ~SampleJob() = default;
  virtual void add(const JobSample& sample) = 0;
  virtual std::vector<std::byte> finish() = 0;
};

/// Finishes as a .tstats file of the samples added. `data_set_size` 0: not known.
std::unique_ptr<SampleJob> make_calibration(const Job& job, uint64_t data_set_size);
std::unique_ptr<SampleJob> make_evaluation(std::shared_ptr<const run::Program> program, evaluate::Metric metric,
                                           int64_t group);
std::unique_ptr<SampleJob> make_comparison(std::shared_ptr<const report::CompareProgram> program);

std::vector<std::byte> merge_statistics(std::span<const samples::Bytes> parts);
evaluate::EvaluationResult merge_evaluations(std::span<const samples::Bytes> parts,
                                             const std::optional<std::vector<int64_t>>& reference);
report::Comparison merge_comparisons(std::span<const samples::Bytes> parts,
                                     std::shared_ptr<const report::CompareProgram> program,
                                     std::span<const std::byte> statistics);

}  // namespace tersor::wasm
