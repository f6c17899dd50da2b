// SPDX-License-Identifier: Apache-2.0
// The names of QuantizationConfig's fields in other tools.
#pragma once

#include <string_view>

namespace tersor::config {

/// A field and its names in other tools.
struct NamesElsewhere {
  std::string_view field;
  std::string_view mct;  // Model Compression Toolkit 2; empty: none
  std::string_view ort;  // ONNX Runtime's quantize_static, "a=B" where a value stands for it; empty: none
};

/// The names of a field of QuantizationConfig elsewhere; both are empty for a field without a row.
NamesElsewhere names_elsewhere(std::string_view field);

/// The field of QuantizationConfig that another tool's name is for; empty: none.
std::string_view field_named_elsewhere(std::string_view name);

}  // namespace tersor::config
