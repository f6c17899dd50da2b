// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tersor::onnx {

/// True for every operator name that ONNX's own domain has or had, and for the domains of ONNX and ONNX Runtime
/// whatever the name.
bool is_known_operator(std::string_view domain, std::string_view op_type);

/// Every operator name that ONNX's own domain has or had.
std::vector<std::string> operator_names();

/// True when that version of ONNX's own operator set has the operator.
bool is_in_opset(std::string_view op_type, int64_t version);

}  // namespace tersor::onnx
