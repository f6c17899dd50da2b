// SPDX-License-Identifier: Apache-2.0
#include "core/framework/batch_range.h"

#include <limits>
#include <vector>

#include "core/base/error.h"
#include "tests/catch.h"

using namespace tersor;
using namespace tersor::framework;
using Batch = std::vector<double>;

TEST_CASE("quantizers start where TFMOT's do") {
  REQUIRE(BatchRange(LastValueQuantizer()).range() == quant::Range{-6, 6});
  REQUIRE(BatchRange(MovingAverageQuantizer()).range() == quant::Range{-6, 6});
  REQUIRE(BatchRange(AllValuesQuantizer()).range() == quant::Range{0, 0});
  REQUIRE(BatchRange(FixedQuantizer(-1, 2)).range() == quant::Range{-1, 2});
}

TEST_CASE("ranges follow the batches, and hold 0") {
  BatchRange last(LastValueQuantizer()), average(MovingAverageQuantizer()), all(AllValuesQuantizer());
  for (BatchRange* range : {&last, &average, &all}) range->see(Batch{2, 1, 3}), range->see(Batch{-1, 0.5});
  REQUIRE(last.range() == quant::Range{-1, 0.5});
  REQUIRE(all.range() == quant::Range{-1, 3});
  REQUIRE(average.range().low == Approx((-6 * 0.999) * 0.999 - 0.001));
  REQUIRE(average.range().high == Approx((6 * 0.999 + 0.003) * 0.999 + 0.0005));
}

TEST_CASE("a moving average of equal batches comes to their shaped extremes") {
  BatchRange range(MovingAverageQuantizer(4, false, true, false));
  for (int k = 0; k < 30000; ++k) range.see(Batch{-1, 0.5});
  REQUIRE(range.range().low == Approx(-1));
  REQUIRE(range.range().high == Approx(14.0 / 16));
}

TEST_CASE("a fixed range stays") {
  BatchRange range(FixedQuantizer(-1, 2));
  range.see(Batch{100});
  REQUIRE(range.range() == quant::Range{-1, 2});
}

TEST_CASE("batches without values or with other than numbers are refused") {
  BatchRange range{MovingAverageQuantizer()};
  REQUIRE_THROWS_AS(range.see({}), Error);
  REQUIRE_THROWS_AS(range.see(Batch{1, std::numeric_limits<double>::quiet_NaN()}), Error);
  REQUIRE(range.range() == quant::Range{-6, 6});
  REQUIRE_THROWS_AS(BatchRange(LastValueQuantizer(), {1, 0}), Error);
  LayerQuantizer fixed;
  fixed.source = RangeSource::kFixed;
  REQUIRE_THROWS_AS(BatchRange(fixed), Error);
}
