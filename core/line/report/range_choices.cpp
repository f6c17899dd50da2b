// SPDX-License-Identifier: Apache-2.0
#include "core/report/range_choices.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "core/base/error.h"
#include "core/quant/quantizer.h"
#include "core/quant/threshold_search.h"
#include "core/report/range_remarks.h"

namespace tersor::report {

namespace {

constexpr double kMostDb = 200;

int64_t outside(const quant::Histogram& histogram, const quant::Range& range, double margin) {
  uint64_t lost = 0;
  for (size_t i = 0; i < histogram.counts().size(); ++i) {
    // the outermost bins end at the extremes
    const double centre =
        std::clamp(histogram.center(i), static_cast<double>(histogram.min()), static_cast<double>(histogram.max()));
    if (centre < range.low - margin || centre > range.high + margin) lost += histogram.counts()[i];
  }
  return static_cast<int64_t>(lost);
}

RangeFigures figures(const ActivationRange& asked, const quant::Range& range) {
  const quant::QuantizationParams params = quant::params_of_ranges(asked.method, asked.grid, std::span(&range, 1));
  const quant::Range kept = params.representable();
  RangeFigures made;
  made.low = kept.low;
  made.high = kept.high;
  made.scale = static_cast<double>(params.scale[0]);
  made.zero_point = params.zero_point[0];
  made.values = static_cast<int64_t>(asked.histogram.total());
  made.lost = outside(asked.histogram, kept, made.scale / 2);
  const double decibels = expected_sqnr_db(asked.histogram, params);
  if (std::isfinite(decibels)) made.sqnr_db = std::clamp(decibels, -kMostDb, kMostDb);
  return made;
}

}  // namespace

RangeFigures figures_of(const ActivationRange& range, double low, double high) {
  if (!std::isfinite(low) || !std::isfinite(high) || low > high)
    throw Error(ErrorCode::kInvalidArgument,
                "A range from " + std::to_string(low) + " to " + std::to_string(high) + " holds no values.", "range",
                "Give two finite numbers, the lower one first.");
  constexpr double kLeast = 1e-30;
  const quant::Quantizer& quantizer = quant::quantizer_of(quant::even_form(range.method));
  return figures(range, quantizer.cover(std::min(low, 0.0), std::max(high, 0.0), range.grid, kLeast));
}

std::vector<RangeChoice> range_choices(const ActivationRange& range, const config::QuantizationConfig& settings) {
  const quant::Range seen{range.histogram.min(), range.histogram.max()};
  std::vector<RangeChoice> rows;
  for (const quant::ThresholdSelectionMethod method : quant::activation_selection_methods()) {
    config::QuantizationConfig by_method = settings;
    by_method.activation_threshold_method = method;
    const quant::RangeSelection found =
        quant::select_activation_range(range.histogram, quant::even_form(range.method), range.grid,
                                       by_method.activation_criterion(), seen, range.mean_extremes);
    rows.push_back({method, figures(range, found.range)});
  }
  return rows;
}

}  // namespace tersor::report
