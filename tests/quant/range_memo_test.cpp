// SPDX-License-Identifier: Apache-2.0
#include "core/quant/range_memo.h"

#include <array>

#include "tests/catch.h"

using namespace tersor;
using namespace tersor::quant;

namespace {

constexpr IntegerGrid kGrid{8, false, false};

/// Values from 0 to 1, all the others at `most`.
Histogram crowded_at(float most) {
  std::vector<float> values(2000, most);
  for (size_t i = 0; i < 64; ++i) values.push_back(static_cast<float>(i) / 63);
  Histogram histogram;
  histogram.add(values);
  return histogram;
}

}  // namespace

TEST_CASE("a memo answers as the search does, for values that look alike too") {
  RangeMemo memo;
  const Histogram low = crowded_at(0.125f), high = crowded_at(0.75f);
  REQUIRE((low.min() == high.min() && low.max() == high.max() && low.total() == high.total()));
  for (const Criterion& criterion : {Criterion{}, Criterion{ThresholdSelectionMethod::kNoClipping}})
    for (int round = 0; round < 2; ++round)
      for (const Histogram& one : {low, high})
        for (const Range& limits : {kUnlimited, Range{0, 0.5}}) {
          const auto method = QuantizationMethod::kUniform;
          const RangeSelection expected = select_activation_range(one, method, kGrid, criterion, limits);
          const RangeSelection& got = memo.select(one, method, kGrid, criterion, limits, std::nullopt);
          CHECK(got.range == expected.range);
          CHECK(got.expected_sqnr_db == expected.expected_sqnr_db);
        }
}

TEST_CASE("a memo gives one answer twice without another search") {
  RangeMemo memo;
  const auto ask = [&](int n_bits) -> const RangeSelection& {
    return memo.select(crowded_at(0.25f), QuantizationMethod::kSymmetric, {n_bits, false, false}, Criterion{},
                       kUnlimited, std::nullopt);
  };
  const RangeSelection& first = ask(8);
  CHECK(&ask(4) != &first);
  CHECK(&ask(8) == &first);
}
