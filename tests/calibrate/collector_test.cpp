// SPDX-License-Identifier: Apache-2.0
#include "core/calibrate/collector.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/catch.h"

using namespace tersor;
using namespace tersor::calibrate;
using quant::Histogram;

namespace {

struct Collected {
  TensorStatistics seen;
  Histogram all;  // of every value
};

/// What a collector gathers of one tensor of that shape whose value at (row, column, channel) `value` gives.
template <class Value>
Collected collected(const Shape& shape, ops::Layout layout, int channel_axis, Value value) {
  const auto channels = shape[1], height = shape[2], width = shape[3];
  std::vector<float> data;
  const auto add = [&](int64_t y, int64_t x, int64_t c) { data.push_back(value(y, x, c)); };
  if (layout == ops::Layout::kPlain) {
    for (int64_t c = 0; c < channels; ++c)
      for (int64_t y = 0; y < height; ++y)
        for (int64_t x = 0; x < width; ++x) add(y, x, c);
  } else {
    for (int64_t y = 0; y < height; ++y)
      for (int64_t x = 0; x < width; ++x)
        for (int64_t c = 0; c < channels; ++c) add(y, x, c);
  }
  Collector collector({{ValueId{0}, "tensor", channel_axis}});
  collector.observe({ValueId{0}, shape, layout, data});
  Collected result{collector.statistics()[0], {}};
  for (float& x : data)
    if (!std::isfinite(x)) x = 0;
  result.all.add(data);
  return result;
}

/// The largest distance between the shares of values below a bound.
double distance(const Histogram& a, const Histogram& b) {
  REQUIRE(a.first_bin() == b.first_bin());
  REQUIRE(a.counts().size() == b.counts().size());
  double below_a = 0, below_b = 0, most = 0;
  for (size_t i = 0; i < a.counts().size(); ++i) {
    below_a += static_cast<double>(a.counts()[i]) / static_cast<double>(a.total());
    below_b += static_cast<double>(b.counts()[i]) / static_cast<double>(b.total());
    most = std::max(most, std::fabs(below_a - below_b));
  }
  return most;
}

}  // namespace

TEST_CASE("the bins of a large tensor count an even part of it, and its extremes are exact") {
  const auto layout = GENERATE(ops::Layout::kPlain, ops::Layout::kChannelsLast);
  const auto width = GENERATE(int64_t{112}, int64_t{120}, int64_t{136});
  CAPTURE(width);
  const Shape shape{1, 24, 131, width};
  // Each column, line and channel has values of its own: what is left out evenly shows in none of them.
  const auto value = [&](int64_t y, int64_t x, int64_t c) {
    return static_cast<float>(x) + static_cast<float>(y * 24 + c) / 4096 - static_cast<float>(width) / 3;
  };
  const int axis = layout == ops::Layout::kPlain ? -1 : 1;
  const auto [seen, all] = collected(shape, layout, axis, value);
  CHECK(seen.histogram.total() == seen.elements);
  CHECK(seen.elements == all.total());
  CHECK(seen.histogram.min() == all.min());
  CHECK(seen.histogram.max() == all.max());
  CHECK_FALSE(seen.histogram == all);
  CHECK(distance(seen.histogram, all) < 0.02);
}

TEST_CASE("the bins of a small tensor count each value") {
  const Shape shape{1, 8, 32, 32};
  const auto value = [](int64_t y, int64_t x, int64_t c) { return static_cast<float>((y * 31 + x * 7 + c) % 97) - 40; };
  for (const auto layout : {ops::Layout::kPlain, ops::Layout::kChannelsLast}) {
    const auto [seen, all] = collected(shape, layout, 1, value);
    CHECK(seen.histogram == all);
  }
}

TEST_CASE("where few values reach far beyond the others each is counted") {
  const Shape shape{1, 64, 64, 64};
  const auto layout = GENERATE(ops::Layout::kPlain, ops::Layout::kChannelsLast);
  // One channel of the first place, as attention piles up on the first token.
  const auto value = [](int64_t y, int64_t x, int64_t c) {
    return y + x == 0 && c == 7 ? 300.0f : static_cast<float>((y * 31 + x * 7 + c * 13) % 97) / 97;
  };
  const TensorStatistics seen = collected(shape, layout, layout == ops::Layout::kPlain ? -1 : 1, value).seen;
  CHECK(seen.histogram.total() == seen.elements);
  CHECK(seen.histogram.counts().back() == 1);
}

TEST_CASE("beside values far out the others are counted in parts") {
  const Shape shape{1, 64, 96, 96};
  const auto layout = GENERATE(ops::Layout::kPlain, ops::Layout::kChannelsLast);
  const auto value = [](int64_t y, int64_t x, int64_t c) {
    if ((y * 96 + x) % 641 == 0) return 40.0f + static_cast<float>(c % 3);  // 960 values, in every part of a line
    return static_cast<float>((y * 31 + x * 7 + c * 13) % 97) / 97;
  };
  const auto [seen, all] = collected(shape, layout, 1, value);
  CHECK(seen.histogram.total() == seen.elements);
  CHECK_FALSE(seen.histogram == all);
  CHECK(distance(seen.histogram, all) < 0.02);
  const auto beyond = [](const quant::Histogram& histogram) {
    const auto counts = histogram.counts();
    return std::vector<uint64_t>(counts.end() - static_cast<std::ptrdiff_t>(counts.size() / 8), counts.end());
  };
  CHECK(beyond(seen.histogram) == beyond(all));
}

TEST_CASE("bins hold as many values as the tensor, wherever far ones begin and however its lines divide") {
  const auto height = GENERATE(int64_t{61}, int64_t{128}), width = GENERATE(int64_t{59}, int64_t{113});
  const auto channels = GENERATE(int64_t{16}, int64_t{33});
  const auto layout = GENERATE(ops::Layout::kPlain, ops::Layout::kChannelsLast);
  for (const int64_t place : {height / 3, height / 2, height - 1}) {
    const auto value = [&](int64_t y, int64_t x, int64_t c) {
      return y == place && x == c ? 500.0f : static_cast<float>((y * 31 + x * 7 + c * 13) % 97) / 97;
    };
    const auto [seen, all] = collected({1, channels, height, width}, layout, 1, value);
    CHECK(seen.histogram.total() == seen.elements);
    CHECK(seen.histogram.max() == all.max());
  }
}

TEST_CASE("where only ends are wanted the bins hold those of each sample, however many") {
  Collector collector({{ValueId{0}, "tensor", -1, false, true}});
  const Shape shape{1, 1, 2, 2};
  std::vector<float> ends;
  for (int k = 0; k < 5000; ++k) {
    const float low = static_cast<float>(-(k % 97)), high = static_cast<float>(k % 31) + 1;
    const std::vector<float> data{0.5f, high, low, 0.25f};
    collector.observe({ValueId{0}, shape, ops::Layout::kPlain, data});
    ends.insert(ends.end(), {low, high});
  }
  Histogram wanted;
  wanted.add(ends);
  CHECK(collector.statistics()[0].histogram == wanted);
}

TEST_CASE("more values than the counters of a bin hold are counted all the same") {
  const std::vector<float> alike(300'000, 1.5f), others{0.0f, 3.0f};
  BinCounter bins;
  BinTurns turns;
  bins.begin_turns(3 * (alike.size() + others.size()), 0, 3, turns);  // each stands for three
  bins.add_in_turn(others, turns);
  bins.add_in_turn(alike, turns);
  bins.settle(turns);
  const Histogram seen = bins.histogram();
  CHECK(seen.total() == 900'006);
  CHECK(seen.zeros() == 3);
  CHECK(seen.counts().front() == 3);
  CHECK(seen.counts().back() == 3);
}

TEST_CASE("bins do not depend on which samples the same collector saw before") {
  const Shape shape{1, 48, 200, 200};
  const auto layout = GENERATE(ops::Layout::kPlain, ops::Layout::kChannelsLast);
  // Within each sample the range grows up to its end, in the first the most; a few values everywhere are far out.
  const auto sample = [&](int64_t k) {
    std::vector<float> data(static_cast<size_t>(shape.elements()));
    for (size_t i = 0; i < data.size(); ++i) {
      const float grown = 1 + static_cast<float>(i / 150'000) / static_cast<float>(k + 1);
      data[i] = static_cast<float>(i * (31 + 2 * static_cast<size_t>(k)) % 211) / 97 * grown;
      if (i % (7919 + static_cast<size_t>(k)) == 0) data[i] = -40 * grown;
    }
    return data;
  };
  constexpr int64_t kSamples = 4;
  Collector together({{ValueId{0}, "tensor", -1}});
  Histogram merged;
  for (int64_t k = 0; k < kSamples; ++k) {
    const std::vector<float> data = sample(k);
    together.observe({ValueId{0}, shape, layout, data});
    Collector alone({{ValueId{0}, "tensor", -1}});
    alone.observe({ValueId{0}, shape, layout, data});
    merged.merge(alone.statistics()[0].histogram);
  }
  CHECK(together.statistics()[0].histogram == merged);
}

TEST_CASE("what is not finite counts as zeros, wherever it lies") {
  const auto layout = GENERATE(ops::Layout::kPlain, ops::Layout::kChannelsLast);
  const auto axis = GENERATE(-1, 1, 2);
  const auto width = GENERATE(int64_t{5}, int64_t{150});  // 150: more than is looked at at once
  const auto first_bad = GENERATE(int64_t{0}, int64_t{140});
  CAPTURE(axis, width, first_bad);
  const auto of = [&](float nan, float infinity) {
    return collected(Shape{1, 24, 150, width}, layout, axis,
                     [=](int64_t y, int64_t x, int64_t c) {
                       if (y >= first_bad && (y + x + c) % 7 == 0) return c % 2 == 0 ? nan : -infinity;
                       return std::sin(static_cast<float>(1 + y * 31 + x * 7 + c * 3)) * 3.0f;
                     })
        .seen;
  };
  REQUIRE(of(std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()) == of(0.0f, -0.0f));
}
