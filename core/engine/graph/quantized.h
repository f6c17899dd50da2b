// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "core/graph/graph.h"
#include "core/graph/uses.h"

namespace tersor {

/// The domain of nodes that compute on the codes of an int8 .tflite file (core/tflite/operators.h).
inline constexpr std::string_view kTfliteDomain = "tflite";
/// An attribute of such a node that stands between the file's integers and the real numbers of samples: the file does
/// not have it.
inline constexpr std::string_view kFileEdge = "edge";
inline bool is_file_edge(const Node& node) {
  return node.domain == kTfliteDomain && node.int_or(kFileEdge, 0) != 0;
}

/// An operator whose presence tells that a model is quantized: QuantizeLinear, DequantizeLinear, and those that compute
/// with integers or make them (QLinearConv, MatMulInteger, DynamicQuantizeLinear, MatMulNBits, ..., and those of a
/// .tflite file).
bool is_quantized(const Node& node);

/// Codes that pass a table on their way, as an activation quantized by one: codes -> Cast -> Gather of a constant.
struct TableLookup {
  const Node* cast;
  const Node* gather;
};
/// The look-up that makes `value`, if any.
std::optional<TableLookup> table_lookup(const Graph& graph, const Uses& uses, ValueId value);

}  // namespace tersor
