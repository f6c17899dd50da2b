// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/graph/graph.h"

namespace tersor::onnx {

/// What is known of a value before any run. Dimensions that are not known are -1.
struct Fact {
  DType dtype = DType::kUndefined;
  std::optional<std::vector<int64_t>> dims;
  std::optional<Tensor> constant;
};

/// Types and ranks of a model's values, as far as declarations and the commonest operators tell; gathered graph by
/// graph and node by node in their order. Kept by name, so that a subgraph sees what lies around it.
class Facts {
 public:
  /// Takes in inputs and initializers.
  void enter(const Graph& graph);
  /// Takes in a node's outputs. Its attributes are those of an opset before 13.
  void pass(const Graph& graph, const Node& node);

  /// Of an input of a node; empty for an absent one.
  Fact of(const Graph& graph, const Node& node, size_t input) const;
  bool knows_name(const std::string& name) const { return facts_.count(name) != 0; }

 private:
  std::unordered_map<std::string, Fact> facts_;
};

}  // namespace tersor::onnx
