// SPDX-License-Identifier: Apache-2.0
#include "core/report/histogram_view.h"

#include <numeric>

#include "tests/catch.h"

namespace tersor::report {

namespace {

quant::Histogram of(const std::vector<float>& values) {
  quant::Histogram histogram;
  histogram.add(values);
  return histogram;
}

uint64_t total(const HistogramView& shown) {
  return std::accumulate(shown.counts.begin(), shown.counts.end(), uint64_t{0});
}

}  // namespace

TEST_CASE("a view joins neighbouring bins and loses no value") {
  std::vector<float> values;
  for (int i = -700; i <= 1300; ++i) values.push_back(static_cast<float>(i) * 0.01f);
  const quant::Histogram histogram = of(values);
  const HistogramView shown = view(histogram);
  CHECK(shown.counts.size() <= 256);
  CHECK(shown.counts.size() > 100);
  CHECK(total(shown) == values.size());
  CHECK(shown.lower <= -7.0);
  CHECK(shown.lower + shown.bin_width * static_cast<double>(shown.counts.size()) > 13.0);
  // every shown bin counts exactly the values inside it
  for (size_t bin = 0; bin < shown.counts.size(); ++bin) {
    const double low = shown.lower + shown.bin_width * static_cast<double>(bin), high = low + shown.bin_width;
    uint64_t inside = 0;
    for (float x : values) inside += x >= low && x < high ? 1 : 0;
    REQUIRE(shown.counts[bin] == inside);
  }
}

TEST_CASE("a view of few bins is the histogram itself") {
  const quant::Histogram histogram = of({1.0f, 1.0f, 2.0f});
  const HistogramView shown = view(histogram, 4096);
  CHECK(shown.counts == std::vector<uint64_t>(histogram.counts().begin(), histogram.counts().end()));
  CHECK(shown.bin_width == histogram.bin_width());
  CHECK(shown.lower == histogram.lower(0));
}

TEST_CASE("layers get the histogram of their output, others none") {
  calibrate::Statistics statistics;
  statistics.tensors.emplace_back();
  statistics.tensors.back().name = "seen";
  statistics.tensors.back().histogram = of({0.5f, 3.0f});
  Comparison comparison;
  comparison.layers.resize(2);
  comparison.layers[0].output = "seen";
  comparison.layers[1].output = "unseen";
  add_histograms(comparison, statistics);
  REQUIRE(comparison.layers[0].histogram);
  CHECK(total(*comparison.layers[0].histogram) == 2);
  CHECK_FALSE(comparison.layers[1].histogram);
}

}  // namespace tersor::report
