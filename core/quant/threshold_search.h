// SPDX-License-Identifier: Apache-2.0
// Choosing the range of a tensor. The error of a candidate is exact for the values given: bin centres weighted by their
// counts for a histogram, each weight for a weight tensor; exact zeros cost nothing.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "core/quant/histogram.h"
#include "core/quant/params.h"
#include "core/quant/threshold_selection_method.h"
#include "core/tensor/tensor.h"

namespace tersor::quant {

class BinnedValues;

/// By what the range is judged.
struct Criterion {
  ThresholdSelectionMethod method = ThresholdSelectionMethod::kMse;
  int p = 2;                                        // of Lp; MSE is p = 2, MAE is p = 1
  double min_threshold = 3.7252902984619140625e-9;  // no threshold is smaller; 2^-28
};

/// Every selection method that acts.
std::vector<ThresholdSelectionMethod> acting_selection_methods();

/// The range of an activation. An empty histogram, or one that holds zeros only, gives a range of no width.
/// Error kInvalidConfig for a quantization or selection method that does not act yet.
Range select_activation_range(const Histogram& histogram, QuantizationMethod method, const IntegerGrid& grid,
                              const Criterion& criterion);

/// select_activation_range() and params_of_ranges() in one.
QuantizationParams choose_activation_params(const Histogram& histogram, QuantizationMethod method,
                                            const IntegerGrid& grid, const Criterion& criterion);

/// The same for any evenly spaced values, `extremes` being the least and the greatest of them.
Range select_binned_range(const BinnedValues& values, const Range& extremes, QuantizationMethod method,
                          const IntegerGrid& grid, const Criterion& criterion);

/// The range of the weights of one channel, or of a whole tensor where `per_channel` is false (which only sets how far
/// the search goes).
Range select_weight_range(std::span<const double> weights, QuantizationMethod method, const IntegerGrid& grid,
                          bool per_channel, const Criterion& criterion);

/// Parameters of a weight tensor (float32): one range, or one per index of `channel_axis`. NOCLIPPING on a narrow
/// signed grid gives scale absmax / q_max. A channel of zeros has threshold min_threshold. Error kInvalidArgument for
/// an axis that the tensor does not have, kInvalidModel for a weight that is not finite.
QuantizationParams choose_weight_params(const Tensor& weights, QuantizationMethod method, const IntegerGrid& grid,
                                        std::optional<int> channel_axis, const Criterion& criterion);

}  // namespace tersor::quant
