// SPDX-License-Identifier: Apache-2.0
// Selects the range of a tensor: the candidate of core/quant/quantizers with the least error. The error is exact for
// the given values, which are bin centres weighted by their counts for a histogram, and all weights for a weight
// tensor. Exact zeros add no error.
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

/// The criterion by which a range is selected.
struct Criterion {
  ThresholdSelectionMethod method = ThresholdSelectionMethod::kMse;
  int p = 2;                                        // exponent of Lp; MSE is p = 2, MAE is p = 1
  double min_threshold = 3.7252902984619140625e-9;  // no threshold is smaller; 2^-28
  /// For activations: values more than this many standard deviations from the mean are left out.
  double z_threshold = std::numeric_limits<double>::infinity();
  double percentile = 99.999;  // for Percentile
  bool operator==(const Criterion&) const = default;
};

/// A selected range, and the error that it causes.
struct RangeSelection {
  Range range;
  /// The SQNR 10 log10(sum x^2 / sum (x - x')^2) over all given values, outliers included; infinite if there is no
  /// error. Ordinary activations reach 30 to 45 dB with 8 bits. Below 10 dB the values are hardly recognizable: a
  /// method that clips does not suit them.
  double expected_sqnr_db = std::numeric_limits<double>::infinity();
};

/// The selection methods that are implemented, for activations and for weights. HMSE is in neither list: it works for
/// weights only if the caller knows their importance.
std::vector<ThresholdSelectionMethod> activation_selection_methods();
std::vector<ThresholdSelectionMethod> weight_selection_methods();

/// No limits: operators and clamps leave every value possible.
constexpr Range kUnlimited{-std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};

/// Selects the range of an activation. The result stays within `limits`, the values that the operators and clamps
/// which make the tensor allow.
///
/// The limits matter in two cases. A search over bins may reach beyond the largest value to align its grid with the
/// bins, which does not hold on other samples. And a quantizer that keeps the bounds of a clamp can replace the clamp.
/// A POWER_OF_TWO threshold is not limited.
///
/// However close the extremes, the range is at least `min_threshold` wide (UNIFORM: 2^-75), so that its scale times a
/// weight's scale is a normal float32. An empty histogram, or a histogram of zeros, gives a range without width.
/// MovingAverage uses `mean_extremes`, which the histogram does not contain; without them it uses the extremes. Error
/// kInvalidConfig for a quantization method without a scale, or for a selection method that is for weights.
RangeSelection select_activation_range(const Histogram& histogram, QuantizationMethod method, const IntegerGrid& grid,
                                       const Criterion& criterion, const Range& limits = kUnlimited,
                                       const std::optional<Range>& mean_extremes = std::nullopt);

/// The same for any evenly spaced bins, without limits; the caller has removed outliers.
Range select_binned_range(const EvenBins& bins, QuantizationMethod method, const IntegerGrid& grid,
                          const Criterion& criterion);

/// Selects the range of the weights of a channel, or of a whole tensor if not `per_channel`, which only affects how
/// long the search is. For HMSE `importance` has a weight for each squared error.
Range select_weight_range(std::span<const double> weights, QuantizationMethod method, const IntegerGrid& grid,
                          bool per_channel, const Criterion& criterion, std::span<const double> importance = {});

/// The parameters of a weight, and the error that they cause.
struct WeightSelection {
  QuantizationParams params;
  double expected_sqnr_db = std::numeric_limits<double>::infinity();  // over the whole tensor, as in RangeSelection
};

/// Chooses the parameters of a float32 weight tensor: one range, or one per index of `channel_axis`. NOCLIPPING on a
/// narrow signed grid gives the scale absmax / q_max. A channel of zeros has the threshold min_threshold. For HMSE
/// `importance` has the shape of the weights. Error kInvalidArgument if the tensor does not have the axis or
/// `importance` has another shape; kInvalidModel for a weight that is not finite.
WeightSelection choose_weight_params(const Tensor& weights, QuantizationMethod method, const IntegerGrid& grid,
                                     std::optional<int> channel_axis, const Criterion& criterion,
                                     const Tensor* importance = nullptr);

}  // namespace tersor::quant
