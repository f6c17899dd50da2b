// SPDX-License-Identifier: Apache-2.0
#include "core/report/range_choices.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/framework/attach.h"
#include "core/framework/framework_info.h"
#include "core/framework/overrides.h"
#include "core/quant/threshold_search.h"
#include "core/report/weight_channels.h"
#include "core/tpc/builtin.h"
#include "tests/catch.h"
#include "tests/support/named_model.h"

using namespace tersor;
using quant::ThresholdSelectionMethod;

namespace {

/// Most values within 1, one at 20.
report::ActivationRange with_outlier() {
  std::vector<float> values(1000000);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(std::sin(static_cast<double>(i)));
  values.push_back(20);
  report::ActivationRange range;
  range.histogram.add(values);
  range.mean_extremes = {-0.5, 4};
  range.grid = {8, false, false};
  return range;
}

const report::RangeFigures& of(const std::vector<report::RangeChoice>& rows, ThresholdSelectionMethod method) {
  return std::find_if(rows.begin(), rows.end(), [&](const auto& row) { return row.method == method; })->figures;
}

}  // namespace

TEST_CASE("every method that acts for activations says which range it would choose") {
  const report::ActivationRange range = with_outlier();
  config::QuantizationConfig settings;
  const auto rows = report::range_choices(range, settings);
  REQUIRE(rows.size() == quant::activation_selection_methods().size());
  const auto& all = of(rows, ThresholdSelectionMethod::kNoClipping);
  REQUIRE(all.high == Approx(20).margin(0.1));
  REQUIRE(all.lost == 0);
  REQUIRE(all.values == 1000001);
  const auto& percentile = of(rows, ThresholdSelectionMethod::kPercentile);
  REQUIRE(percentile.high < 2);
  REQUIRE(percentile.lost >= 1);
  REQUIRE(percentile.lost < 1000);  // bins are counted as wholes
  REQUIRE(of(rows, ThresholdSelectionMethod::kMovingAverage).high == Approx(4).margin(0.1));
  for (const auto& row : rows) {
    REQUIRE(row.figures.high - row.figures.low == Approx(255 * row.figures.scale));
    REQUIRE(*row.figures.sqnr_db <= *of(rows, ThresholdSelectionMethod::kMse).sqnr_db + 0.2);
  }
}

TEST_CASE("a range by hand is what the methods' figures are measured like") {
  const report::ActivationRange range = with_outlier();
  config::QuantizationConfig settings;
  for (const auto& row : report::range_choices(range, settings)) {
    const auto again = report::figures_of(range, row.figures.low, row.figures.high);
    REQUIRE(again.scale == Approx(row.figures.scale));
    REQUIRE(again.zero_point == row.figures.zero_point);
    REQUIRE(*again.sqnr_db == Approx(*row.figures.sqnr_db).margin(0.05));
    REQUIRE(again.lost == row.figures.lost);
  }
  // 0 is always held, and symmetric methods reach as far on both sides
  REQUIRE(report::figures_of(range, 1, 3).low <= 0);
  report::ActivationRange symmetric = with_outlier();
  symmetric.method = quant::QuantizationMethod::kSymmetric;
  symmetric.grid.is_signed = true;
  const auto both = report::figures_of(symmetric, -1, 3);
  REQUIRE(both.low == Approx(-3).margin(0.05));
  REQUIRE_THROWS_AS(report::figures_of(range, 2, 1), Error);
  REQUIRE_THROWS_AS(report::figures_of(range, 0, std::numeric_limits<double>::infinity()), Error);
}

TEST_CASE("channels of unlike size survive a scale for each, and the small ones suffer from one for all") {
  test::NamedModel model;
  model.input("x", {1, 4, 6, 6}).weight("w", {3, 4, 3, 3}).scale_along("w", 0, 0.02);
  model.node("Conv", {"x", "w"}, {"y"}).output("y");
  const Model built = model.build();
  const auto platform = tpc::get_target_platform_capabilities("ort-cpu", std::nullopt);
  const auto channels = [&](bool per_channel) {
    config::QuantizationConfig settings;
    settings.weights_per_channel_threshold = per_channel;
    const auto attachment = framework::attach(built.graph, platform, framework::onnx_framework_info(), settings);
    return report::weight_channels(built.graph, attachment, settings,
                                   framework::override_name(built.graph, built.graph.nodes()[0]));
  };
  const auto own = channels(true), shared = channels(false);
  REQUIRE(own.per_channel);
  REQUIRE(own.n_bits == 8);
  REQUIRE(own.channels.size() == 3);
  REQUIRE(own.channels[1].largest == Approx(0.02 * own.channels[0].largest).epsilon(0.3));
  REQUIRE(*own.channels[2].sqnr_db > 30);
  REQUIRE_FALSE(shared.per_channel);
  REQUIRE(*shared.channels[1].sqnr_db < *own.channels[1].sqnr_db - 20);
  const auto attachment = framework::attach(built.graph, platform, framework::onnx_framework_info(), {});
  REQUIRE_THROWS_AS(report::weight_channels(built.graph, attachment, {}, "z"), Error);
}
