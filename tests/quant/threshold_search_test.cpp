// SPDX-License-Identifier: Apache-2.0
#include "core/quant/threshold_search.h"

#include <cmath>
#include <random>

#include "core/base/digest.h"
#include "core/base/error.h"
#include "core/quant/error_functions.h"
#include "core/quant/quantizer.h"
#include "tests/catch.h"

using namespace tersor;
using namespace tersor::quant;

namespace {

constexpr IntegerGrid kUint8{8, false, false};
constexpr IntegerGrid kInt8Narrow{8, true, true};
const Criterion kNoClipping{ThresholdSelectionMethod::kNoClipping};

Range activation_range(const Histogram& histogram, QuantizationMethod method, const IntegerGrid& grid,
                       const Criterion& criterion) {
  return select_activation_range(histogram, method, grid, criterion).range;
}

QuantizationParams weight_params(const Tensor& weights, QuantizationMethod method, const IntegerGrid& grid,
                                 std::optional<int> axis, const Criterion& criterion) {
  return choose_weight_params(weights, method, grid, axis, criterion).params;
}

/// Sums of twelve evenly spread numbers: close to a bell, with a few far values.
std::vector<float> bell(uint32_t seed, size_t count, float far) {
  std::mt19937 random(seed);
  std::vector<float> values;
  for (size_t i = 0; i < count; ++i) {
    double sum = -6;
    for (int k = 0; k < 12; ++k) sum += (random() % 65536) / 65536.0;
    values.push_back(static_cast<float>(sum) * (i % 997 == 0 ? far : 1.0f));
  }
  return values;
}

/// The mean error by plain loops, not by the code under test.
double plain_error(const std::vector<double>& values, const std::vector<double>& weights, const Step& step,
                   const IntegerGrid& grid, int p) {
  double sum = 0, total = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    double least = HUGE_VAL;
    for (int32_t q = grid.q_min(); q <= grid.q_max(); ++q)
      least = std::min(least, std::fabs(values[i] - (q - step.zero_point) * step.scale));
    sum += weights[i] * std::pow(least, p);
    total += weights[i];
  }
  return sum / total;
}

}  // namespace

TEST_CASE("the error of a histogram is that of its bin centres, however it is computed") {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    const int p = 1 + static_cast<int>(random() % 5);
    const IntegerGrid grid{2 + static_cast<int>(random() % 7), random() % 2 == 0, false};
    Histogram histogram;
    std::vector<float> values = bell(static_cast<uint32_t>(round + 1), 400, 2.0f);
    for (int k = 0; k < 100; ++k) values.push_back(0.0f);
    histogram.add(values);
    const bool uniform = random() % 2 == 0;
    const double high = 0.05 + (random() % 1000) / 300.0, low = -0.05 - (random() % 1000) / 300.0;
    const QuantizationMethod method = uniform ? QuantizationMethod::kUniform : QuantizationMethod::kSymmetric;
    const Range range = uniform ? Range{low, high} : Range{grid.is_signed ? -high : 0, high};
    const Step step = quantizer_of(method).step_of(range, grid);
    std::vector<double> centres, weights;
    for (size_t i = 0; i < histogram.counts().size(); ++i) {
      centres.push_back(histogram.center(i));
      const bool holds_zero = histogram.lower(i) == 0;
      weights.push_back(static_cast<double>(histogram.counts()[i] - (holds_zero ? histogram.zeros() : 0)));
    }
    centres.push_back(0);
    weights.push_back(static_cast<double>(histogram.zeros()));
    const double expected = plain_error(centres, weights, step, grid, p);
    INFO("p " << p << ", " << grid.n_bits << " bits, " << range.low << " to " << range.high);
    REQUIRE(BinnedValues(bins_of(histogram), p).error(step, grid) == Approx(expected).epsilon(1e-6));
    REQUIRE(mean_error(centres, step, grid, p) ==
            Approx(plain_error(centres, std::vector<double>(centres.size(), 1.0), step, grid, p)).epsilon(1e-9));
  }
}

TEST_CASE("an error search is never worse than the extremes, and clips far values") {
  for (const QuantizationMethod method : acting_methods())
    for (const int n_bits : {3, 4, 8})
      for (const bool is_signed : {true, false}) {
        const IntegerGrid grid{n_bits, is_signed, false};
        Histogram histogram;
        histogram.add(bell(9, 20000, 12.0f));
        const Range covering = activation_range(histogram, method, grid, kNoClipping);
        const Range found = activation_range(histogram, method, grid, Criterion{});
        const Quantizer& quantizer = quantizer_of(method);
        const BinnedValues values(bins_of(histogram), 2);
        INFO(enum_word(method) << " " << n_bits << " bits, signed " << is_signed);
        REQUIRE(values.error(quantizer.step_of(found, grid), grid) <=
                values.error(quantizer.step_of(covering, grid), grid));
        if (n_bits <= 4) REQUIRE(found.high < 0.7 * covering.high);
      }
}

TEST_CASE("a search over all thresholds finds nothing better") {
  for (const int n_bits : {2, 4, 6, 8}) {
    const IntegerGrid grid{n_bits, true, false};
    Histogram histogram;
    histogram.add(bell(21, 30000, 6.0f));
    const Quantizer& symmetric = quantizer_of(QuantizationMethod::kSymmetric);
    const BinnedValues values(bins_of(histogram), 2);
    const Range found = activation_range(histogram, QuantizationMethod::kSymmetric, grid, Criterion{});
    const double error = values.error(symmetric.step_of(found, grid), grid);
    double least = HUGE_VAL;
    for (double t = 0.02; t < 40; t *= 1.0005)
      least = std::min(least, values.error({std::ldexp(t, 1 - n_bits), 0}, grid));
    INFO(n_bits << " bits");
    REQUIRE(error <= least * 1.0005);
  }
}

TEST_CASE("symmetric weights by their extremes have the scale absmax / 127") {
  const Tensor weights = Tensor::of<float>({3, 2}, {0.5f, -1.27f, 1e-3f, 2e-3f, 0.0f, 0.0f});
  const QuantizationParams params = weight_params(weights, QuantizationMethod::kSymmetric, kInt8Narrow, 0, kNoClipping);
  REQUIRE(params.scale[0] == static_cast<float>(static_cast<double>(1.27f) / 127));
  REQUIRE(params.scale[1] == static_cast<float>(static_cast<double>(2e-3f) / 127));
  // A channel of zeros: the least threshold.
  REQUIRE(params.scale[2] == static_cast<float>(Criterion{}.min_threshold / 127));
  REQUIRE(quantize(weights, params) == Tensor::of<int8_t>({3, 2}, {50, -127, 64, 127, 0, 0}));
  const QuantizationParams whole =
      weight_params(weights, QuantizationMethod::kSymmetric, kInt8Narrow, std::nullopt, kNoClipping);
  REQUIRE(whole.scale.size() == 1);
  REQUIRE(whole.scale[0] == params.scale[0]);
}

TEST_CASE("the channel axis may be any axis") {
  const Tensor rows = Tensor::of<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor columns = Tensor::of<float>({3, 2}, {1, 4, 2, 5, 3, 6});
  for (const auto method : {ThresholdSelectionMethod::kNoClipping, ThresholdSelectionMethod::kMse}) {
    const Criterion criterion{method};
    REQUIRE(weight_params(rows, QuantizationMethod::kSymmetric, kInt8Narrow, 0, criterion).scale ==
            weight_params(columns, QuantizationMethod::kSymmetric, kInt8Narrow, 1, criterion).scale);
  }
  REQUIRE_THROWS_AS(weight_params(rows, QuantizationMethod::kSymmetric, kInt8Narrow, 2, kNoClipping), Error);
}

TEST_CASE("weights by their extremes are never clipped") {
  for (const QuantizationMethod method : acting_methods())
    for (const bool narrow : {true, false}) {
      const std::vector<float> values = bell(4, 64, 3.0f);
      const Tensor weights = Tensor::of<float>({8, 8}, std::span<const float>(values));
      const QuantizationParams params = weight_params(weights, method, {8, true, narrow}, 0, kNoClipping);
      const Tensor result = fake_quantize(weights, params);
      const auto back = result.data<float>();
      for (size_t i = 0; i < values.size(); ++i)
        REQUIRE(std::fabs(back[i] - values[i]) <= 0.5001 * params.scale[i / 8]);
    }
}

TEST_CASE("the threshold scales with the values") {
  const std::vector<float> values = bell(8, 5000, 5.0f);
  std::vector<float> eightfold;
  for (const float x : values) eightfold.push_back(8 * x);
  Histogram one, eight;
  one.add(values);
  eight.add(eightfold);
  for (const QuantizationMethod method : acting_methods()) {
    const Range small = activation_range(one, method, kUint8, Criterion{});
    const Range large = activation_range(eight, method, kUint8, Criterion{});
    REQUIRE(large.high == 8 * small.high);
    REQUIRE(large.low == 8 * small.low);
  }
}

TEST_CASE("nothing seen, zeros only, and tiny ranges have usable parameters") {
  for (const QuantizationMethod method : acting_methods()) {
    REQUIRE(activation_range(Histogram(), method, kUint8, Criterion{}) == Range{0, 0});
    Histogram zeros, tiny;
    zeros.add(std::vector<float>(10, 0.0f));
    REQUIRE(activation_range(zeros, method, kUint8, Criterion{}) == Range{0, 0});
    tiny.add(std::vector<float>{0.0f, 1e-30f});
    const Range range = activation_range(tiny, method, kUint8, Criterion{});
    REQUIRE(params_of_ranges(method, kUint8, std::span(&range, 1)).scale[0] > 1e-26f);
  }
}

TEST_CASE("a method that does not fit what it is asked for is refused by name") {
  Histogram histogram;
  histogram.add(std::vector<float>{1.0f, 2.0f});
  REQUIRE_THROWS_WITH(
      select_activation_range(histogram, QuantizationMethod::kUniform, kUint8, {ThresholdSelectionMethod::kHmse}),
      Catch::Contains("HMSE chooses ranges of weights"));
  REQUIRE_THROWS_WITH(select_activation_range(histogram, QuantizationMethod::kLutSymQuantizer, kUint8, Criterion{}),
                      Catch::Contains("LUT_SYM_QUANTIZER"));
  const std::vector<double> row{1, 2};
  REQUIRE_THROWS_WITH(select_weight_range(row, QuantizationMethod::kSymmetric, kInt8Narrow, true,
                                          {ThresholdSelectionMethod::kPercentile}),
                      Catch::Contains("chooses ranges of activations"));
  REQUIRE_THROWS_WITH(
      select_weight_range(row, QuantizationMethod::kSymmetric, kInt8Narrow, true, {ThresholdSelectionMethod::kHmse}),
      Catch::Contains("importance"));
}

TEST_CASE("a weight that is not finite is refused") {
  REQUIRE_THROWS_AS(weight_params(Tensor::of<float>({2}, {1.0f, NAN}), QuantizationMethod::kSymmetric, kInt8Narrow,
                                  std::nullopt, kNoClipping),
                    Error);
}

TEST_CASE("every target chooses the same ranges to the last bit") {
  // The digest changes with the search itself; what must hold is that all builds agree on it.
  Sha256 hash;
  const auto take = [&hash](const Range& range) {
    hash.update(std::as_bytes(std::span<const double>(&range.low, 1)));
    hash.update(std::as_bytes(std::span<const double>(&range.high, 1)));
  };
  Histogram histogram;
  histogram.add(bell(77, 20000, 9.0f));
  std::vector<double> row;
  for (const float x : bell(78, 300, 4.0f)) row.push_back(static_cast<double>(x));
  for (const QuantizationMethod method : acting_methods())
    for (const ThresholdSelectionMethod by : weight_selection_methods())
      for (const int n_bits : {4, 8, 12}) {
        const bool is_signed = method != QuantizationMethod::kUniform;
        take(activation_range(histogram, method, {n_bits, is_signed, false}, {by, 3}));
        take(select_weight_range(row, method, {n_bits, true, true}, true, {by, 3}));
      }
  REQUIRE(hash.hex() == "2700e50178dbcba8fc2fa8e9ac9a096d675853e5bdbe1a715d45ad218b3f6689");
}

TEST_CASE("the expected ratio of signal to noise is that of the values") {
  const std::vector<float> values = bell(41, 50000, 3.0f);
  Histogram histogram;
  histogram.add(values);
  for (const QuantizationMethod method : acting_methods())
    for (const int n_bits : {3, 6, 8}) {
      const IntegerGrid grid{n_bits, method != QuantizationMethod::kUniform, false};
      const RangeSelection found = select_activation_range(histogram, method, grid, Criterion{});
      const Tensor x = Tensor::of<float>({50000}, std::span<const float>(values));
      const Tensor result = fake_quantize(x, params_of_ranges(method, grid, std::span(&found.range, 1)));
      const auto back = result.data<float>();
      double signal = 0, noise = 0;
      for (size_t i = 0; i < values.size(); ++i)
        signal += static_cast<double>(values[i]) * values[i],
            noise += (static_cast<double>(values[i]) - back[i]) * (static_cast<double>(values[i]) - back[i]);
      REQUIRE(found.expected_sqnr_db == Approx(10 * std::log10(signal / noise)).margin(0.1));
      const WeightSelection weights = choose_weight_params(x, method, {n_bits, true, false}, std::nullopt, Criterion{});
      REQUIRE(weights.expected_sqnr_db == Approx(found.expected_sqnr_db).margin(0.5));
    }
}

TEST_CASE("a method that meets values it is not made for says so") {
  // One huge value among many small ones: the extremes leave the small ones nothing, a filter loses the huge one.
  std::vector<float> values = bell(43, 5000, 1.0f);
  values.push_back(1e5f);
  Histogram histogram;
  histogram.add(values);
  Criterion filtered;
  filtered.z_threshold = 6;
  const RangeSelection found = select_activation_range(histogram, QuantizationMethod::kUniform, kUint8, filtered);
  REQUIRE(found.range.high < 100);
  REQUIRE(found.expected_sqnr_db < 1);
}

TEST_CASE("z_threshold leaves out what is far, and nothing when it would leave out all") {
  Histogram histogram;
  histogram.add(bell(9, 20000, 12.0f));
  Criterion criterion{ThresholdSelectionMethod::kNoClipping};
  const double all = activation_range(histogram, QuantizationMethod::kSymmetric, kUint8, criterion).high;
  criterion.z_threshold = 5;
  const double kept = activation_range(histogram, QuantizationMethod::kSymmetric, kUint8, criterion).high;
  REQUIRE(kept < 0.6 * all);
  REQUIRE(kept > 2);
  criterion.z_threshold = 1e-9;
  REQUIRE(activation_range(histogram, QuantizationMethod::kSymmetric, kUint8, criterion).high == all);
}

TEST_CASE("limits cut what a search adds, never below the least range") {
  Histogram histogram;
  histogram.add(bell(9, 20000, 1.0f));
  const Range limits{-1, 0.5};
  const IntegerGrid int8{8, true, false};
  const auto selected = [&](QuantizationMethod method, const IntegerGrid& grid, const Range& within) {
    return select_activation_range(histogram, method, grid, kNoClipping, within).range;
  };
  REQUIRE(selected(QuantizationMethod::kUniform, kUint8, limits) == limits);
  REQUIRE(selected(QuantizationMethod::kSymmetric, int8, {-0.5, 1}) == Range{-1, 1});
  // A threshold may not be cut by the smaller side, a power of two not at all.
  REQUIRE(selected(QuantizationMethod::kSymmetric, int8, limits).high > 2);
  REQUIRE(selected(QuantizationMethod::kPowerOfTwo, int8, {-1, 1}).high >= 2);
  Histogram tiny;
  tiny.add(std::vector<float>{-1e-30f, 0.0f, 1e-30f});
  for (const ThresholdSelectionMethod by : activation_selection_methods()) {
    const Range range =
        select_activation_range(tiny, QuantizationMethod::kUniform, kUint8, {by}, {-1e-30, 1e-30}).range;
    INFO(enum_word(by) << ": " << range.low << " to " << range.high);
    REQUIRE(range.high - range.low >= 2e-23);
    REQUIRE(select_activation_range(tiny, QuantizationMethod::kSymmetric, int8, {by}, {-1e-30, 1e-30}).range.high >=
            Criterion{}.min_threshold);
  }
}

TEST_CASE("every selection method gives a usable range for every quantizer, width and sign") {
  Histogram both, positive;
  std::vector<float> values = bell(51, 20000, 2.0f);
  both.add(values);
  for (float& x : values) x = std::max(x, 0.0f);
  positive.add(values);
  for (const ThresholdSelectionMethod by : activation_selection_methods())
    for (const QuantizationMethod method : acting_methods())
      for (int n_bits = 2; n_bits <= 16; ++n_bits)
        for (const Histogram* histogram : {&both, &positive}) {
          const IntegerGrid grid{n_bits, method != QuantizationMethod::kUniform && histogram == &both, false};
          const RangeSelection found = select_activation_range(*histogram, method, grid, {by, 4});
          INFO(enum_word(by) << " " << enum_word(method) << " " << n_bits << " bits: " << found.range.low << " to "
                             << found.range.high << ", " << found.expected_sqnr_db << " dB");
          // Two bits cannot keep more than a little; each further one adds 6 dB until clipping takes over.
          REQUIRE(found.expected_sqnr_db > (n_bits < 4 ? -4 : n_bits < 7 ? 6 : 16));
        }
}

TEST_CASE("HMSE weighs each weight's error") {
  // Rounding the large weights costs nothing where only the small ones count, so the threshold falls.
  const std::vector<double> row{-1.9, -0.4, 0.05, 0.3};
  const IntegerGrid int3{3, true, false};
  const Criterion criterion{ThresholdSelectionMethod::kHmse};
  const auto threshold = [&](std::vector<double> importance) {
    return select_weight_range(row, QuantizationMethod::kPowerOfTwo, int3, true, criterion, importance).high;
  };
  REQUIRE(threshold({1, 1, 1, 1}) == 2);
  REQUIRE(threshold({1e-4, 1, 1, 1}) == 0.5);
  const Tensor weights = Tensor::of<float>({2, 2}, {-1.9f, -0.4f, 0.05f, 0.3f});
  const Tensor importance = Tensor::of<float>({2, 2}, {1e-4f, 1, 1, 1});
  REQUIRE(choose_weight_params(weights, QuantizationMethod::kPowerOfTwo, int3, std::nullopt, criterion, &importance)
              .params.range[0]
              .high == 0.5);
  const Tensor other = Tensor::of<float>({4}, {1, 1, 1, 1});
  REQUIRE_THROWS_AS(
      choose_weight_params(weights, QuantizationMethod::kPowerOfTwo, int3, std::nullopt, criterion, &other), Error);
}

TEST_CASE("more bits never lose where KL chooses the range of weights") {
  std::vector<double> row;
  for (const float x : bell(79, 4000, 4.0f)) row.push_back(static_cast<double>(x));
  for (const QuantizationMethod method :
       {QuantizationMethod::kUniform, QuantizationMethod::kSymmetric, QuantizationMethod::kPowerOfTwo}) {
    double before = HUGE_VAL;
    for (const int n_bits : {7, 8, 9, 10, 11, 12, 16}) {
      const IntegerGrid grid{n_bits, true, false};
      const Range range = select_weight_range(row, method, grid, true, {ThresholdSelectionMethod::kKl});
      const QuantizationParams params = params_of_ranges(method, grid, std::span(&range, 1));
      double error = 0;
      for (const double x : row) {
        const float value = static_cast<float>(x);
        error += std::pow(fake_quantize(Tensor::of<float>(Shape{1}, {value}), params).data<float>()[0] - value, 2);
      }
      INFO(n_bits);
      REQUIRE(error <= before * 1.01);
      before = error;
    }
  }
}
