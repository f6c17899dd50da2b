// SPDX-License-Identifier: Apache-2.0
#include "core/trainable/lsq.h"

#include <cmath>
#include <limits>
#include <vector>

#include "core/base/error.h"
#include "core/tensor/rounding.h"
#include "tests/catch.h"

using namespace tersor;
using namespace tersor::trainable;
using quant::IntegerGrid;
using Values = std::vector<double>;

namespace {

constexpr IntegerGrid kSigned{3, true, false}, kUnsigned{3, false, false};

}  // namespace

TEST_CASE("the output is the symmetric quantizer's") {
  const LsqQuantizer quantizer(1, kSigned, 1);
  REQUIRE(quantizer.delta() == 0.25);
  REQUIRE(quantizer(0.37) == 0.25);
  REQUIRE(quantizer(0.375) == 0.5);  // half-way, to even
  REQUIRE(quantizer(7) == 0.75);
  REQUIRE(quantizer(-7) == -1);
  REQUIRE(LsqQuantizer(1, kUnsigned, 1).delta() == 0.125);
  REQUIRE(LsqQuantizer(1, kUnsigned, 1)(7) == 0.875);
}

TEST_CASE("beyond the range the threshold's slope is that of the output") {
  constexpr double kSmall = 1e-6;
  for (const IntegerGrid& grid : {kSigned, kUnsigned})
    for (const double x : {9.0, 1.3, -1.3, -9.0}) {
      const LsqQuantizer more(1 + kSmall, grid, 1), less(1 - kSmall, grid, 1), quantizer(1, grid, 1);
      const LsqQuantizer::Slopes slopes = quantizer.slopes(x);
      REQUIRE(slopes.by_threshold == Approx((more(x) - less(x)) / (2 * kSmall)).margin(1e-9));
      REQUIRE(slopes.by_x == 0);
    }
}

TEST_CASE("within the range slopes are those of the output whose rounding is held") {
  // y = delta * (x / delta + what rounding added there)
  constexpr double kSmall = 1e-6;
  for (const double x : {0.37, -0.9, 0.1, 0.8}) {
    const LsqQuantizer quantizer(1, kSigned, 1);
    const double added = round_half_even(x / quantizer.delta()) - x / quantizer.delta();
    const auto held = [&](double threshold, double at) { return at + threshold / 4 * added; };
    const LsqQuantizer::Slopes slopes = quantizer.slopes(x);
    REQUIRE(slopes.by_threshold == Approx((held(1 + kSmall, x) - held(1 - kSmall, x)) / (2 * kSmall)).margin(1e-9));
    REQUIRE(slopes.by_delta == Approx(4 * slopes.by_threshold));
    REQUIRE(slopes.by_x == Approx((held(1, x + kSmall) - held(1, x - kSmall)) / (2 * kSmall)));
  }
}

TEST_CASE("gradients of a loss are weighted and summed") {
  const LsqQuantizer quantizer(1, kSigned, 0.5);
  const Values x{0.37, 9}, by_output{2, -1};
  const LsqQuantizer::Gradient gradient = quantizer.gradient(x, by_output);
  REQUIRE(gradient.by_x == Values{2, 0});
  REQUIRE(gradient.by_threshold == Approx(2 * quantizer.slopes(0.37).by_threshold - quantizer.slopes(9).by_threshold));
  REQUIRE(lsq_gradient_scale(kSigned, 12) == Approx(1.0 / 6));
}

TEST_CASE("a threshold learned by its gradient comes to where the error is least") {
  // Values spread evenly to 1, of which a range wider by half makes more error.
  Values x;
  for (int k = -500; k <= 500; ++k) x.push_back(0.002 * k);
  const auto error = [&](double threshold) {
    double sum = 0;
    const LsqQuantizer quantizer(threshold, {4, true, false}, 1);
    for (const double one : x) sum += (quantizer(one) - one) * (quantizer(one) - one);
    return sum;
  };
  double threshold = 1.5;
  for (int step = 0; step < 400; ++step) {
    const LsqQuantizer quantizer(threshold, {4, true, false}, 1);
    Values by_output;
    for (const double one : x) by_output.push_back(2 * (quantizer(one) - one));
    threshold -= 0.02 * quantizer.gradient(x, by_output).by_threshold;
  }
  REQUIRE(error(threshold) < 0.6 * error(1.5));
}

TEST_CASE("what has no gradient is refused") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  REQUIRE_THROWS_AS(LsqQuantizer(0, kSigned, 1), Error);
  REQUIRE_THROWS_AS(LsqQuantizer(nan, kSigned, 1), Error);
  REQUIRE_THROWS_AS(LsqQuantizer(1, kSigned, 0), Error);
  REQUIRE_THROWS_AS(LsqQuantizer(1, {1, true, false}, 1), Error);
  REQUIRE_THROWS_AS(LsqQuantizer(1, kSigned, 1).gradient(Values{1}, {}), Error);
  REQUIRE_THROWS_AS(LsqQuantizer(1, kSigned, 1).gradient(Values{nan}, Values{1}), Error);
  REQUIRE_THROWS_AS(lsq_gradient_scale(kSigned, 0), Error);
}
