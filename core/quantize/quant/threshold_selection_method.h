// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <utility>

#include "core/base/names.h"

namespace tersor::quant {

/// The rule that selects the range of a tensor; the rules are implemented in core/quant/threshold_search.cpp. The last
/// four are those of ONNX Runtime's calibrators, for activations (core/quant/calibrators.h).
enum class ThresholdSelectionMethod {
  kNoClipping,     // the extremes seen
  kMse,            // least mean square error
  kMae,            // least mean absolute error
  kKl,             // least Kullback-Leibler divergence
  kLp,             // least mean |error|^p
  kHmse,           // least mean square error, each weighted by an importance that the caller gives
  kEntropy,        // least divergence from a histogram with 128 groups per side
  kPercentile,     // all but a small percentage of the values
  kDistribution,   // where float8 with the same standard deviation ends
  kMovingAverage,  // the mean extremes of the samples
};

}  // namespace tersor::quant

template <>
struct tersor::EnumWords<tersor::quant::ThresholdSelectionMethod> {
  using Method = tersor::quant::ThresholdSelectionMethod;
  static constexpr const char* kind = "threshold selection method";
  static constexpr std::pair<Method, std::string_view> words[] = {
      {Method::kNoClipping, "NOCLIPPING"},
      {Method::kMse, "MSE"},
      {Method::kMae, "MAE"},
      {Method::kKl, "KL"},
      {Method::kLp, "Lp"},
      {Method::kHmse, "HMSE"},
      {Method::kEntropy, "Entropy"},
      {Method::kPercentile, "Percentile"},
      {Method::kDistribution, "Distribution"},
      {Method::kMovingAverage, "MovingAverage"},
  };
};
