// SPDX-License-Identifier: Apache-2.0
#include "core/simulate/fuse_rewrites.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/graph/attribute_defaults.h"
#include "core/graph/clamp_bounds.h"
#include "core/graph/qdq.h"
#include "core/graph/runtime_operators.h"
#include "core/graph/uses.h"
#include "core/ops/constant.h"
#include "core/run/program.h"
#include "core/simulate/arithmetic.h"

namespace tersor::simulate {

namespace {

bool is_mover(const Node& node) {
  if (!node.domain.empty() || node.outputs.size() != 1) return false;
  if (node.op_type == "Resize")  // what is cropped from outside the picture is a number, no code
    return string_of(node, "mode") == "nearest" &&
           string_of(node, "coordinate_transformation_mode") != "tf_crop_and_resize";
  return has_runtime_trait(node, RuntimeTrait::kCarriesDown);
}

/// By value whether it becomes the integers of a DequantizeLinear, by whatever makes these but QuantizeLinear.
std::vector<bool> made_into_codes(const Graph& graph) {
  std::vector<bool> made(graph.value_count());
  const auto& nodes = graph.nodes();
  for (size_t k = nodes.size(); k-- > 0;) {
    const Node& node = nodes[k];
    if (node.is("DequantizeLinear")) {
      made[node.inputs[0].index] = true;
    } else if (!node.is("QuantizeLinear") && std::any_of(node.outputs.begin(), node.outputs.end(),
                                                         [&](ValueId id) { return id.valid() && made[id.index]; })) {
      for (const ValueId input : node.inputs)
        if (input.valid()) made[input.index] = true;
    }
  }
  return made;
}

/// It is one of those that stand between a weight and its DequantizeLinear, whose integers may be packed.
bool is_folded(const Graph& graph, const Node& node, const std::vector<bool>& codes) {
  static const std::set<std::string, std::less<>> kFolded = {
      "QuantizeLinear", "Identity", "Cast", "Transpose", "Reshape", "Squeeze", "Unsqueeze", "BitShift", "Split"};
  static const std::set<std::string, std::less<>> kFoldedIntoCodes = {"Add", "Sub", "Mul", "Round", "Slice"};
  if (!node.domain.empty() || node.inputs.empty() || !node.inputs[0].valid()) return false;
  if (kFolded.count(node.op_type) != 0) return true;
  const Tensor* const first = graph.initializer(node.inputs[0]);
  return kFoldedIntoCodes.count(node.op_type) != 0 && first != nullptr &&
         (first->dtype() == DType::kInt32 || codes[node.outputs[0].index]);
}

/// What such a node makes of initializers; nothing for others.
std::vector<Tensor> folded(const Model& model, const Node& node, const std::vector<bool>& codes) {
  if (!is_folded(model.graph, node, codes)) return {};
  Model alone;
  alone.opset_imports = model.opset_imports;
  Node copy = node;
  for (ValueId& input : copy.inputs) {
    if (!input.valid()) continue;
    const Tensor* const given = model.graph.initializer(input);
    if (given == nullptr) return {};
    input = alone.graph.add_initializer("given", *given);
  }
  for (ValueId& output : copy.outputs) output = alone.graph.add_unique_value("made");
  alone.graph.outputs = copy.outputs;
  alone.graph.append(std::move(copy));
  try {
    return run::Runner(run::Program::compile(alone, ops::standard())).run({});
  } catch (const Error&) {
    return {};  // said with its place when the whole is compiled
  }
}

/// How often nodes read the value: an operator that takes it twice counts twice.
int64_t times_read(const Graph& graph, const Uses& uses, ValueId value) {
  int64_t times = uses.is_output(value) ? 1 : 0;
  for (const size_t reader : uses.reader_indices(value)) {
    const auto& reads = graph.nodes()[reader].inputs;
    times += std::max<int64_t>(1, std::count(reads.begin(), reads.end(), value));
  }
  return times;
}

/// Moves a QuantizeLinear over the operator that makes what it reads. Returns the index of that operator; nothing,
/// and nothing changed, where it may not be moved over. `uses` is of the graph before any such move.
std::optional<size_t> carry_up(Graph& graph, const Uses& uses, Node& node) {
  const auto quantize = as_quantization(graph, node, "QuantizeLinear");
  if (!quantize || !quantize->per_tensor() || !quantize->is_8_bit()) return std::nullopt;
  const auto index = uses.producer_index(quantize->real);
  if (!index || only_reader(graph, uses, quantize->real) == nullptr) return std::nullopt;
  Node& mover = graph.nodes()[*index];
  if (!mover.domain.empty() || mover.outputs.size() != 1 || !has_runtime_trait(mover, RuntimeTrait::kCarriesUp))
    return std::nullopt;
  const ValueId moved = mover.inputs[0];
  const auto maker = uses.producer_index(moved);
  if (!maker || graph.nodes()[*maker].is("DequantizeLinear") || times_read(graph, uses, moved) != 1)
    return std::nullopt;
  const ValueId raw = graph.add_unique_value(graph.name_of(moved) + "_moved", quantize->dtype);
  node.inputs[0] = moved;
  node.outputs[0] = mover.inputs[0] = raw;
  mover.outputs[0] = quantize->raw;
  if (mover.op_type == "MaxPool") mover.domain = "com.tersor";
  return index;
}

}  // namespace

void fold_constant_nodes(Model& model) {
  const std::vector<bool> codes = made_into_codes(model.graph);
  std::set<NodeId> gone;
  for (const Node& node : model.graph.nodes()) {
    if (!std::all_of(node.outputs.begin(), node.outputs.end(), [](ValueId id) { return id.valid(); })) continue;
    std::vector<Tensor> values;
    if (!node.is("Constant"))
      values = folded(model, node, codes);
    else if (std::optional<Tensor> value = ops::constant_value(node))
      values.push_back(*std::move(value));
    if (values.empty() || bits_of(values[0].dtype()) == 0) continue;
    for (size_t k = 0; k < values.size(); ++k) model.graph.set_initializer(node.outputs[k], std::move(values[k]));
    gone.insert(node.id);
  }
  model.graph.erase_nodes([&](const Node& node) { return gone.count(node.id) != 0; });
}

void rewrite_int8_as_uint8(Graph& graph) {
  const Uses uses(graph);
  for (size_t i = 0; i < graph.nodes().size(); ++i) {
    const auto quantize = as_quantization(graph, graph.nodes()[i], "QuantizeLinear");
    if (!quantize || quantize->dtype != DType::kInt8 || !quantize->per_tensor() || !quantize->zero_point.valid())
      continue;
    const auto& readers = uses.reader_indices(quantize->raw);
    if (readers.size() != 1 || uses.is_output(quantize->raw)) continue;
    const auto dequantize = as_quantization(graph, graph.nodes()[readers[0]], "DequantizeLinear");
    if (!dequantize || !dequantize->zero_point.valid() || dequantize->dtype != DType::kInt8 ||
        !dequantize->per_tensor())
      continue;
    // The optimizer has by then given each reader a DequantizeLinear of its own: two readers are two consumers of the
    // pair.
    if (times_read(graph, uses, dequantize->real) != 1) continue;
    const auto shifted = [&](const QuantizationNode& node) {
      return graph.add_initializer(graph.name_of(node.zero_point) + "_as_uint8",
                                   Tensor::scalar(static_cast<uint8_t>(node.zero_points[0] + 128)));
    };
    const ValueId for_quantize = shifted(*quantize), for_dequantize = shifted(*dequantize);
    graph.nodes()[i].inputs[2] = for_quantize;
    graph.nodes()[readers[0]].inputs[2] = for_dequantize;
    graph.value(quantize->raw).dtype = DType::kUint8;
  }
}

void move_quantization_up(Graph& graph) {
  const Uses uses(graph);
  auto& nodes = graph.nodes();
  std::vector<std::optional<size_t>> ahead(nodes.size());  // by node: what has moved before it
  std::vector<bool> has_moved(nodes.size(), false);
  for (size_t i = nodes.size(); i-- > 0;) {
    std::optional<size_t> mover;
    while (const auto next = carry_up(graph, uses, nodes[i])) mover = next;
    if (!mover) continue;
    ahead[*mover] = i;
    has_moved[i] = true;
  }
  std::vector<Node> ordered;
  ordered.reserve(nodes.size());
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (has_moved[i]) continue;
    if (ahead[i]) ordered.push_back(std::move(nodes[*ahead[i]]));
    ordered.push_back(std::move(nodes[i]));
  }
  nodes = std::move(ordered);
}

void move_dequantization_down(Graph& graph) {
  std::map<ValueId, QuantizationNode> restored;  // by the float side
  std::vector<Node> nodes = std::move(graph.nodes());
  graph.nodes().clear();
  const auto keep = [&](Node node) {
    if (const auto found = as_quantization(graph, node, "DequantizeLinear"))
      if (found->per_tensor() && found->is_8_bit()) restored[found->real] = *found;
    graph.nodes().push_back(std::move(node));
  };
  for (Node& node : nodes) {
    const auto dequantize = is_mover(node) ? restored.find(node.inputs[0]) : restored.end();
    if (dequantize == restored.end()) {
      keep(std::move(node));
      continue;
    }
    const QuantizationNode before = dequantize->second;
    const ValueId real = node.outputs[0];
    const ValueId raw = graph.add_unique_value(graph.name_of(real) + "_moved", before.dtype);
    Node after;
    after.op_type = "DequantizeLinear";
    after.inputs = {raw, before.scale};
    if (before.zero_point.valid()) after.inputs.push_back(before.zero_point);
    after.outputs = {real};
    node.inputs[0] = before.raw;
    node.outputs[0] = raw;
    if (node.op_type == "MaxPool") node.domain = "com.tersor";
    graph.nodes().push_back(std::move(node));
    graph.append(std::move(after));
    restored[real] = *as_quantization(graph, graph.nodes().back(), "DequantizeLinear");
  }
}

void drop_identical_pairs(Graph& graph) {
  // No value that is read in another's place loses its readers later: it is made further up.
  const Uses uses(graph);
  for (const Node& node : graph.nodes()) {
    const auto quantize = as_quantization(graph, node, "QuantizeLinear");
    if (!quantize) continue;
    const auto dequantize = dequantized(graph, uses, quantize->real);
    if (!dequantize || !dequantize->same_parameters(*quantize) || !quantize->per_tensor() ||
        uses.is_output(quantize->raw))
      continue;
    for (const size_t reader : uses.reader_indices(quantize->raw)) {
      auto& inputs = graph.nodes()[reader].inputs;
      std::replace(inputs.begin(), inputs.end(), quantize->raw, dequantize->raw);
    }
  }
}

void drop_clamps_before_quantization(Graph& graph) {
  // Of several clamps in a row the last is dropped first.
  for (std::set<NodeId> gone; true; gone.clear()) {
    const Uses uses(graph);
    for (const Node& node : graph.nodes()) {
      const auto bounds = clamp_bounds(graph, node);
      if (!bounds) continue;
      const auto output = quantized(graph, uses, node.outputs[0]);
      if (!output || !output->quantize.per_tensor() || !output->quantize.is_8_bit()) continue;
      const QuantizationNode& to = output->quantize;
      const Grid grid{to.scales[0], static_cast<int32_t>(to.zero_points[0]), to.dtype == DType::kInt8};
      const float low = grid.scale * static_cast<float>(grid.low() - grid.zero_point);
      const float high = grid.scale * static_cast<float>(grid.high() - grid.zero_point);
      if (static_cast<double>(low) < bounds->low || static_cast<double>(high) > bounds->high) continue;
      gone.insert(node.id);
      graph.nodes()[output->index].inputs[0] = node.inputs[0];
    }
    if (gone.empty()) return;
    graph.erase_nodes([&](const Node& node) { return gone.count(node.id) != 0; });
  }
}

}  // namespace tersor::simulate
