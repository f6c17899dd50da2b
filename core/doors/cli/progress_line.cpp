// SPDX-License-Identifier: Apache-2.0
#include "core/cli/progress_line.h"

#include <chrono>
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>

#include <unistd.h>

#include "core/cli/files.h"

namespace tersor::cli {

namespace {

constexpr const char* kErase = "\r\033[K";

class ProgressLine {
 public:
  void show(const Progress& progress) {
    if (!progress.note.empty()) std::fprintf(stderr, "note: %s\n", std::string(progress.note).c_str());
    if (!shown_) return;
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto now = std::chrono::steady_clock::now();
    if (progress.done >= progress.total) {
      std::fputs(kErase, stderr);
      printed_ = {};
    } else if (now - printed_ >= std::chrono::milliseconds(100)) {
      printed_ = now;
      std::fprintf(stderr, "%s%s %lld/%lld", kErase, std::string(progress.stage).c_str(),
                   static_cast<long long>(progress.done), static_cast<long long>(progress.total));
    }
    std::fflush(stderr);
  }

 private:
  const bool shown_ = is_terminal(STDERR_FILENO);
  std::mutex mutex_;
  std::chrono::steady_clock::time_point printed_{};
};

}  // namespace

ProgressFunction progress_line() {
  return [line = std::make_shared<ProgressLine>()](const Progress& progress) {
    line->show(progress);
    return true;
  };
}

void erase_progress_line() {
  if (is_terminal(STDERR_FILENO)) std::fputs(kErase, stderr);
}

}  // namespace tersor::cli
