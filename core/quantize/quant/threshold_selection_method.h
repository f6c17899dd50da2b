// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <utility>

#include "core/base/names.h"

namespace tersor::quant {

/// By what the range of a tensor is chosen: behaviour is in core/quant/threshold_search.cpp. The last four are the
/// rules of ONNX Runtime's calibrators, for activations (core/quant/calibrators.h).
enum class ThresholdSelectionMethod {
  kNoClipping,     // the extremes seen
  kMse,            // least mean square error
  kMae,            // least mean absolute error
  kKl,             // least Kullback-Leibler divergence
  kLp,             // least mean |error|^p
  kHmse,           // least mean square error, each weight as important as the caller says
  kEntropy,        // least divergence from a histogram of 128 groups a side
  kPercentile,     // all but a small part of the values
  kDistribution,   // where float8 ends whose values spread as far
  kMovingAverage,  // the mean of the extremes of each sample
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
