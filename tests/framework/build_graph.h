// SPDX-License-Identifier: Apache-2.0
// Small graphs by hand for the tests of this room.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/graph/graph.h"

namespace tersor::test {

class GraphBuilder {
 public:
  Graph graph;

  ValueId input(const std::string& name) {
    const ValueId id = graph.add_value(name, DType::kFloat32);
    graph.inputs.push_back(id);
    return id;
  }
  ValueId constant(const std::string& name, Shape shape, std::vector<float> values = {}) {
    values.resize(static_cast<size_t>(shape.elements()), values.size() == 1 ? values[0] : 0.5f);
    return graph.add_initializer(name, Tensor::of<float>(std::move(shape), std::span<const float>(values)));
  }
  /// Adds a node with one output named after it.
  ValueId node(const std::string& type, const std::string& name, std::vector<ValueId> inputs,
               std::vector<std::pair<std::string, Attribute>> attributes = {}) {
    Node made;
    made.name = name;
    made.op_type = type;
    made.inputs = std::move(inputs);
    const ValueId out = graph.add_value(name + ":0", DType::kFloat32);
    made.outputs = {out};
    for (auto& [key, value] : attributes) made.attributes[key] = std::move(value);
    graph.append(std::move(made));
    return out;
  }
  void output(ValueId id) { graph.outputs.push_back(id); }
  const Node& named(const std::string& name) const {
    for (const Node& one : graph.nodes())
      if (one.name == name) return one;
    throw Error(ErrorCode::kInternal, "no node " + name);
  }
};

}  // namespace tersor::test
