// SPDX-License-Identifier: Apache-2.0
// One worker's part of a bias sweep (core/ptq/bias_sweep.h): its samples go step by step, all workers together; what a
// step's outputs add up to crosses as bytes.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "core/tersor.h"

namespace tersor::wasm {

class SweepJob {
 public:
  SweepJob(std::shared_ptr<const Job> job, calibrate::Statistics statistics);

  /// False: these settings and statistics ask for no sweep.
  bool needed() const { return sweep_ != nullptr; }
  size_t steps() const { return sweep_->steps(); }
  /// Numbers of the samples that take part, ascending.
  std::vector<int64_t> samples() const;

  void add(std::span<const Tensor> inputs) { states_.push_back(sweep_->start(inputs)); }
  /// Corrects by the shifts of the step before and runs the step. Bytes of ChannelSums.
  std::vector<std::byte> advance(size_t step, const std::vector<double>& shifts);
  /// The shifts of a step from all workers' bytes.
  std::vector<double> merge(size_t step, const std::vector<std::vector<std::byte>>& parts) const;
  /// The .tstats file with the shifts of all steps in it.
  std::vector<std::byte> finish(const std::vector<std::vector<double>>& shifts);

 private:
  calibrate::Statistics statistics_;
  Draft draft_;
  std::unique_ptr<const ptq::BiasSweep> sweep_;
  std::vector<ptq::SweepState> states_;
};

}  // namespace tersor::wasm
