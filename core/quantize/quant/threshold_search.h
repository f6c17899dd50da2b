// SPDX-License-Identifier: Apache-2.0
// Choosing the range of a tensor. The error of a candidate is exact for the values given: bin centres weighted by their
// counts for a histogram, each weight for a weight tensor; exact zeros cost nothing. Which range is least in error is
// found among the candidates of core/quant/quantizers.
#pragma once

#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "core/quant/even_bins.h"
#include "core/quant/histogram.h"
#include "core/quant/params.h"
#include "core/quant/threshold_selection_method.h"
#include "core/tensor/tensor.h"

namespace tersor::quant {

/// By what the range is judged.
struct Criterion {
  ThresholdSelectionMethod method = ThresholdSelectionMethod::kMse;
  int p = 2;                                        // of Lp; MSE is p = 2, MAE is p = 1
  double min_threshold = 3.7252902984619140625e-9;  // no threshold is smaller; 2^-28
  /// Of an activation: values further from the mean than so many standard deviations are left out.
  double z_threshold = std::numeric_limits<double>::infinity();
  double percentile = 99.999;  // of Percentile
  bool operator==(const Criterion&) const = default;
};

/// A range, and how well the values it was chosen for survive it.
struct RangeSelection {
  Range range;
  /// 10 log10(sum x^2 / sum (x - x')^2) over all values given, outliers included; infinite where nothing is lost. Eight
  /// bits give 30 to 45 on ordinary activations. Below 10 the values are hardly recognizable: a method that clips has
  /// met values it is not made for.
  double expected_sqnr_db = std::numeric_limits<double>::infinity();
};

/// Every selection method that acts, for activations and for weights. HMSE acts for weights where the caller knows
/// their importance, and is in neither list.
std::vector<ThresholdSelectionMethod> activation_selection_methods();
std::vector<ThresholdSelectionMethod> weight_selection_methods();

/// No value lies outside: what operators and clamps that make a tensor leave possible.
constexpr Range kUnlimited{-std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};

/// The range of an activation, without what lies outside `limits`: a search that weighs single bins may reach beyond
/// the largest to line its grid up with them, which does not hold on other samples, and a quantizer that keeps the
/// bounds of a clamp does the clamp's work. A POWER_OF_TWO threshold is not cut. However close the extremes, the range
/// is at least `min_threshold` wide (UNIFORM: 2^-75), so that its scale times a weight's is a normal float32. An empty
/// histogram, or one that holds zeros only, gives a range of no width. MovingAverage takes `mean_extremes`, which the
/// histogram does not have, or its extremes. Error kInvalidConfig for a quantization method
/// without a scale, or a selection method that is for weights.
RangeSelection select_activation_range(const Histogram& histogram, QuantizationMethod method, const IntegerGrid& grid,
                                       const Criterion& criterion, const Range& limits = kUnlimited,
                                       const std::optional<Range>& mean_extremes = std::nullopt);

/// The same for any evenly spaced bins, no limits and outliers taken out beforehand.
Range select_binned_range(const EvenBins& bins, QuantizationMethod method, const IntegerGrid& grid,
                          const Criterion& criterion);

/// The range of the weights of one channel, or of a whole tensor where `per_channel` is false (which only sets how far
/// the search goes). HMSE: `importance` has a weight for each squared error.
Range select_weight_range(std::span<const double> weights, QuantizationMethod method, const IntegerGrid& grid,
                          bool per_channel, const Criterion& criterion, std::span<const double> importance = {});

struct WeightSelection {
  QuantizationParams params;
  double expected_sqnr_db = std::numeric_limits<double>::infinity();  // over the whole tensor, as in RangeSelection
};

/// Parameters of a weight tensor (float32): one range, or one per index of `channel_axis`. NOCLIPPING on a narrow
/// signed grid gives scale absmax / q_max. A channel of zeros has threshold min_threshold. HMSE: `importance` has the
/// shape of the weights. Error kInvalidArgument for an axis that the tensor does not have or importance of another
/// shape, kInvalidModel for a weight that is not finite.
WeightSelection choose_weight_params(const Tensor& weights, QuantizationMethod method, const IntegerGrid& grid,
                                     std::optional<int> channel_axis, const Criterion& criterion,
                                     const Tensor* importance = nullptr);

}  // namespace tersor::quant
