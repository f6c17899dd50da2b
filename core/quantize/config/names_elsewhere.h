// SPDX-License-Identifier: Apache-2.0
// What the fields of QuantizationConfig are called in the tools that people come from.
#pragma once

#include <string_view>

namespace tersor::config {

struct NamesElsewhere {
  std::string_view field;
  std::string_view mct;  // Model Compression Toolkit 2; empty: none
  std::string_view ort;  // ONNX Runtime's quantize_static, "a=B" where a value stands for it; empty: none
};

/// Of a field of QuantizationConfig; a field without a row has no names elsewhere.
NamesElsewhere names_elsewhere(std::string_view field);

}  // namespace tersor::config
