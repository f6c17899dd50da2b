// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "core/base/progress.h"

namespace tersor {

/// Counts the units of a stage that several threads do, and tells a listener of each.
class StageCount {
 public:
  /// The listener must outlive it; threads call it at the same time.
  StageCount(const ProgressFunction& listener, std::string stage, int64_t total);
  /// Error kCancelled when the listener wants to stop.
  void step();

 private:
  const ProgressFunction& listener_;
  std::string stage_;
  int64_t total_;
  std::atomic<int64_t> done_{0};
};

}  // namespace tersor
