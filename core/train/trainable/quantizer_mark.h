// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/quant/quantization_method.h"
#include "core/trainable/quantizer_config.h"

namespace tersor::trainable {

/// What a class of quantizers is for: exactly one class has a target, a method and an identifier together. Identifiers
/// are free words; here there are STE, LSQ, SOFT (rounding that is learned) and INFERABLE.
struct QuantizerMark {
  std::string class_name;
  QuantizationTarget quantization_target = QuantizationTarget::kWeights;
  std::vector<quant::QuantizationMethod> quantization_method;
  std::string identifier;

  /// "STEWeightQATQuantizer (Weights; POWER_OF_TWO, SYMMETRIC; STE)".
  std::string text() const;
};

inline constexpr const char* kInferable = "INFERABLE";

/// Error kInvalidConfig for a mark without class name, method or identifier.
void check(const QuantizerMark& mark);

/// The one of `marks` that fits. Error kInvalidConfig for none or several, listing what there is.
const QuantizerMark& select(const std::vector<const QuantizerMark*>& marks, QuantizationTarget target,
                            quant::QuantizationMethod method, const std::string& identifier);

}  // namespace tersor::trainable
