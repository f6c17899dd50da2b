// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/progress.h"

namespace tersor::cli {

/// The seconds of each stage of a job, as its progress reports come.
class StageTimes {
 public:
  struct Stage {
    std::string name;
    double seconds = 0;
  };

  /// Passes reports on to `listener`. What was done since the report before belongs to the stage of the next one.
  ProgressFunction watch(ProgressFunction listener);
  /// What was done since the report before belongs to this stage, of which nobody reports.
  void end(std::string_view stage);
  /// The stages so far, in the order of their first reports.
  std::vector<Stage> stages() const;

 private:
  using Clock = std::chrono::steady_clock;

  mutable std::mutex mutex_;
  Clock::time_point last_ = Clock::now();
  std::vector<Stage> stages_;
};

}  // namespace tersor::cli
