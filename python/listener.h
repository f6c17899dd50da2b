// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <thread>

#include "core/base/progress.h"

namespace tersor::python {

/// Hears of a call's progress, so that Ctrl+C ends the call and a function of Python's hears of it too. The thread that
/// called does a part of the work; only it takes the GIL, and that a few times a second.
class Listener {
 public:
  /// `function`(stage, done, total), or None.
  explicit Listener(nanobind::object function) : function_(std::move(function)) {}
  ProgressFunction tell();
  /// What Python raised, where that ended the call.
  void rethrow() const;

 private:
  bool hear(const Progress& progress);
  bool run(const Progress& progress);

  nanobind::object function_;
  const std::thread::id caller_ = std::this_thread::get_id();
  std::chrono::steady_clock::time_point heard_{};
  std::atomic<bool> stopped_{false};
  std::exception_ptr raised_;
};

}  // namespace tersor::python
