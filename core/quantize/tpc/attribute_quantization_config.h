// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <tuple>
#include <utility>

#include "core/base/fields.h"
#include "core/quant/quantization_method.h"

namespace tersor::tpc {

/// Bits that stand for "float".
inline constexpr int kFloatBitwidth = 32;

/// How one weight attribute of a layer (its kernel, its bias, a constant operand) is quantized.
struct AttributeQuantizationConfig {
  quant::QuantizationMethod weights_quantization_method = quant::QuantizationMethod::kPowerOfTwo;
  int weights_n_bits = kFloatBitwidth;
  bool weights_per_channel_threshold = false;
  bool enable_weights_quantization = false;
  std::optional<int> lut_values_bitwidth;
  std::optional<int> weights_block_size;

  /// The values are those of a table.
  bool weights_by_table() const {
    return quant::is_table_method(weights_quantization_method) && weights_n_bits < quant::kBitsOfEvenSteps;
  }

  /// A copy that `edit(copy)` has changed.
  template <class Edit>
  AttributeQuantizationConfig clone_and_edit(Edit&& edit) const {
    AttributeQuantizationConfig copy = *this;
    std::forward<Edit>(edit)(copy);
    return copy;
  }

  static constexpr auto fields() {
    using A = AttributeQuantizationConfig;
    return std::make_tuple(
        field("weights_quantization_method", &A::weights_quantization_method, "The quantizer."),
        field("weights_n_bits", &A::weights_n_bits, "Bits of one weight."),
        field("weights_per_channel_threshold", &A::weights_per_channel_threshold,
              "One range per channel, or one for the tensor."),
        field("enable_weights_quantization", &A::enable_weights_quantization, "Whether to quantize the attribute."),
        field("lut_values_bitwidth", &A::lut_values_bitwidth, "Bits of an entry of a look-up table; null: no table."),
        field("weights_block_size", &A::weights_block_size,
              "Inputs of an output channel that share a scale; null: all of them."));
  }
  bool operator==(const AttributeQuantizationConfig&) const = default;
};

}  // namespace tersor::tpc
