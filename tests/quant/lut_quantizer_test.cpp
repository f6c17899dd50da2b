// SPDX-License-Identifier: Apache-2.0
#include "core/quant/lut_quantizer.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

#include "core/base/error.h"
#include "core/quant/error_functions.h"
#include "tests/catch.h"

using namespace tersor;
using namespace tersor::quant;

namespace {

double table_error(const std::vector<int32_t>& table, const std::vector<double>& places,
                   const std::vector<double>& weights) {
  double sum = 0;
  for (size_t k = 0; k < places.size(); ++k) {
    const double error = places[k] - table[nearest_entry(table, places[k])];
    sum += weights[k] * error * error;
  }
  return sum;
}

/// By trying every table.
double least_by_trying(const std::vector<double>& places, const std::vector<double>& weights, const LutValues& values,
                       int size, bool with_zero) {
  double least = HUGE_VAL;
  std::vector<int32_t> table;
  const std::function<void(int32_t)> extend = [&](int32_t from) {
    const bool holds_zero = std::find(table.begin(), table.end(), 0) != table.end();
    if (!table.empty() && (holds_zero || !with_zero)) least = std::min(least, table_error(table, places, weights));
    if (static_cast<int>(table.size()) == size) return;
    for (int32_t next = from; next <= values.high(); ++next) {
      table.push_back(next);
      extend(next + 1);
      table.pop_back();
    }
  };
  extend(values.low());
  return least;
}

Tensor clustered(uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<float> values;
  const float centres[] = {-0.9f, -0.35f, 0.02f, 0.4f, 0.77f};
  for (int i = 0; i < 240; ++i) values.push_back(centres[random() % 5] + static_cast<float>(random() % 100) * 1e-4f);
  return Tensor::of<float>({6, 40}, std::span<const float>(values));
}

}  // namespace

TEST_CASE("no table has less error than the one that is found") {
  std::mt19937 random(17);
  for (int round = 0; round < 60; ++round) {
    const LutValues values{4, random() % 2 == 0};
    const bool with_zero = random() % 2 == 0;
    std::vector<double> places, weights;
    for (int k = 0; k < 12; ++k) {
      places.push_back(values.low() + (values.high() - values.low()) * (random() % 1001) / 1000.0);
      weights.push_back(1.0 + random() % 3);
    }
    const int size = 1 + static_cast<int>(random() % 4);
    const LutTable found = least_error_table(places, weights, values, size, with_zero);
    INFO(size << " entries, signed " << values.is_signed << ", with zero " << with_zero);
    REQUIRE(static_cast<int>(found.entries.size()) <= size);
    REQUIRE(std::is_sorted(found.entries.begin(), found.entries.end()));
    if (with_zero) REQUIRE(std::count(found.entries.begin(), found.entries.end(), 0) == 1);
    const double least = least_by_trying(places, weights, values, size, with_zero);
    REQUIRE(found.error == Approx(least).margin(1e-9));
    REQUIRE(table_error(found.entries, places, weights) == Approx(least).margin(1e-9));
  }
}

TEST_CASE("a table keeps what few bits on an even grid lose") {
  const Tensor weights = clustered(3);
  for (const auto method : {QuantizationMethod::kLutPotQuantizer, QuantizationMethod::kLutSymQuantizer})
    for (const auto axis : {std::optional<int>(), std::optional<int>(0), std::optional<int>(1)})
      for (const int n_bits : {2, 3, 4, 7}) {
        const LutSelection found = choose_lut_weight_params(weights, method, n_bits, 8, axis, Criterion{});
        const auto even = method == QuantizationMethod::kLutPotQuantizer ? QuantizationMethod::kPowerOfTwo
                                                                         : QuantizationMethod::kSymmetric;
        const WeightSelection plain =
            choose_weight_params(weights, even, {n_bits, true, false}, std::nullopt, Criterion{});
        INFO(enum_word(method) << " " << n_bits << " bits");
        REQUIRE(found.params.table.size() <= (size_t{1} << n_bits));
        REQUIRE(std::count(found.params.table.begin(), found.params.table.end(), 0) == 1);
        if (n_bits == 3) REQUIRE(found.expected_sqnr_db > plain.expected_sqnr_db + 10);
        const Tensor back = dequantize(quantize(weights, found.params), found.params);
        REQUIRE(found.expected_sqnr_db == Approx(sqnr_db(weights, back)));
        REQUIRE(dequantize(quantize(back, found.params), found.params) == back);
        if (method == QuantizationMethod::kLutPotQuantizer) {
          int exponent = 0;
          REQUIRE(std::frexp(found.params.threshold[0], &exponent) == 0.5);
        }
      }
}

TEST_CASE("wider entries lie nearer the values") {
  const Tensor weights = clustered(4);
  const auto sqnr = [&](int bits) {
    return choose_lut_weight_params(weights, QuantizationMethod::kLutSymQuantizer, 5, bits, std::nullopt, Criterion{})
        .expected_sqnr_db;
  };
  REQUIRE(sqnr(6) < sqnr(8));
  REQUIRE(sqnr(8) < sqnr(12));
}

TEST_CASE("a table of an activation, signed and not") {
  std::mt19937 random(9);
  std::vector<float> values;
  for (int i = 0; i < 20000; ++i)
    values.push_back(static_cast<float>(random() % 1000) * 1e-3f * (random() % 4 == 0 ? 3 : 0.4f));
  for (const bool is_signed : {false, true}) {
    Histogram histogram;
    histogram.add(values);
    const LutSelection found = choose_lut_activation_params(bins_of(histogram), QuantizationMethod::kLutPotQuantizer, 3,
                                                            is_signed, 8, Criterion{});
    REQUIRE(found.params.table.size() == 8);
    REQUIRE(found.params.threshold[0] == 4);
    REQUIRE(found.params.values.is_signed == is_signed);
    REQUIRE(found.expected_sqnr_db > 12);
    for (float& x : values) x = -x;
  }
}

TEST_CASE("where an activation has two heaps a table beats the uniform quantizer of as many bits") {
  std::mt19937 random(10);
  std::vector<float> values;
  for (int i = 0; i < 20000; ++i)
    values.push_back((i % 3 == 0 ? 5.0f : 0.6f) + static_cast<float>(random() % 1000) * 4e-4f);
  for (const float sign : {1.0f, -1.0f}) {
    Histogram histogram;
    for (float& x : values) x *= sign;
    histogram.add(values);
    for (const auto method : {QuantizationMethod::kLutPotQuantizer, QuantizationMethod::kLutSymQuantizer})
      for (const int bits : {2, 3, 4, 5}) {
        Criterion criterion;
        criterion.method = ThresholdSelectionMethod::kMse;
        const double table =
            choose_lut_activation_params(bins_of(histogram), method, bits, sign < 0, 8, criterion).expected_sqnr_db;
        const double even =
            select_activation_range(histogram, QuantizationMethod::kUniform, {bits, false, false}, criterion)
                .expected_sqnr_db;
        INFO(enum_word(method) << " " << bits << ": " << table << " and " << even);
        REQUIRE(table > even + 6);
      }
  }
}

TEST_CASE("each code has the code of its nearest entry") {
  const LutParams params{QuantizationMethod::kLutSymQuantizer, 2, {8, true}, std::nullopt, {-100, 0, 40}, {1}, {1}};
  const std::vector<uint8_t> codes = nearest_codes(params, 128);
  REQUIRE((codes[0] == 28 && codes[78] == 28 && codes[79] == 128 && codes[128] == 128));
  REQUIRE((codes[148] == 128 && codes[149] == 168 && codes[255] == 168));
}

TEST_CASE("what has no table is refused") {
  const Tensor weights = clustered(5);
  const auto choose = [&](QuantizationMethod method, int n_bits, int bits, std::optional<int> axis) {
    return choose_lut_weight_params(weights, method, n_bits, bits, axis, Criterion{});
  };
  REQUIRE_THROWS_AS(choose(QuantizationMethod::kSymmetric, 4, 8, std::nullopt), Error);
  REQUIRE_THROWS_AS(choose(QuantizationMethod::kLutSymQuantizer, 8, 8, std::nullopt), Error);
  REQUIRE_THROWS_AS(choose(QuantizationMethod::kLutSymQuantizer, 4, 3, std::nullopt), Error);
  REQUIRE_THROWS_AS(choose(QuantizationMethod::kLutSymQuantizer, 4, 8, 2), Error);
}
