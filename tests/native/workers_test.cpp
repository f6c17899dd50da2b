// SPDX-License-Identifier: Apache-2.0
#include "core/native/workers.h"

#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/catch.h"

using namespace tersor;

TEST_CASE("every item is worked on once, by any number of threads") {
  for (int threads : {1, 2, 7}) {
    std::vector<std::atomic<int>> seen(100);
    std::vector<int> by_worker(static_cast<size_t>(threads));
    fan_out(threads, 100, [&](int worker, int64_t item) {
      ++seen[static_cast<size_t>(item)];
      ++by_worker[static_cast<size_t>(worker)];
    });
    int total = 0;
    for (int count : by_worker) total += count;
    REQUIRE(total == 100);
    for (const auto& count : seen) REQUIRE(count == 1);
  }
}

TEST_CASE("fewer threads work where all would not fit into memory") {
  REQUIRE(threads_that_fit(8, 1000, 10000) == 8);
  REQUIRE(threads_that_fit(8, 3000, 10000) == 3);
  REQUIRE(threads_that_fit(8, 20000, 10000) == 1);
  REQUIRE(threads_that_fit(8, 0, 10000) == 8);
  REQUIRE(threads_that_fit(8, 1000, 0) == 8);
  REQUIRE(physical_memory() > int64_t{1} << 28);
}

TEST_CASE("the error of the lowest item is thrown, whatever the timing") {
  for (int threads : {1, 2, 8})
    for (int repeat = 0; repeat < 20; ++repeat) {
      std::string message;
      try {
        fan_out(threads, 1000, [](int, int64_t item) {
          if (item >= 10 && item % 3 == 1) throw std::runtime_error(std::to_string(item));
        });
      } catch (const std::runtime_error& error) {
        message = error.what();
      }
      REQUIRE(message == "10");
    }
}

TEST_CASE("no items are no work, and zero threads asked for are some") {
  fan_out(4, 0, [](int, int64_t) { FAIL("there is nothing to do"); });
  REQUIRE(thread_count(0) >= 1);
  REQUIRE(thread_count(3) == 3);
}
