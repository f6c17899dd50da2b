// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "core/base/fields.h"
#include "core/base/names.h"
#include "core/tpc/price_list.h"
#include "core/tpc/target_platform_model.h"

namespace tersor::tpc {

/// Where quantizers stand.
enum class Placement {
  kOutputs,   // after every operator whose configuration enables it
  kOperands,  // before and after the operators that the runtime computes in integers; islands between stay float
};

/// How weights that float arithmetic reads stand in the file.
enum class FloatWeights {
  kDequantize,   // after a DequantizeLinear, with block_size where they are in blocks
  kFold,         // after operators that every runtime computes once, when it opens the file
  kMatMulNBits,  // as com.microsoft MatMulNBits where ONNX Runtime is quick with it, else as kFold
};

/// A runtime computes the float weights once, when it opens the file, so that integers for them cost no time in a run.
constexpr bool folds(FloatWeights form) {
  return form != FloatWeights::kDequantize;
}

/// What the file written for a platform looks like, beyond the quantization of each operator.
struct ExportRules {
  Placement placement = Placement::kOutputs;
  bool signed_activations = false;  // activations are stored as int8 or int16, not uint8 or uint16
  bool narrow_weights = true;       // symmetric weights leave out the lowest integer: [-127, 127]
  bool integer_bias = true;         // int32 with scale s_x * s_w; otherwise float
  bool fold_clamps = true;          // a Relu or Clip before a quantizer becomes that quantizer's range
  bool quantize_outputs = true;     // the model's outputs pass a quantizer where their operator has one
  RuntimeKernel unlisted_kernel = RuntimeKernel::kInteger;  // of operators that belong to no set
  bool warn_branch_points = false;                          // a tensor that several operators read costs speed
  FloatWeights float_weights = FloatWeights::kDequantize;
  bool half_scales = false;  // scales of blocks are stored in float16, and a Cast that the runtime folds widens them

  static constexpr auto fields() {
    using E = ExportRules;
    return std::make_tuple(
        field("placement", &E::placement,
              "Where quantizers stand: OUTPUTS of every operator, or OPERANDS of integer "
              "operators."),
        field("signed_activations", &E::signed_activations, "Activations are stored as signed integers."),
        field("narrow_weights", &E::narrow_weights, "Symmetric weights leave out the lowest integer."),
        field("integer_bias", &E::integer_bias, "The bias is int32 with the product of input and weight scale."),
        field("fold_clamps", &E::fold_clamps, "A Relu or Clip before a quantizer becomes the quantizer's range."),
        field("quantize_outputs", &E::quantize_outputs, "The model's outputs pass a quantizer."),
        field("unlisted_kernel", &E::unlisted_kernel, "How operators of no set are computed."),
        field("warn_branch_points", &E::warn_branch_points,
              "Say of each quantized tensor with several readers that its neighbours may run in float."),
        field("float_weights", &E::float_weights,
              "Weights that float arithmetic reads: after a DEQUANTIZE_LINEAR, after operators that a runtime FOLDs "
              "when it opens the file, or as MATMUL_NBITS where that is quick."),
        field("half_scales", &E::half_scales,
              "Scales of blocks are stored in float16, and widened once, when a runtime opens the file."));
  }
  bool operator==(const ExportRules&) const = default;
};

/// A platform: the modeled hardware with its name and version, and the rules of its files.
struct TargetPlatformCapabilities {
  TargetPlatformModel tp_model;
  std::string name = "base";
  int version = 1;
  std::string title;        // for people, such as "ONNX Runtime CPU"
  std::string description;  // one or two sentences
  ExportRules export_rules;
  std::optional<PriceList> prices;      // of its runtime; absent where nobody has measured them
  std::vector<PriceList> other_prices;  // on other processors, on which what runs in integers is to be quick as well

  explicit TargetPlatformCapabilities(TargetPlatformModel model, std::string label = "base", int version_number = 1)
      : tp_model(std::move(model)), name(std::move(label)), version(version_number) {}

  /// What the files for it say of it where add_metadata is set, key and value; else nothing.
  std::vector<std::pair<std::string, std::string>> metadata() const;
  /// First `prices`, then the others; empty where nobody has measured them.
  std::vector<const PriceList*> all_prices() const;
  RuntimeKernel kernel_of(std::string_view operators_set_name) const;
  bool operator==(const TargetPlatformCapabilities&) const = default;
};

}  // namespace tersor::tpc

template <>
struct tersor::EnumWords<tersor::tpc::Placement> {
  using P = tersor::tpc::Placement;
  static constexpr const char* kind = "placement";
  static constexpr std::pair<P, std::string_view> words[] = {{P::kOutputs, "OUTPUTS"}, {P::kOperands, "OPERANDS"}};
};

template <>
struct tersor::EnumWords<tersor::tpc::FloatWeights> {
  using F = tersor::tpc::FloatWeights;
  static constexpr const char* kind = "form of weights";
  static constexpr std::pair<F, std::string_view> words[] = {
      {F::kDequantize, "DEQUANTIZE_LINEAR"}, {F::kFold, "FOLD"}, {F::kMatMulNBits, "MATMUL_NBITS"}};
};
