// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "core/graph/graph.h"
#include "core/graph/uses.h"

namespace tersor {

/// An operator whose presence tells that a model is quantized: QuantizeLinear, DequantizeLinear, and those that compute
/// with integers or make them (QLinearConv, MatMulInteger, DynamicQuantizeLinear, MatMulNBits, ...).
bool is_quantized(const Node& node);

/// Codes that pass a table on their way, as an activation quantized by one: codes -> Cast -> Gather of a constant.
struct TableLookup {
  const Node* cast;
  const Node* gather;
};
/// The look-up that makes `value`, if any.
std::optional<TableLookup> table_lookup(const Graph& graph, const Uses& uses, ValueId value);

}  // namespace tersor
