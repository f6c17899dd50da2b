// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <utility>

#include "core/base/names.h"

namespace tersor::quant {

/// By what error the range of a tensor is chosen; behaviour is a row in core/quant/error_functions.cpp.
enum class ThresholdSelectionMethod {
  kNoClipping,  // the extremes seen
  kMse,         // least mean square error
  kMae,         // least mean absolute error
  kKl,          // least Kullback-Leibler divergence
  kLp,          // least mean |error|^p
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
  };
};
