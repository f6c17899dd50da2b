// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>

namespace tersor::cli {

/// One line on a terminal that counts up: "calibrate 37/128". Says nothing where stderr is no terminal. May be told by
/// several threads; erased at the end.
class ProgressLine {
 public:
  ProgressLine(std::string stage, int64_t total);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  void step();

 private:
  std::string stage_;
  int64_t total_;
  bool shown_;
  std::atomic<int64_t> done_{0};
  std::mutex mutex_;
  std::chrono::steady_clock::time_point printed_{};
};

}  // namespace tersor::cli
