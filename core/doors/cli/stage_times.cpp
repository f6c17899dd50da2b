// SPDX-License-Identifier: Apache-2.0
#include "core/cli/stage_times.h"

#include <algorithm>

namespace tersor::cli {

ProgressFunction StageTimes::watch(ProgressFunction listener) {
  return [this, listener = std::move(listener)](const Progress& progress) {
    end(progress.stage);
    return !listener || listener(progress);
  };
}

void StageTimes::end(std::string_view name) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto now = Clock::now();
  auto stage = std::find_if(stages_.begin(), stages_.end(), [&](const Stage& one) { return one.name == name; });
  if (stage == stages_.end()) stage = stages_.insert(stage, {std::string(name), 0});
  stage->seconds += std::chrono::duration<double>(now - last_).count();
  last_ = now;
}

std::vector<StageTimes::Stage> StageTimes::stages() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return stages_;
}

}  // namespace tersor::cli
