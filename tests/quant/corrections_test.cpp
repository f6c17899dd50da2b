// SPDX-License-Identifier: Apache-2.0
// The formulas' numbers are checked by the cases of the vectors tool; here is what must hold for any numbers.
#include "core/quant/corrections.h"

#include <cmath>

#include "tests/catch.h"

using namespace tersor::quant;

TEST_CASE("a bias correction follows the layout of the kernel") {
  // Two outputs of two inputs, then the same kernel with its axes exchanged.
  const std::vector<double> w{1, 2, 3, 4}, q{1.5, 2, 3, 3}, means{2, 10};
  REQUIRE(weights_bias_correction({w, {2, 2}, 0, 1}, q, means) == std::vector<double>{1, -10});
  REQUIRE(weights_bias_correction({w, {2, 2}, 1, 0}, q, means) == std::vector<double>{1, -10});
  // One input each, two groups: the second output reads the second mean.
  REQUIRE(weights_bias_correction({std::span(w).first(2), {2, 1}, 0, 1}, std::vector<double>{2.0, 1.0}, means) ==
          std::vector<double>{2, -10});
  REQUIRE(weights_bias_correction({w, {2, 2}, 0, 1}, q, std::vector<double>{1, 2, 3}) == std::vector<double>{0, 0});
}

TEST_CASE("moments after a Relu are those of many values") {
  for (const double mean : {-3.0, -0.5, 0.0, 0.7, 4.0})
    for (const double deviation : {0.3, 1.0, 2.5}) {
      double sum = 0, squares = 0, weights = 0;
      for (double z = -9; z < 9; z += 1e-3) {
        const double weight = std::exp(-z * z / 2), x = std::max(mean + deviation * z, 0.0);
        weights += weight, sum += weight * x, squares += weight * x * x;
      }
      const RectifiedMoments moments = rectified_moments(mean, deviation);
      INFO(mean << " " << deviation);
      REQUIRE(moments.mean == Approx(sum / weights).epsilon(1e-6).margin(1e-9));
      REQUIRE(moments.second == Approx(squares / weights).epsilon(1e-6).margin(1e-9));
    }
  REQUIRE(equalization_scale(1, 0) == 1);
  REQUIRE(equalization_scale(-1.6e-3, 2.1e-4) == 1);  // nothing is left of it
  REQUIRE(equalization_scale(0, 1e6) == Approx(1 / 583819.37).epsilon(1e-5));
}

TEST_CASE("a shift makes an activation positive, by whole steps") {
  const auto shift = negative_shift(-0.278, 4, 8, 0.25);
  REQUIRE(shift->shift == 0.28125);
  REQUIRE_FALSE(negative_shift(0, 4, 8, 0.25));
  REQUIRE_FALSE(negative_shift(-2, 4, 8, 0.25));
  // Where no point is high enough the first one stays.
  REQUIRE(negative_shift(-0.99, 1, 2, 1)->shift == 0);
}

TEST_CASE("zeros have no error, and count in the mean error of an activation") {
  const std::vector<double> weights{1, 2};
  const KernelView kernel{weights, {1, 2}, 0, 1};
  EvenBins bins;
  bins.first = 0.2, bins.width = 0.1, bins.counts = {10};
  const Step step{1, 0};  // 0.2 and 0.3 become 0
  REQUIRE((*activation_bias_correction(bins, step, {8, false, false}, kernel, 0))[0] == Approx(-0.75));
  bins.zeros = 30;
  REQUIRE((*activation_bias_correction(bins, step, {8, false, false}, kernel, 0))[0] == Approx(-0.1875));
}
