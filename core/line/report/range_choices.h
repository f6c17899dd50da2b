// SPDX-License-Identifier: Apache-2.0
// The range that each selection method gives an activation, and the error of any other range.
#pragma once

#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "core/base/fields.h"
#include "core/config/quantization_config.h"
#include "core/quant/histogram.h"
#include "core/quant/params.h"
#include "core/quant/threshold_selection_method.h"

namespace tersor::report {

/// What a range is chosen from, and the grid it is for.
struct ActivationRange {
  quant::Histogram histogram;
  quant::Range mean_extremes;  // means over the samples of the lowest and of the highest value
  quant::QuantizationMethod method = quant::QuantizationMethod::kUniform;
  quant::IntegerGrid grid;
};

/// The grid of a range, and its error on the values that calibration saw.
struct RangeFigures {
  double low = 0;
  double high = 0;
  double scale = 1;
  int64_t zero_point = 0;
  int64_t values = 0;
  int64_t lost = 0;
  std::optional<double> sqnr_db;

  static constexpr auto fields() {
    return std::make_tuple(
        field("low", &RangeFigures::low, "Lowest value that the codes represent."),
        field("high", &RangeFigures::high, "Highest value that they represent."),
        field("scale", &RangeFigures::scale, "Step between two codes."),
        field("zero_point", &RangeFigures::zero_point, "Code of the value 0, codes counted as the method does."),
        field("values", &RangeFigures::values, "Values that calibration saw."),
        field("lost", &RangeFigures::lost, "Those outside by more than half a step, by the centres of their bins."),
        field("sqnr_db", &RangeFigures::sqnr_db, "SQNR in dB that the range leaves of them; null when exact."));
  }
};

/// The range that a selection method chooses.
struct RangeChoice {
  quant::ThresholdSelectionMethod method = quant::ThresholdSelectionMethod::kMse;
  RangeFigures figures;

  static constexpr auto fields() {
    return std::make_tuple(field("method", &RangeChoice::method, "By what it is chosen."),
                           field("figures", &RangeChoice::figures, "The range and what becomes of the values."));
  }
};

/// The figures of a range that the user gives. It is widened to contain 0, and symmetric methods make it symmetric.
/// Error kInvalidArgument if an end is not finite or the ends are in the wrong order.
RangeFigures figures_of(const ActivationRange& range, double low, double high);

/// Returns a row per selection method for activations. z_threshold, l_p_value and the like are those of the settings.
std::vector<RangeChoice> range_choices(const ActivationRange& range, const config::QuantizationConfig& settings);

}  // namespace tersor::report
