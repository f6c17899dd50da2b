// SPDX-License-Identifier: Apache-2.0
// Small models made in a few lines, for tests.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/graph/graph.h"

namespace tersor::test {

class ModelBuilder {
 public:
  explicit ModelBuilder(int64_t opset = 17) { model.opset_imports.push_back({"", opset}); }

  /// A graph input; a dimension of -1 may change from run to run.
  ValueId input(const std::string& name, const std::vector<int64_t>& dims, DType dtype = DType::kFloat32) {
    std::vector<Dim> declared;
    for (const int64_t dim : dims) declared.push_back(dim < 0 ? Dim{-1, "N"} : Dim{dim, {}});
    const ValueId id = model.graph.add_value(name, dtype, std::move(declared));
    model.graph.inputs.push_back(id);
    return id;
  }

  ValueId weight(Tensor tensor) { return model.graph.add_initializer("w", std::move(tensor)); }
  ValueId floats(Shape shape, const std::vector<float>& values) { return weight(Tensor::of<float>(shape, values)); }
  ValueId ints(const std::vector<int64_t>& values) {
    return weight(Tensor::of<int64_t>(Shape{static_cast<int64_t>(values.size())}, values));
  }

  using Attributes = std::vector<std::pair<std::string, Attribute>>;

  /// The node's only output; `type` may name a domain, as in "com.microsoft::Gelu".
  ValueId node(const std::string& type, std::vector<ValueId> inputs, const Attributes& attributes = {}) {
    return nodes(type, std::move(inputs), 1, attributes)[0];
  }

  std::vector<ValueId> nodes(const std::string& type, std::vector<ValueId> inputs, size_t outputs,
                             const Attributes& attributes = {}) {
    Node node;
    node.op_type = node.name = type;
    if (const size_t colons = type.find("::"); colons != std::string::npos) {
      node.domain = type.substr(0, colons);
      node.op_type = type.substr(colons + 2);
      if (model.opset(node.domain) == 0) model.opset_imports.push_back({node.domain, 1});
    }
    node.inputs = std::move(inputs);
    for (size_t k = 0; k < outputs; ++k) node.outputs.push_back(model.graph.add_unique_value(type));
    for (const auto& [key, value] : attributes) node.attributes[key] = value;
    std::vector<ValueId> made = node.outputs;
    model.graph.append(std::move(node));
    return made;
  }

  void output(ValueId id) { model.graph.outputs.push_back(id); }

  Model model;
};

}  // namespace tersor::test
