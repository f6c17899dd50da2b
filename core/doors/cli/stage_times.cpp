// SPDX-License-Identifier: Apache-2.0
#include "core/cli/stage_times.h"

#include <algorithm>

namespace tersor::cli {

ProgressFunction StageTimes::watch(ProgressFunction listener) {
  return [this, listener = std::move(listener)](const Progress& progress) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      const auto now = Clock::now();
      auto stage =
          std::find_if(stages_.begin(), stages_.end(), [&](const Stage& one) { return one.name == progress.stage; });
      if (stage == stages_.end()) stage = stages_.insert(stage, {std::string(progress.stage), 0});
      stage->seconds += std::chrono::duration<double>(now - last_).count();
      last_ = now;
    }
    return !listener || listener(progress);
  };
}

std::vector<StageTimes::Stage> StageTimes::stages() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return stages_;
}

}  // namespace tersor::cli
