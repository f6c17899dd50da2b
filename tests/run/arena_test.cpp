// SPDX-License-Identifier: Apache-2.0
#include "core/run/arena.h"

#include <random>

#include "tests/catch.h"

using namespace tersor::run;

namespace {

bool overlap(int64_t a, int64_t a_end, int64_t b, int64_t b_end) {
  return a < b_end && b < a_end;
}

}  // namespace

TEST_CASE("buffers needed at different times share memory") {
  std::vector<Buffer> buffers{{1000, 0, 1}, {1000, 1, 2}, {1000, 2, 3}, {1000, 3, 4}};
  REQUIRE(assign_offsets(buffers) == 2 * 1024);
  REQUIRE(buffers[0].offset == buffers[2].offset);
}

TEST_CASE("buffers needed at the same time never overlap, and lie at multiples of 64") {
  std::mt19937 random(7);
  std::vector<Buffer> buffers;
  for (int k = 0; k < 200; ++k) {
    const int first = static_cast<int>(random() % 60), last = first + static_cast<int>(random() % 8);
    buffers.push_back({static_cast<int64_t>(random() % 5000), first, last});
  }
  const int64_t total = assign_offsets(buffers);
  int64_t sum = 0;
  for (const Buffer& a : buffers) {
    REQUIRE(a.offset % 64 == 0);
    REQUIRE(a.offset + a.bytes <= total);
    sum += a.bytes;
    for (const Buffer& b : buffers)
      if (&a != &b && overlap(a.first, a.last + 1, b.first, b.last + 1))
        REQUIRE_FALSE(overlap(a.offset, a.offset + a.bytes, b.offset, b.offset + b.bytes));
  }
  REQUIRE(total < sum / 4);
}

TEST_CASE("where a buffer lies does not depend on how long the line is") {
  // Alike stretches far from each other, and some that are needed all along.
  std::mt19937 random(3);
  std::vector<Buffer> stretch;
  for (int k = 0; k < 40; ++k) {
    const int first = static_cast<int>(random() % 20);
    stretch.push_back({static_cast<int64_t>(random() % 900 + 1), first, first + static_cast<int>(random() % 5)});
  }
  std::vector<Buffer> alone{{5000, 0, 1000}};
  alone.insert(alone.end(), stretch.begin(), stretch.end());
  const int64_t total = assign_offsets(alone);
  std::vector<Buffer> many{{5000, 0, 1000}};
  for (int at = 0; at < 900; at += 30)
    for (const Buffer& one : stretch) many.push_back({one.bytes, one.first + at, one.last + at});
  REQUIRE(assign_offsets(many) == total);
  for (size_t k = 0; k + 1 < many.size(); ++k) REQUIRE(many[k + 1].offset == alone[k % stretch.size() + 1].offset);
}
