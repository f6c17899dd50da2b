// SPDX-License-Identifier: Apache-2.0
// What ONNX takes for an attribute that a node does not have: one table for all operators of its own domain. Kernels,
// gradients, rewrites and filters ask it. An attribute whose default follows from the node (strides, for one) is not in
// it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/graph/graph.h"

namespace tersor {

using DefaultValue = std::variant<int64_t, float, std::string_view>;

/// The default in that operator set, or in the newest; none where ONNX has none.
std::optional<DefaultValue> default_of(std::string_view op_type, std::string_view name, int64_t opset);
std::optional<DefaultValue> default_of(std::string_view op_type, std::string_view name);

/// The attributes that have one.
std::vector<std::string_view> names_with_defaults(std::string_view op_type);

/// The node's attribute, or ONNX's default. Error kInternal where there is neither; an error of the model where the
/// attribute is of another type.
int64_t int_of(const Node& node, std::string_view name);
int64_t int_of(const Node& node, std::string_view name, int64_t opset);
float float_of(const Node& node, std::string_view name);
std::string string_of(const Node& node, std::string_view name);

}  // namespace tersor
