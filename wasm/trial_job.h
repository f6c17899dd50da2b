// SPDX-License-Identifier: Apache-2.0
// One worker's part of a trial (core/trial/trial.h): each has the whole trial and a part of the samples, and all take
// the same outcomes.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "core/trial/trial_runner.h"
#include "wasm/step_job.h"

namespace tersor::wasm {

class TrialJob : public StepJob {
 public:
  TrialJob(std::shared_ptr<const Job> job, calibrate::Statistics statistics);

  bool needed() const override { return trial_.has_value(); }
  std::optional<size_t> steps() const override { return std::nullopt; }
  const std::vector<int64_t>& samples() const override { return samples_; }
  void add(int64_t number, std::span<const Tensor> inputs) override;
  ByteBuffer advance(size_t step, std::span<const std::byte> before) override;
  ByteBuffer merge(size_t step, std::span<const samples::Bytes> parts) const override;
  ByteBuffer finish(std::span<const samples::Bytes> outcomes) override;

 private:
  calibrate::Statistics statistics_;
  std::optional<Trial> trial_;
  std::vector<int64_t> samples_;
  std::map<size_t, TrialState> states_;  // by index into the trial's places
};

}  // namespace tersor::wasm
