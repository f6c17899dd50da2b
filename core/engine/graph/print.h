// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/graph/graph.h"

namespace tersor {

/// A graph as text, one line per initializer and node in their order, for tests, dumps and bug reports:
///
///   graph "main" (x: float32[N,3,4]) -> (y: float32[N,8])
///     w: float32[3,8]
///     t = Transpose(x) {perm = [0, 2, 1]} "turn"
///     y = com.example::Twice(t, w, _)
///
/// `_` is an absent optional input or output; subgraphs follow their node, indented.
std::string to_text(const Graph& graph);

/// "float32[N,3,?]", "uint8[...]" where the shape is not declared, "?" where nothing is.
std::string type_text(const Value& value);

}  // namespace tersor
