// SPDX-License-Identifier: Apache-2.0
#include "core/samples/graph_preset.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/graph/operators.h"
#include "core/graph/uses.h"

namespace tersor::samples {

namespace {

/// y = factor * x + offset, in the mean over channels.
struct Affine {
  double factor = 1, offset = 0;
};

bool passes_on(const Node& node) {
  return has_trait(node, Trait::kView | Trait::kReorders) || node.is("Cast");
}

std::optional<double> mean_of(const Graph& graph, const Node& node, size_t input) {
  if (input >= node.inputs.size() || !node.inputs[input].valid()) return std::nullopt;
  const Tensor* tensor = graph.initializer(node.inputs[input]);
  if (tensor == nullptr || tensor->dtype() != DType::kFloat32 || tensor->elements() == 0) return std::nullopt;
  const Tensor aligned = tensor->aligned();
  const auto values = aligned.data<float>();
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// What the node does to the value, where it is arithmetic with constants.
std::optional<Affine> affine_of(const Graph& graph, const Node& node, ValueId value) {
  const bool first = !node.inputs.empty() && node.inputs[0] == value;
  if (node.is("BatchNormalization") && first) {
    const auto scale = mean_of(graph, node, 1), shift = mean_of(graph, node, 2), mean = mean_of(graph, node, 3),
               variance = mean_of(graph, node, 4);
    if (!scale || !shift || !mean || !variance || *variance <= 0) return std::nullopt;
    // Scale and shift are learned; mean and variance are those of the numbers that came in.
    return Affine{1 / std::sqrt(*variance), -*mean / std::sqrt(*variance)};
  }
  if (node.inputs.size() != 2) return std::nullopt;
  const auto constant = mean_of(graph, node, first ? 1 : 0);
  if (!constant) return std::nullopt;
  if (node.is("Add")) return Affine{1, *constant};
  if (node.is("Mul")) return Affine{*constant, 0};
  if (node.is("Sub") && first) return Affine{1, -*constant};
  if (node.is("Div") && first && *constant != 0) return Affine{1 / *constant, 0};
  return std::nullopt;
}

}  // namespace

std::optional<std::string_view> preset_of_graph(const Graph& graph) {
  if (graph.inputs.size() != 1) return std::nullopt;
  const Uses uses(graph);
  Affine made;
  ValueId value = graph.inputs[0];
  while (uses.reader_count(value) == 1 && uses.reader_indices(value).size() == 1) {
    const Node& node = graph.nodes()[uses.reader_indices(value)[0]];
    if (node.outputs.empty() || !node.outputs[0].valid()) break;
    if (!passes_on(node)) {
      const auto step = affine_of(graph, node, value);
      if (!step) break;
      made = {made.factor * step->factor, made.offset * step->factor + step->offset};
      if (node.is("BatchNormalization")) break;
    }
    value = node.outputs[0];
  }
  if (made.factor == 1 && made.offset == 0) return std::nullopt;
  if (!std::isfinite(made.offset) || made.factor <= 0 || !std::isfinite(1 / made.factor)) return std::nullopt;
  const double mean = -made.offset / made.factor, deviation = 1 / made.factor;
  if (mean > 10 || deviation > 10) return "raw";
  if (mean > 0.2 && mean < 0.8 && deviation <= 0.6) return "unit";
  if (std::abs(mean) < 0.2 && deviation > 0.3 && deviation < 0.8) return "signed";
  return std::nullopt;
}

}  // namespace tersor::samples
