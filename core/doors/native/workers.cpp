// SPDX-License-Identifier: Apache-2.0
#include "core/native/workers.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include <unistd.h>

namespace tersor {

namespace {

/// Joined when their scope ends, whatever ends it.
struct JoinedThreads {
  std::vector<std::thread> threads;
  ~JoinedThreads() {
    for (std::thread& one : threads) one.join();
  }
};

}  // namespace

int thread_count(int wanted) {
  if (wanted > 0) return wanted;
  constexpr unsigned kMost = 16;
  return static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1u, kMost));
}

int64_t physical_memory() {
  const int64_t pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGE_SIZE);
  return pages > 0 && size > 0 ? pages * size : 0;
}

int threads_that_fit(int threads, int64_t bytes, int64_t memory) {
  if (bytes <= 0 || memory <= 0) return threads;
  return static_cast<int>(std::clamp<int64_t>(memory / bytes, 1, threads));
}

void fan_out(int threads, int64_t items, const std::function<void(int worker, int64_t item)>& work) {
  std::atomic<int64_t> next{0};
  std::atomic<bool> stopped{false};
  std::mutex mutex;
  int64_t failed_item = items;
  std::exception_ptr failure;
  // Items are handed out in order, so when one fails all lower ones are done or in work, and the lowest failure is
  // known in the end.
  const auto loop = [&](int worker) {
    while (!stopped) {
      const int64_t item = next++;
      if (item >= items) return;
      try {
        work(worker, item);
      } catch (...) {
        stopped = true;
        const std::lock_guard<std::mutex> lock(mutex);
        if (item < failed_item) failed_item = item, failure = std::current_exception();
      }
    }
  };
  const int used = static_cast<int>(std::min<int64_t>(threads, std::max<int64_t>(items, 1)));
  {
    JoinedThreads others;
    try {
      for (int worker = 1; worker < used; ++worker) others.threads.emplace_back(loop, worker);
    } catch (const std::exception&) {
      // A limit or the memory refuses one more: those that are there do the work.
    }
    loop(0);
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace tersor
