// SPDX-License-Identifier: Apache-2.0
#include "core/mixed/bit_operations.h"

#include <vector>

#include "core/base/error.h"
#include "tests/catch.h"

using namespace tersor;
using namespace tersor::mixed;
using Sizes = std::vector<int64_t>;

TEST_CASE("multiplications of convolutions and dense layers, and their bit operations") {
  REQUIRE(conv_macs(Sizes{16, 8, 3, 3}, Sizes{10, 10}) == 115200);
  REQUIRE(conv_macs(Sizes{16, 1, 3}, Sizes{7}) == 336);  // depthwise along one axis
  REQUIRE(linear_macs(3 * 10, 64) == 1920);
  REQUIRE(bit_operations(115200, 8, 4) == 3686400);
}

TEST_CASE("negative sizes, bits below 1 and numbers too large are refused") {
  REQUIRE_THROWS_AS(conv_macs(Sizes{16, -1}, Sizes{10}), Error);
  REQUIRE_THROWS_AS(linear_macs(-1, 64), Error);
  REQUIRE_THROWS_AS(linear_macs(int64_t{1} << 40, int64_t{1} << 40), Error);
  REQUIRE_THROWS_AS(bit_operations(1, 0, 8), Error);
}
