// SPDX-License-Identifier: Apache-2.0
// A Sum with a single operand changes no value, but ONNX Runtime's optimizer does not look behind it.
#pragma once

#include <string>

#include "core/graph/graph.h"

namespace tersor::ptq {

/// Creates such a Sum; its name is derived from `stem`.
Node one_operand_sum(const std::string& stem, ValueId operand, ValueId result);

bool is_one_operand_sum(const Node& node);

/// Inserts such a Sum in front of the first input of the node at index `place`. `stem` is passed by value because the
/// names in the graph move.
void read_through_sum(Graph& graph, size_t place, std::string stem);

}  // namespace tersor::ptq
