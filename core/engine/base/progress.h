// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "core/base/error.h"

namespace tersor {

/// One step of a long call: `done` of `total` units of `stage` ("calibrate", "select", "compare", ...).
struct Progress {
  std::string_view stage;
  int64_t done = 0;
  int64_t total = 0;
  std::string_view note;
};

/// Told after each unit of work; returns false to stop. Empty: nobody listens.
using ProgressFunction = std::function<bool(const Progress&)>;

/// Reports, and throws Error kCancelled when the listener wants to stop.
inline void report_progress(const ProgressFunction& listener, const Progress& progress) {
  if (listener && !listener(progress))
    throw Error(ErrorCode::kCancelled, "Cancelled while at " + std::string(progress.stage) + ".");
}

}  // namespace tersor
