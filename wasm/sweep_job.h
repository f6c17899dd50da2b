// SPDX-License-Identifier: Apache-2.0
// One worker's part of a sweep (core/ptq/sweep.h): its samples go step by step, all workers together; what a step's
// samples add up to and what it came to cross as bytes.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/base/byte_buffer.h"
#include "core/samples/source.h"
#include "core/tersor.h"

namespace tersor::wasm {

class SweepJob {
 public:
  SweepJob(std::shared_ptr<const Job> job, calibrate::Statistics statistics);

  /// False: these settings and statistics ask for no sweep.
  bool needed() const { return sweep_ != nullptr; }
  size_t steps() const { return sweep_->steps(); }
  /// Numbers of the samples that take part, ascending.
  const std::vector<int64_t>& samples() const { return samples_; }

  /// The sample of that number.
  void add(int64_t number, std::span<const Tensor> inputs);
  /// Takes what the step before came to, and runs the step. Bytes of SweepSums.
  ByteBuffer advance(size_t step, std::span<const std::byte> before);
  /// What a step came to, from all workers' bytes: bytes of SweepOutcome.
  ByteBuffer merge(size_t step, std::span<const samples::Bytes> parts) const;
  /// The .tstats file with what all steps came to in it.
  ByteBuffer finish(std::span<const samples::Bytes> outcomes);

 private:
  std::shared_ptr<const Job> job_;
  calibrate::Statistics statistics_;
  Draft draft_;
  std::unique_ptr<ptq::Sweep> sweep_;
  std::vector<int64_t> samples_;
  std::optional<ptq::SweepStart> start_;
  std::optional<ptq::SweepRunner> first_;                   // of step 0, which samples go through as they come
  std::vector<std::pair<size_t, ptq::SweepState>> states_;  // with their places
};

}  // namespace tersor::wasm
