// SPDX-License-Identifier: Apache-2.0
// A Sum of one operand changes no value, and ONNX Runtime's optimizer does not see through it.
#pragma once

#include <string>

#include "core/graph/graph.h"

namespace tersor::ptq {

/// Named after `stem`.
Node one_operand_sum(const std::string& stem, ValueId operand, ValueId result);

bool is_one_operand_sum(const Node& node);

/// The node of that place reads its first input through such a Sum, which is put before it. `stem` by value: names
/// in the graph move.
void read_through_sum(Graph& graph, size_t place, std::string stem);

}  // namespace tersor::ptq
