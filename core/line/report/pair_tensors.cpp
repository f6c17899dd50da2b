// SPDX-License-Identifier: Apache-2.0
#include "core/report/pair_tensors.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>

#include "core/base/sort_stably.h"
#include "core/correct/smooth_inputs.h"
#include "core/export/added_names.h"
#include "core/graph/attribute_defaults.h"
#include "core/graph/core_operator.h"
#include "core/graph/operators.h"
#include "core/graph/uses.h"

namespace tersor::report {

namespace {

// Tools name the two ends of a pair after the tensor.
constexpr std::string_view kSuffixes[] = {ptq::kRestored,    "_DequantizeLinear", "_QuantizeLinear_Input",
                                          "_QuantizeLinear", "_dequantized",      ptq::kCodes};

std::optional<ValueId> find_tensor(const Graph& graph, std::string name) {
  if (const auto found = graph.find(name)) return found;
  for (std::string_view suffix : kSuffixes)
    if (name.size() > suffix.size() && name.compare(name.size() - suffix.size(), suffix.size(), suffix) == 0)
      if (const auto found = graph.find(name.substr(0, name.size() - suffix.size()))) return found;
  return std::nullopt;
}

/// The node that a reader would call the layer of this tensor: the producer, or what stands before its Relu, Clip or
/// BatchNormalization.
const Node* layer_of(const Graph& graph, const Uses& uses, ValueId value) {
  const auto index = uses.producer_index(value);
  if (!index) return nullptr;
  const Node* node = &graph.nodes()[*index];
  while (has_trait(*node, Trait::kClamp) || node->is("BatchNormalization")) {
    const auto before = uses.producer_index(node->inputs[0]);
    if (!before || uses.reader_count(node->inputs[0]) != 1) break;
    node = &graph.nodes()[*before];
  }
  return node;
}

int channel_axis(const Node& node, int rank) {
  if (node.is("ConvTranspose")) return 1;
  if (node.is("Gemm")) return int_of(node, "transB") != 0 ? 0 : 1;
  return node.is("MatMul") ? rank - 1 : 0;
}

std::vector<double> largest_by_channel(const Tensor& weight, int axis) {
  const Tensor tensor = weight.aligned();
  const auto values = tensor.data<float>();
  const Shape& shape = weight.shape();
  const auto channels = static_cast<size_t>(shape[axis]),
             inner = static_cast<size_t>(shape.elements(axis + 1, shape.rank()));
  std::vector<double> largest(channels, 0.0);
  for (size_t i = 0; i < values.size(); ++i) {
    double& most = largest[i / inner % channels];
    most = std::max(most, static_cast<double>(std::fabs(values[i])));
  }
  return largest;
}

void describe_weights(const Graph& graph, const Node& node, LayerRow& row) {
  if (!is_core(node) || node.inputs.size() < 2) return;
  const Tensor* weight = graph.initializer(node.inputs[1]);
  if (weight == nullptr || weight->dtype() != DType::kFloat32 || weight->shape().rank() < 2) return;
  const Shape& shape = weight->shape();
  row.weight_max = largest_by_channel(*weight, channel_axis(node, shape.rank()));
  row.detail = std::to_string(shape[0]) + "×" + std::to_string(shape[1]);
  for (int axis = 2; axis < shape.rank(); ++axis) row.detail += (axis == 2 ? " " : "×") + std::to_string(shape[axis]);
}

TensorPair describe(const Graph& graph, const Uses& uses, ValueId value, const QuantizationNode& parameters) {
  TensorPair pair;
  LayerRow& row = pair.row;
  row.output = graph.name_of(value);
  const Node* layer = layer_of(graph, uses, value);
  row.name = layer == nullptr || layer->name.empty() ? row.output : layer->name;
  row.op = layer == nullptr ? "Input" : layer->op_type;
  if (layer != nullptr) describe_weights(graph, *layer, row);
  const bool is_signed = parameters.dtype == DType::kInt8 || parameters.dtype == DType::kInt16;
  const double codes = std::ldexp(1.0, bits_of(parameters.dtype));
  const double lowest = is_signed ? -codes / 2 : 0, scale = parameters.scales[0],
               zero = static_cast<double>(parameters.zero_points[0]);
  pair.low = (lowest - zero) * scale;
  pair.high = (lowest + codes - 1 - zero) * scale;
  row.range = {pair.low, pair.high};
  row.scale = scale;
  row.zero_point = parameters.zero_points[0];
  row.type = tersor::name_of(parameters.dtype);
  return pair;
}

/// What a reader knows the tensor as.
ValueId before_smoothing(const Graph& graph, ValueId value) {
  const std::string& name = graph.name_of(value);
  if (!name.ends_with(ptq::kSmoothed)) return value;
  return graph.find(name.substr(0, name.size() - ptq::kSmoothed.size())).value_or(value);
}

}  // namespace

std::map<std::string, std::string> quantized_inputs(const Graph& quantized) {
  std::map<std::string, std::string> names;
  for (const Node& node : quantized.nodes())
    if (const auto found = as_quantization(quantized, node, "QuantizeLinear"))
      names[quantized.name_of(found->raw)] = quantized.name_of(found->real);
  // Codes of fewer bits than their type has are clipped before they are restored.
  for (const Node& node : quantized.nodes())
    if (node.is("Clip"))
      if (const auto found = names.find(quantized.name_of(node.inputs[0])); found != names.end())
        names.emplace(quantized.name_of(node.outputs[0]), found->second);
  return names;
}

namespace {

/// The nodes that make the named tensor of tensors that the float graph has, in their order. Empty where others than
/// those of a smoothing take part (correct/smooth_inputs.h).
std::vector<size_t> way_to(const Graph& quantized, const Uses& uses, const std::string& name,
                           const Graph& float_graph) {
  constexpr size_t kMost = 6;
  std::set<size_t> way;
  std::vector<ValueId> needed;
  if (const auto value = quantized.find(name)) needed.push_back(*value);
  while (!needed.empty()) {
    const ValueId value = needed.back();
    needed.pop_back();
    if (quantized.initializer(value) != nullptr || float_graph.find(quantized.name_of(value))) continue;
    const auto maker = uses.producer_index(value);
    if (!maker) return {};
    const Node& node = quantized.nodes()[*maker];
    constexpr const char* kTypes[] = {"Mul", "Add", "LayerNormalization", "Abs", "ReduceMax", "Max", "Div"};
    if (std::none_of(std::begin(kTypes), std::end(kTypes), [&](const char* type) { return node.is(type); })) return {};
    if (way.insert(*maker).second)
      for (const ValueId input : node.inputs)
        if (input.valid()) needed.push_back(input);
    if (way.size() > kMost) return {};
  }
  return {way.begin(), way.end()};
}

}  // namespace

Model with_rewritten_inputs(const Model& float_model, const Graph& quantized) {
  Model model = float_model;
  const Uses uses(quantized);
  for (const auto& [raw, name] : quantized_inputs(quantized)) {
    if (!name.ends_with(ptq::kSmoothed)) continue;
    for (const size_t index : way_to(quantized, uses, name, float_model.graph)) {
      Node node = quantized.nodes()[index];
      const std::string output = quantized.name_of(node.outputs[0]);
      if (model.graph.find(output)) continue;  // another quantizer's way passed here
      for (ValueId& input : node.inputs)
        if (input.valid()) {
          const Tensor* constant = quantized.initializer(input);
          const std::string& named = quantized.name_of(input);
          input = constant != nullptr ? model.graph.add_initializer(named, *constant) : *model.graph.find(named);
        }
      node.outputs = {model.graph.add_unique_value(output, DType::kFloat32)};
      model.graph.append(std::move(node));
    }
  }
  return model;
}

std::vector<PairedTensor> pair_tensors(const Graph& float_graph, const Graph& quantized, const Graph& fused) {
  const Uses uses(float_graph);
  const auto sources = quantized_inputs(quantized);
  std::vector<PairedTensor> paired;
  std::set<ValueId> seen;
  for (const Node& node : fused.nodes()) {
    const auto found = as_quantization(fused, node, "DequantizeLinear");
    if (!found || !found->per_tensor() || fused.initializer(found->raw) != nullptr || seen.count(found->raw) != 0)
      continue;
    const auto source = sources.find(fused.name_of(found->raw));
    auto value = source == sources.end() ? std::nullopt : find_tensor(float_graph, source->second);
    if (!value) value = find_tensor(float_graph, fused.name_of(found->real));
    if (!value || float_graph.initializer(*value) != nullptr) continue;
    seen.insert(found->raw);
    paired.push_back({*value, found->raw, found->real, *found,
                      describe(float_graph, uses, before_smoothing(float_graph, *value), *found)});
  }
  const auto position = [&](const PairedTensor& one) {
    const auto producer = uses.producer_index(before_smoothing(float_graph, one.in_float));
    return producer ? static_cast<int64_t>(*producer) : int64_t{-1};
  };
  sort_stably(paired, [&](const auto& a, const auto& b) { return position(a) < position(b); });
  return paired;
}

}  // namespace tersor::report
