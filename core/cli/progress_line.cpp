// SPDX-License-Identifier: Apache-2.0
#include "core/cli/progress_line.h"

#include <cstdio>
#include <utility>

#include <unistd.h>

#include "core/cli/files.h"

namespace tersor::cli {

ProgressLine::ProgressLine(std::string stage, int64_t total)
    : stage_(std::move(stage)), total_(total), shown_(is_terminal(STDERR_FILENO)) {}

ProgressLine::~ProgressLine() {
  if (shown_) std::fprintf(stderr, "\r\033[K");
}

void ProgressLine::step() {
  const int64_t done = ++done_;
  if (!shown_) return;
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto now = std::chrono::steady_clock::now();
  if (now - printed_ < std::chrono::milliseconds(100)) return;
  printed_ = now;
  std::fprintf(stderr, "\r\033[K%s %lld/%lld", stage_.c_str(), static_cast<long long>(done),
               static_cast<long long>(total_));
  std::fflush(stderr);
}

}  // namespace tersor::cli
