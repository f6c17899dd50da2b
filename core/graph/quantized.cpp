// SPDX-License-Identifier: Apache-2.0
#include "core/graph/quantized.h"

#include <algorithm>
#include <array>

namespace tersor {

bool is_quantized(const Node& node) {
  static constexpr std::array<std::string_view, 9> kTypes = {
      "QuantizeLinear",        "DequantizeLinear",     "DynamicQuantizeLinear",
      "DynamicQuantizeMatMul", "ConvInteger",          "MatMulInteger",
      "MatMulNBits",           "MatMulIntegerToFloat", "QGemm"};
  return node.op_type.rfind("QLinear", 0) == 0 || std::find(kTypes.begin(), kTypes.end(), node.op_type) != kTypes.end();
}

}  // namespace tersor
