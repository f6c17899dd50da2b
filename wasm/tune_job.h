// SPDX-License-Identifier: Apache-2.0
// One worker's part of a training (core/tune/tuner.h): it has the samples of some lanes and takes them through each
// round; what the lanes add up to crosses as bytes.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/tersor.h"
#include "wasm/step_job.h"

namespace tersor::wasm {

class TuneJob : public StepJob {
 public:
  TuneJob(const std::shared_ptr<const Job>& job, calibrate::Statistics statistics);

  bool needed() const override { return tuner_ != nullptr; }
  std::optional<size_t> steps() const override { return static_cast<size_t>(tuner_->rounds()); }
  const std::vector<int64_t>& samples() const override { return samples_; }
  std::optional<size_t> lanes() const override { return tune::kLanes; }
  void add(int64_t number, std::span<const Tensor> inputs) override;
  ByteBuffer advance(size_t step, std::span<const std::byte> before) override;
  ByteBuffer merge(size_t step, std::span<const samples::Bytes> parts) const override;
  ByteBuffer finish(std::span<const samples::Bytes> outcomes) override;
  void stop() override { tuner_->stop(); }
  Json progress() const override;

 private:
  std::shared_ptr<const Job> job_;
  calibrate::Statistics statistics_;
  Draft draft_;
  std::unique_ptr<tune::Tuner> tuner_;
  std::optional<tune::TuneRunner> runner_;
  std::vector<int64_t> samples_;                  // by place
  std::map<size_t, std::vector<Tensor>> inputs_;  // of this worker's, by place
};

}  // namespace tersor::wasm
