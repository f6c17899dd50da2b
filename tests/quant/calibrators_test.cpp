// SPDX-License-Identifier: Apache-2.0
// The expected numbers came out of ONNX Runtime 1.21's own calibrators on the same data.
#include "core/quant/calibrators.h"

#include <cmath>

#include "core/base/error.h"
#include "tests/catch.h"

using namespace tersor;
using namespace tersor::quant;

namespace {

/// 4096 values without a transcendental function, so that any language makes the same.
std::vector<float> heavy_tails(uint32_t seed) {
  std::vector<float> values;
  uint32_t state = seed;
  for (int i = 0; i < 4096; ++i) {
    state = 1664525u * state + 1013904223u;
    const double u = state / 4294967296.0 - 0.5;
    values.push_back(static_cast<float>(u / (0.52 - std::fabs(u))));
  }
  return values;
}

std::vector<float> data_a() {
  return heavy_tails(1);
}

std::vector<float> data_b() {
  std::vector<float> values = heavy_tails(2);
  for (float& x : values) x = 1.25f * x + 0.5f;
  return values;
}

std::vector<float> positive_a() {
  std::vector<float> values = data_a();
  for (float& x : values) x = std::max(x, 0.0f);
  return values;
}

using Chunks = std::vector<std::vector<float>>;

CalibrationHistogram collected(size_t bins, const Chunks& chunks, bool absolute = false) {
  CalibrationHistogram histogram(bins);
  for (const auto& chunk : chunks) absolute ? histogram.collect_absolute(chunk) : histogram.collect(chunk);
  return histogram;
}

void require_range(const Range& range, double low, double high) {
  REQUIRE(static_cast<float>(range.low) == static_cast<float>(low));
  REQUIRE(static_cast<float>(range.high) == static_cast<float>(high));
}

}  // namespace

TEST_CASE("the data are those the numbers were made with") {
  const auto a = data_a(), b = data_b();
  REQUIRE(a[0] == -1.027642011642456f);
  REQUIRE(a[3] == 0.6501821279525757f);
  REQUIRE(b[0] == -0.7807281017303467f);
  REQUIRE(b[3] == 1.5872856378555298f);
}

TEST_CASE("Entropy gives ONNX Runtime's ranges to the last digit") {
  const Chunks a{data_a()}, a_then_b{data_a(), data_b()}, b_then_a{data_b(), data_a()}, positive{positive_a()};
  const auto range = [](size_t bins, const Chunks& chunks, int groups) {
    return entropy_range(collected(bins, chunks), groups);
  };
  require_range(range(128, a, 128), -24.97989845275879, 24.99440574645996);
  require_range(range(2048, a, 128), -22.407094955444336, 22.431501388549805);
  require_range(range(2048, a, 256), -22.3338680267334, 22.358278274536133);
  require_range(range(128, a_then_b, 128), -24.99440574645996, 25.384944915771484);
  require_range(range(2048, a_then_b, 128), -24.99440574645996, 25.018815994262695);
  require_range(range(2048, a_then_b, 256), -28.24074935913086, 28.26515769958496);
  require_range(range(2048, b_then_a, 128), -25.77657127380371, 25.807477951049805);
  require_range(range(128, positive, 128), 0, 24.99440574645996);
  require_range(range(512, positive, 128), 0, 18.84343910217285);
  require_range(range(2048, positive, 128), 0, 15.645914077758789);
  require_range(range(2048, positive, 256), 0, 16.012041091918945);
  REQUIRE_THROWS_AS(range(64, a, 128), Error);
}

TEST_CASE("Percentile gives ONNX Runtime's ranges to the last digit") {
  const Chunks a{data_a()}, a_then_b{data_a(), data_b()}, b_then_a{data_b(), data_a()}, positive{positive_a()};
  const auto range = [](const Chunks& chunks, double percentile, bool symmetric) {
    return percentile_range(collected(2048, chunks, symmetric), percentile, symmetric);
  };
  require_range(range(a, 99.999, true), -24.97989845275879, 24.982200622558594);
  require_range(range(a, 99, true), -20.53986358642578, 20.53986358642578);
  require_range(range(a, 99.999, false), -24.97989845275879, 24.969995498657227);
  require_range(range(a, 99, false), -21.162256240844727, 19.258386611938477);
  require_range(range(a_then_b, 99, true), -22.78544044494629, 22.78544044494629);
  require_range(range(a_then_b, 99, false), -23.163761138916016, 22.11419105529785);
  require_range(range(b_then_a, 99, false), -23.180370330810547, 22.09861946105957);
  require_range(range(positive, 99, true), 0, 15.792364120483398);
  require_range(range(positive, 99, false), 0, 19.258386611938477);
  REQUIRE_THROWS_AS(range(a, 101, true), Error);
}

TEST_CASE("bins grow when a later chunk reaches further, and lose nothing") {
  const CalibrationHistogram first = collected(2048, {data_a()}, true);
  REQUIRE(first.edges().front() == 0.00015263885143212974f);
  const CalibrationHistogram both = collected(2048, {data_a(), data_b()});
  REQUIRE(both.counts().size() == 2594);
  REQUIRE(both.edges().back() == 31.6579532623291f);
  const CalibrationHistogram absolute = collected(2048, {data_a(), data_b()}, true);
  REQUIRE(absolute.counts().size() == 2594);
  REQUIRE(absolute.edges().back() == 31.658403396606445f);
  REQUIRE(collected(2048, {data_b(), data_a()}).edges().back() == 31.6489315032959f);
  REQUIRE(collected(128, {data_a(), data_b()}).edges().back() == 32.02408218383789f);
  int64_t counted = 0;
  for (const int64_t count : both.counts()) counted += count;
  REQUIRE(counted == 8192);
  // Zeros first: the range is set by what follows, and they are kept.
  const CalibrationHistogram late = collected(16, {{0, 0, 0}, {-1, 1}});
  counted = 0;
  for (const int64_t count : late.counts()) counted += count;
  REQUIRE(counted == 5);
  REQUIRE(late.edges().back() == 1.0f);
}

TEST_CASE("Distribution compares deviations with those of float8") {
  const Deviation plain = deviation_of(collected(2048, {data_a()}));
  double sum = 0, squares = 0;
  for (const float x : data_a()) sum += x, squares += static_cast<double>(x) * x;
  REQUIRE(plain.mean == Approx(sum / 4096).margin(0.02));
  REQUIRE(plain.deviation == Approx(std::sqrt(squares / 4096 - sum / 4096 * sum / 4096)).epsilon(1e-3));
  double roots = 0;
  for (const float x : data_a()) roots += std::cbrt(x) * std::cbrt(x);
  const Deviation cube = deviation_of(collected(2048, {data_a()}), true);
  REQUIRE(cube.deviation == Approx(std::sqrt(roots / 4096 - cube.mean * cube.mean)).epsilon(1e-3));
  // numpy.std of the 254 finite values of e4m3fn.
  REQUIRE(distribution_scale(100.05756) == Approx(1).epsilon(1e-5));
  REQUIRE(distribution_threshold(1) == Approx(4.47742).epsilon(1e-5));
}

TEST_CASE("the moving average is the mean of samples, and slow between chunks") {
  MovingAverageMinMax average;
  const std::vector<Range> first{{-1, 1}, {-3, 5}}, second{{-12, 3}};
  average.collect(first);
  REQUIRE(average.range() == Range{-2, 3});
  average.collect(second);
  REQUIRE(average.range().low == Approx(-2.1));
  REQUIRE(average.range().high == Approx(3));
}
