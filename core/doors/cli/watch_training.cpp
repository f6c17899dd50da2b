// SPDX-License-Identifier: Apache-2.0
#include "core/cli/print.h"
#include "core/cli/watch_training.h"

#include <chrono>
#include <csignal>

#include <unistd.h>

#include "core/cli/files.h"
#include "core/cli/progress_line.h"
#include "core/native/size_text.h"

namespace tersor::cli {

namespace {

using Clock = std::chrono::steady_clock;

volatile std::sig_atomic_t stop_asked = 0;

/// While it lives, the first Ctrl+C asks training to end, and a second one ends the program.
class InterruptGuard {
 public:
  InterruptGuard() {
    stop_asked = 0;
    former_ = std::signal(SIGINT, [](int) {
      stop_asked = 1;
      std::signal(SIGINT, SIG_DFL);
    });
  }
  ~InterruptGuard() { std::signal(SIGINT, former_); }
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

 private:
  void (*former_)(int);
};

/// A line on a terminal: step, loss, speed, time left.
class TrainingLine {
 public:
  explicit TrainingLine(bool quiet) : shown_(!quiet && is_terminal(STDERR_FILENO)), start_(Clock::now()) {}
  ~TrainingLine() {
    if (shown_) erase_progress_line();
  }
  TrainingLine(const TrainingLine&) = delete;
  TrainingLine& operator=(const TrainingLine&) = delete;

  void show(const tune::TuneProgress& now, int64_t batch) {
    if (!shown_ || now.step == 0) return;
    const auto at = Clock::now();
    if (at - printed_ < std::chrono::milliseconds(200)) return;
    printed_ = at;
    const double seconds = std::chrono::duration<double>(at - start_).count();
    const double each = seconds / static_cast<double>(now.step);
    const auto& from = now.before_right ? now.before_right : now.before_same;
    const auto& to = now.before_right ? now.last_right : now.last_same;
    const std::string answers = from && to ? ", " + std::to_string(*from) + " -> " + std::to_string(*to) + " of " +
                                                 std::to_string(now.held) +
                                                 (now.before_right ? " answers right" : " answers as in float")
                                           : "";
    print_error("\r\033[Ktrain %lld/%lld, loss %.3g, held aside %.1f -> %.1f dB%s, %.0f samples/s, %.0f s left",
                static_cast<long long>(now.step), static_cast<long long>(now.steps), now.loss, now.before_db,
                now.best_db, answers.c_str(), static_cast<double>(batch) / each,
                each * static_cast<double>(now.steps - now.step));
  }

 private:
  bool shown_;
  Clock::time_point start_, printed_{};
};

}  // namespace

void watch_training(const std::string& checkpoint, bool quiet, TrainingRun& run) {
  struct Watch {
    explicit Watch(bool is_quiet) : line(is_quiet) {}
    InterruptGuard guard;
    TrainingLine line;
  };
  const auto watch = std::make_shared<std::unique_ptr<Watch>>();
  run.begin = [watch, quiet](const tune::Tuner& tuner, int threads) {
    *watch = std::make_unique<Watch>(quiet);
    if (quiet) return;
    const int64_t bytes = tuner.bytes_per_runner();
    const std::string memory = bytes == 0 ? ""
                                          : "; at most " + size_text(bytes) + " of memory for each of " +
                                                std::to_string(threads) + " threads, beside the samples";
    print_error("train: %lld steps%s\n", static_cast<long long>(tuner.progress().steps), memory.c_str());
  };
  run.watch = [watch](const tune::TuneProgress& now, int64_t batch) { (*watch)->line.show(now, batch); };
  run.stops = [] { return stop_asked != 0; };
  if (checkpoint.empty()) return;
  run.keep = [checkpoint](const ByteBuffer& state) { write_file(checkpoint, std::span(state.data(), state.size())); };
}

}  // namespace tersor::cli
