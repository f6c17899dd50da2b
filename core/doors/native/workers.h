// SPDX-License-Identifier: Apache-2.0
// Parallelism of the program and of the Python package: single samples go to threads, each with its own runner; what
// they gather is merged exactly, so the number of threads never changes a result.
#pragma once

#include <cstdint>
#include <functional>

#include "core/base/progress.h"

namespace tersor {

/// Who does the work of a pass over samples, and who hears of it.
struct Workforce {
  int threads = 0;            // one for each core (at most 16) where it is 0
  ProgressFunction progress;  // called by all threads at the same time; returns false to end the pass with kCancelled
};

/// The number of threads for --threads: `wanted`, or one for each core (at most 16) where it is 0.
int thread_count(int wanted);

/// Bytes of memory that this machine has; 0 where that is not known.
int64_t physical_memory();

/// As many of `threads` as fit into `memory` with `bytes` each, at least 1; all where either is 0.
int threads_that_fit(int threads, int64_t bytes, int64_t memory);

/// Calls work(worker, item) once for every item 0 ... items-1, items rising, each worker (0 ... threads-1) on a thread
/// of its own; fewer work where the system makes no more threads. An error stops the rest; the one of the lowest item
/// is thrown, whatever the threads' timing.
void fan_out(int threads, int64_t items, const std::function<void(int worker, int64_t item)>& work);

}  // namespace tersor
