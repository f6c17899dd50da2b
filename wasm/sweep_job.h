// SPDX-License-Identifier: Apache-2.0
// One worker's part of a sweep (core/sweep/sweep.h): its samples go step by step, all workers together; what a step's
// samples add up to and what it came to cross as bytes.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/job/tersor.h"
#include "core/sweep/sweep_runner.h"
#include "wasm/step_job.h"

namespace tersor::wasm {

class SweepJob : public StepJob {
 public:
  SweepJob(const std::shared_ptr<const Job>& job, calibrate::Statistics statistics);

  bool needed() const override { return sweep_ != nullptr; }
  std::optional<size_t> steps() const override { return sweep_->steps(); }
  const std::vector<int64_t>& samples() const override { return samples_; }
  void add(int64_t number, std::span<const Tensor> inputs) override;
  ByteBuffer advance(size_t step, std::span<const std::byte> before) override;
  ByteBuffer merge(size_t step, std::span<const samples::Bytes> parts) const override;
  ByteBuffer finish(std::span<const samples::Bytes> outcomes) override;

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
