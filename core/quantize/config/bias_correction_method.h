// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <utility>

#include "core/base/names.h"

namespace tersor::config {

/// How the mean error of quantized weights is computed.
enum class BiasCorrectionMethod {
  kMeasured,  // on the samples, layer by layer, with all layers before quantized and corrected
  kAnalytic,  // from the rounding errors of the weights and the float means of the inputs
};

}  // namespace tersor::config

template <>
struct tersor::EnumWords<tersor::config::BiasCorrectionMethod> {
  using M = tersor::config::BiasCorrectionMethod;
  static constexpr const char* kind = "bias correction method";
  static constexpr std::pair<M, std::string_view> words[] = {{M::kMeasured, "MEASURED"}, {M::kAnalytic, "ANALYTIC"}};
};
