// SPDX-License-Identifier: Apache-2.0
#include "listener.h"

#include <string>

namespace tersor::python {

namespace nb = nanobind;

ProgressFunction Listener::tell() {
  return [this](const Progress& progress) { return hear(progress); };
}

void Listener::rethrow() const {
  if (raised_) std::rethrow_exception(raised_);
}

bool Listener::hear(const Progress& progress) {
  if (stopped_) return false;
  if (std::this_thread::get_id() != caller_) return true;
  const auto now = std::chrono::steady_clock::now();
  if (now - heard_ < std::chrono::milliseconds(50) && progress.done < progress.total && progress.note.empty())
    return true;
  heard_ = now;
  if (!run(progress)) stopped_ = true;
  return !stopped_;
}

bool Listener::run(const Progress& progress) {
  const nb::gil_scoped_acquire locked;
  try {
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    if (!function_.is_none()) function_(std::string(progress.stage).c_str(), progress.done, progress.total);
    return true;
  } catch (...) {
    raised_ = std::current_exception();
    return false;
  }
}

}  // namespace tersor::python
