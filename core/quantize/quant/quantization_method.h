// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <utility>

#include "core/base/names.h"

namespace tersor::quant {

/// The kind of a quantizer; its behaviour is in core/quant/quantizers. "SYMMETRIC_UNIFORM", of older documents, reads
/// as POWER_OF_TWO.
enum class QuantizationMethod {
  kPowerOfTwo,       // symmetric, uniform; the threshold is a power of two
  kLutPotQuantizer,  // a table of values; the threshold is a power of two
  kSymmetric,        // symmetric, uniform
  kUniform,          // uniform between two ends, with a zero point
  kLutSymQuantizer,  // a table of values; any threshold
};

/// True if the quantized values are those of a table instead of even steps.
constexpr bool is_table_method(QuantizationMethod method) {
  return method == QuantizationMethod::kLutPotQuantizer || method == QuantizationMethod::kLutSymQuantizer;
}

/// The method of even steps that has the same thresholds as a table method.
constexpr QuantizationMethod even_form(QuantizationMethod method) {
  return method == QuantizationMethod::kLutPotQuantizer   ? QuantizationMethod::kPowerOfTwo
         : method == QuantizationMethod::kLutSymQuantizer ? QuantizationMethod::kSymmetric
                                                          : method;
}

/// With at least this many bits, even steps are as fine as the entries of a table: a table method is then replaced by
/// its even form.
inline constexpr int kBitsOfEvenSteps = 8;

}  // namespace tersor::quant

template <>
struct tersor::EnumWords<tersor::quant::QuantizationMethod> {
  using Method = tersor::quant::QuantizationMethod;
  static constexpr const char* kind = "quantization method";
  static constexpr std::pair<Method, std::string_view> words[] = {
      {Method::kPowerOfTwo, "POWER_OF_TWO"},
      {Method::kLutPotQuantizer, "LUT_POT_QUANTIZER"},
      {Method::kSymmetric, "SYMMETRIC"},
      {Method::kUniform, "UNIFORM"},
      {Method::kLutSymQuantizer, "LUT_SYM_QUANTIZER"},
  };
};
