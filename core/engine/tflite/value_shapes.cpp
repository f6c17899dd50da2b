// SPDX-License-Identifier: Apache-2.0
#include "core/tflite/value_shapes.h"

#include "core/ops/registry.h"
#include "core/run/ports.h"
#include "core/run/program.h"

namespace tersor::tflite {

std::optional<std::vector<std::optional<Dims>>> value_shapes(const Model& model) {
  const Graph& graph = model.graph;
  const auto sample = run::shapes_of_one_sample(graph);
  if (!sample) return std::nullopt;
  const auto program = run::Program::compile(model, ops::standard(), run::sizes_of_all(graph));
  std::vector<std::optional<Dims>> shapes;
  for (const auto& type : program->value_types(*sample))
    shapes.push_back(type ? std::optional<Dims>(type->shape.dims()) : std::nullopt);
  shapes.resize(graph.value_count());
  for (const auto& [value, tensor] : graph.initializers())
    shapes[static_cast<size_t>(value.index)] = tensor.shape().dims();
  for (const Node& node : graph.nodes())
    if (node.op_type == "DequantizeLinear" && graph.initializer(node.inputs[0]) != nullptr)
      shapes[static_cast<size_t>(node.outputs[0].index)] = graph.initializer(node.inputs[0])->shape().dims();
  return shapes;
}

}  // namespace tersor::tflite
