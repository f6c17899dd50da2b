// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "core/base/fields.h"
#include "core/base/names.h"
#include "core/quant/quantization_method.h"
#include "core/tpc/attribute_quantization_config.h"

namespace tersor::tpc {

/// Whether an activation's integers have a sign. AUTO: from what calibration saw. JSON also takes true and false.
enum class Signedness { kAuto, kSigned, kUnsigned };

/// General names of weight attributes, the keys of attr_weights_configs_mapping.
inline constexpr std::string_view kKernelAttr = "kernel_attr";
inline constexpr std::string_view kBiasAttr = "bias_attr";
inline constexpr std::string_view kPosAttr = "pos_attr";  // constant operands of operators that have no kernel

/// The quantization of one operator.
struct OpQuantizationConfig {
  AttributeQuantizationConfig default_weight_attr_config;
  std::map<std::string, AttributeQuantizationConfig> attr_weights_configs_mapping;
  quant::QuantizationMethod activation_quantization_method = quant::QuantizationMethod::kPowerOfTwo;
  int activation_n_bits = 8;
  std::vector<int> supported_input_activation_n_bits{8};
  bool enable_activation_quantization = true;
  bool quantization_preserving = false;
  std::optional<double> fixed_scale;
  std::optional<int> fixed_zero_point;
  int simd_size = 1;
  Signedness signedness = Signedness::kAuto;

  /// The attribute's configuration: that of the key which `attribute` contains, else default_weight_attr_config. Error
  /// kInvalidPlatform when it contains several.
  const AttributeQuantizationConfig& attribute_config(std::string_view attribute) const;

  /// The output's values are those of a table. One of 8 bits would hold every code: even steps say the same.
  bool activation_by_table() const {
    return quant::is_table_method(activation_quantization_method) && activation_n_bits < quant::kBitsOfEvenSteps;
  }

  /// A copy that `edit(copy)` has changed.
  template <class Edit>
  OpQuantizationConfig clone_and_edit(Edit&& edit) const {
    OpQuantizationConfig copy = *this;
    std::forward<Edit>(edit)(copy);
    return copy;
  }

  static constexpr auto fields() {
    using O = OpQuantizationConfig;
    return std::make_tuple(
        field("default_weight_attr_config", &O::default_weight_attr_config,
              "The quantization of attributes that the mapping does not name."),
        field("attr_weights_configs_mapping", &O::attr_weights_configs_mapping, "Attribute name to its quantization."),
        field("activation_quantization_method", &O::activation_quantization_method, "The quantizer of the output."),
        field("activation_n_bits", &O::activation_n_bits, "Bits of the output."),
        field("supported_input_activation_n_bits", &O::supported_input_activation_n_bits,
              "Bits that the operator accepts as input."),
        field("enable_activation_quantization", &O::enable_activation_quantization, "Whether to quantize the output."),
        field("quantization_preserving", &O::quantization_preserving,
              "The output has the quantization parameters of the input."),
        field("fixed_scale", &O::fixed_scale, "The scale of the output where the platform fixes it."),
        field("fixed_zero_point", &O::fixed_zero_point, "The zero point of the output where the platform fixes it."),
        field("simd_size", &O::simd_size, "Elements that one instruction of the operator works on."),
        field("signedness", &O::signedness, "AUTO, SIGNED or UNSIGNED integers for the output."));
  }
  bool operator==(const OpQuantizationConfig&) const = default;
};

}  // namespace tersor::tpc

template <>
struct tersor::EnumWords<tersor::tpc::Signedness> {
  using S = tersor::tpc::Signedness;
  static constexpr const char* kind = "signedness";
  static constexpr std::pair<S, std::string_view> words[] = {
      {S::kAuto, "AUTO"}, {S::kSigned, "SIGNED"}, {S::kUnsigned, "UNSIGNED"}};
};
