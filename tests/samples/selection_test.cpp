// SPDX-License-Identifier: Apache-2.0
#include "core/samples/selection.h"

#include "tests/catch.h"

using namespace tersor::samples;
using Numbers = std::vector<int64_t>;

TEST_CASE("a selection is spread evenly over the order") {
  REQUIRE(spread_evenly(10, 4) == Numbers{0, 2, 5, 7});
  REQUIRE(spread_evenly(3, 3) == Numbers{0, 1, 2});
  REQUIRE(spread_evenly(3, 9) == Numbers{0, 1, 2});
  REQUIRE(spread_evenly(3, 0).empty());
  REQUIRE(spread_evenly(0, 5).empty());
}

TEST_CASE("calibration and evaluation share no sample unless nothing would be left") {
  const Split ten = split(10, 4);
  REQUIRE(ten.calibration == Numbers{0, 2, 5, 7});
  REQUIRE(ten.evaluation == Numbers{1, 3, 4, 6, 8, 9});
  const Split all = split(3, 3);
  REQUIRE(all.evaluation == all.calibration);
}

TEST_CASE("classes of equal size give equally many samples to calibration") {
  // 10 classes of 20 samples, in order; 50 of 200 samples calibrate.
  Numbers counts(10, 0);
  for (int64_t sample : spread_evenly(200, 50)) ++counts[static_cast<size_t>(sample / 20)];
  REQUIRE(counts == Numbers(10, 5));
}

TEST_CASE("by default 128 samples calibrate, or half of those that are evaluated too") {
  REQUIRE(default_calibration_count(1000, true) == 128);
  REQUIRE(default_calibration_count(200, true) == 100);
  REQUIRE(default_calibration_count(200, false) == 128);
  REQUIRE(default_calibration_count(1, true) == 1);
}

TEST_CASE("evaluation takes samples that calibration has not seen, and all where there are none") {
  using Samples = std::vector<int64_t>;
  REQUIRE(for_evaluation(6, {0, 2, 4}, 10) == Samples{1, 3, 5});
  REQUIRE(for_evaluation(6, {0, 2, 4}, 2) == Samples{1, 3});
  REQUIRE(for_evaluation(3, {0, 1, 2}, 2) == Samples{0, 1});
  REQUIRE(for_evaluation(2, {7, 9}, 2) == Samples{0, 1});
}
