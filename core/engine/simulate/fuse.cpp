// SPDX-License-Identifier: Apache-2.0
// Follows onnxruntime/core/optimizer/qdq_transformer (selectors and actions) with the conditions measured on its
// optimized graphs.
#include "core/simulate/fuse.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <variant>

#include "core/base/error.h"
#include "core/graph/attribute_defaults.h"
#include "core/graph/core_operator.h"
#include "core/graph/operators.h"
#include "core/graph/qdq.h"
#include "core/graph/quantized.h"
#include "core/graph/subgraphs.h"
#include "core/graph/uses.h"
#include "core/simulate/fuse_few_bits.h"
#include "core/simulate/fuse_rewrites.h"
#include "core/simulate/joined_bias.h"
#include "core/tensor/rounding.h"
#include "core/tflite/integer_model.h"

namespace tersor::simulate {

namespace {

using Reason = std::string;
/// The operator that a group becomes, or why it does not.
using Attempt = std::variant<Node, Reason>;

/// Everything a rule looks at: the graph, who reads what, and one operator with its dequantized inputs and quantized
/// output.
struct Group {
  Graph& graph;
  const Uses& uses;
  const Node& node;
  int64_t opset;
  Profile profile;
  std::vector<std::optional<QuantizationNode>> inputs;
  std::optional<QuantizedOutput> output;

  bool activation(size_t k) const {
    return k < inputs.size() && inputs[k] && inputs[k]->per_tensor() && inputs[k]->is_8_bit();
  }
  bool output_like(size_t k) const {
    return output && output->quantize.per_tensor() && output->quantize.dtype == inputs[k]->dtype;
  }
};

/// Off ARM the runtime makes int8 activations uint8, but for those that several operators read: these have no integer
/// kernel there. The reason, where one such tensor stands at the operator.
std::optional<Reason> refuse_branch_in_int8(const Group& group) {
  if (group.profile == Profile::kArm64) return std::nullopt;
  const auto refuse = [&](const QuantizationNode& tensor) -> std::optional<Reason> {
    if (tensor.dtype != DType::kInt8 || !tensor.per_tensor() || group.graph.initializer(tensor.raw) != nullptr)
      return std::nullopt;
    return "the int8 tensor \"" + group.graph.name_of(tensor.raw) +
           "\" has several readers, so the runtime leaves it int8 where it makes others uint8 and has integer kernels "
           "for them; quantize activations to uint8";
  };
  for (const auto& input : group.inputs)
    if (input)
      if (auto reason = refuse(*input)) return reason;
  return group.output ? refuse(group.output->quantize) : std::nullopt;
}

Reason types_differ(const Group& group) {
  return refuse_branch_in_int8(group).value_or("its inputs and output have different types");
}

ValueId zero_point_of(Graph& graph, const QuantizationNode& node) {
  if (node.zero_point.valid()) return node.zero_point;
  return graph.add_initializer(graph.name_of(node.scale) + "_no_zero_point",
                               Tensor::make(node.dtype, graph.initializer(node.scale)->shape()));
}

void push_quantized(Graph& graph, Node& node, const QuantizationNode& from) {
  node.inputs.insert(node.inputs.end(), {from.raw, from.scale, zero_point_of(graph, from)});
}

void push_parameters(Graph& graph, Node& node, const QuantizationNode& from) {
  node.inputs.insert(node.inputs.end(), {from.scale, zero_point_of(graph, from)});
}

Node fused_node(const Group& group, std::string domain, std::string type) {
  Node fused = group.node;
  fused.domain = std::move(domain);
  fused.op_type = std::move(type);
  fused.inputs.clear();
  if (group.output) fused.outputs = {group.output->quantize.raw};
  return fused;
}

/// float32(sx * sw[c]), as many as weight scales.
std::vector<float> sum_scales(const QuantizationNode& x, const QuantizationNode& w) {
  std::vector<float> scales;
  for (float scale : w.scales) scales.push_back(x.scales[0] * scale);
  return scales;
}

/// A Relu or Clip that alone reads the operator, and has one reader itself, hides what follows: no integer kernel then.
/// Those before a quantizer that does their work are gone by now.
const Node* clamp_in_the_way(const Group& group) {
  const ValueId result = group.node.outputs[0];
  const Node* reader = result.valid() ? only_reader(group.graph, group.uses, result) : nullptr;
  if (reader == nullptr || !has_trait(*reader, Trait::kClamp)) return nullptr;
  return only_reader(group.graph, group.uses, reader->outputs[0]) != nullptr ? reader : nullptr;
}

/// The int32 bias of a Conv or Gemm: an int32 DequantizeLinear of nearly the right scale, or a float constant quantized
/// as the runtime does it at load. Invalid id with no reason: there is no bias.
std::variant<ValueId, Reason> integer_bias(const Group& group, size_t k, const QuantizationNode& x,
                                           const QuantizationNode& w) {
  const Node& node = group.node;
  if (node.inputs.size() <= k || !node.inputs[k].valid()) return ValueId{};
  const std::vector<float> wanted = sum_scales(x, w);
  const auto scale_at = [&](size_t c) { return wanted[wanted.size() == 1 ? 0 : c]; };
  if (const auto& bias = group.inputs[k]) {
    if (bias->dtype != DType::kInt32) return Reason("its bias is not int32");
    for (size_t c = 0; c < bias->scales.size(); ++c) {
      const float expected = scale_at(c);
      if (std::fabs(bias->scales[c] - expected) > 0.01f * expected)
        return Reason("its bias scale is not the product of the scales of input and weight");
    }
    return bias->raw;
  }
  const Tensor* constant = group.graph.initializer(node.inputs[k]);
  if (constant == nullptr || constant->dtype() != DType::kFloat32) return Reason("its bias is not constant");
  if (!group.output) return Reason("its bias is float and its output is not quantized");
  Tensor bias = Tensor::make(DType::kInt32, constant->shape());
  const Tensor source = constant->aligned();
  const auto from = source.data<float>();
  auto to = bias.mutable_data<int32_t>();
  for (size_t c = 0; c < to.size(); ++c) {
    const double steps = static_cast<double>(round_half_even(from[c] / scale_at(c)));
    to[c] = std::isnan(steps) ? 0 : static_cast<int32_t>(std::min(std::max(steps, -2147483648.0), 2147483647.0));
  }
  return group.graph.add_initializer(group.graph.name_of(node.inputs[k]) + "_as_int32", std::move(bias));
}

/// A constant 8-bit weight with its channel axis, one zero point for all channels.
std::optional<Reason> refuse_weight(const Group& group, size_t k, int64_t channel_axis) {
  if (!group.inputs[k] || !group.inputs[k]->is_8_bit()) return Reason("its weight is not 8-bit");
  const QuantizationNode& w = *group.inputs[k];
  if (w.per_tensor()) return std::nullopt;
  const Tensor* constant = group.graph.initializer(w.raw);
  if (constant == nullptr) return Reason("its weight has several scales and is not constant");
  const int64_t rank = constant->shape().rank();
  const int64_t axis = w.axis < 0 ? w.axis + rank : w.axis;
  if (axis != (channel_axis < 0 ? channel_axis + rank : channel_axis))
    return Reason("its weight's scales run along another axis");
  for (int64_t zero_point : w.zero_points)
    if (zero_point != w.zero_points[0]) return Reason("its weight has several zero points");
  return std::nullopt;
}

/// Conv and MatMul of int8 activations have an integer kernel on ARM only, and with int8 weights.
std::optional<Reason> refuse_int8(const Group& group) {
  if (group.inputs[0]->dtype != DType::kInt8) return std::nullopt;
  if (group.inputs[1]->dtype != DType::kInt8) return Reason("an int8 input needs an int8 weight");
  if (group.profile == Profile::kArm64) return std::nullopt;
  return refuse_branch_in_int8(group).value_or("its input is int8, for which only ARM64 has an integer kernel");
}

Attempt fuse_conv(const Group& group) {
  if (!group.activation(0)) return Reason("its input is not 8-bit");
  if (const auto reason = refuse_weight(group, 1, 0)) return *reason;
  if (!group.output) return Reason("its output is not quantized");
  if (!group.output_like(0)) return types_differ(group);
  if (const auto reason = refuse_int8(group)) return *reason;
  const Tensor* weight = group.graph.initializer(group.inputs[1]->raw);
  if (weight != nullptr ? weight->shape().rank() > 4 : group.node.ints_or("kernel_shape", {}).size() > 2)
    return Reason("convolutions over three axes are computed here from the dequantized numbers");
  const auto bias = integer_bias(group, 2, *group.inputs[0], *group.inputs[1]);
  if (const Reason* reason = std::get_if<Reason>(&bias)) return *reason;
  Node fused = fused_node(group, "", "QLinearConv");
  push_quantized(group.graph, fused, *group.inputs[0]);
  push_quantized(group.graph, fused, *group.inputs[1]);
  push_parameters(group.graph, fused, group.output->quantize);
  if (const ValueId id = std::get<ValueId>(bias); id.valid()) fused.inputs.push_back(id);
  return fused;
}

Attempt fuse_matmul(const Group& group) {
  if (auto few_bits = matmul_of_few_bits(group.graph, group.uses, group.node)) return std::move(*few_bits);
  if (!group.activation(0)) return Reason("its first input is not 8-bit");
  if (const auto reason = refuse_weight(group, 1, -1)) return *reason;
  if (const auto reason = refuse_int8(group)) return *reason;
  if (group.output && !group.output_like(0)) return types_differ(group);
  if (group.output) {
    Node fused = fused_node(group, "", "QLinearMatMul");
    push_quantized(group.graph, fused, *group.inputs[0]);
    push_quantized(group.graph, fused, *group.inputs[1]);
    push_parameters(group.graph, fused, group.output->quantize);
    return fused;
  }
  Node fused = fused_node(group, "com.microsoft", "MatMulIntegerToFloat");
  const QuantizationNode &a = *group.inputs[0], &b = *group.inputs[1];
  fused.inputs = {a.raw, b.raw, a.scale, b.scale, zero_point_of(group.graph, a), zero_point_of(group.graph, b)};
  return fused;
}

Attempt fuse_gemm(const Group& group) {
  if (auto few_bits = matmul_of_few_bits(group.graph, group.uses, group.node)) return std::move(*few_bits);
  const Node& node = group.node;
  if (!group.activation(0)) return Reason("its first input is not 8-bit");
  if (int_of(node, "transA") != 0) return Reason("its first input is transposed");
  if (float_of(node, "alpha") != 1.0f || float_of(node, "beta") != 1.0f) return Reason("alpha or beta is not 1");
  const bool transposed = int_of(node, "transB") != 0;
  if (const auto reason = refuse_weight(group, 1, transposed ? 0 : 1)) return *reason;
  if (group.inputs[0]->dtype == DType::kInt8 && group.inputs[1]->dtype != DType::kInt8)
    return Reason("an int8 input needs an int8 weight");
  if (group.output && !group.output_like(0)) return types_differ(group);
  const auto bias = integer_bias(group, 2, *group.inputs[0], *group.inputs[1]);
  if (const Reason* reason = std::get_if<Reason>(&bias)) return *reason;
  Node fused = fused_node(group, "com.microsoft", "QGemm");
  push_quantized(group.graph, fused, *group.inputs[0]);
  push_quantized(group.graph, fused, *group.inputs[1]);
  fused.inputs.push_back(std::get<ValueId>(bias));
  if (group.output) push_parameters(group.graph, fused, group.output->quantize);
  return fused;
}

Attempt fuse_unary(const Group& group) {
  if (!group.activation(0)) return Reason("its input is not 8-bit");
  if (!group.output) return Reason("its output is not quantized");
  if (!group.output_like(0)) return types_differ(group);
  Node fused = fused_node(group, "com.microsoft", "QLinear" + group.node.op_type);
  push_quantized(group.graph, fused, *group.inputs[0]);
  push_parameters(group.graph, fused, group.output->quantize);
  if (group.node.op_type == "Softmax") {
    fused.attributes["opset"] = group.opset;
    fused.attributes["axis"] = int_of(group.node, "axis", group.opset);
  }
  return fused;
}

Attempt fuse_binary(const Group& group) {
  if (!group.activation(0) || !group.activation(1)) return Reason("one of its inputs is not 8-bit");
  if (!group.output) return Reason("its output is not quantized");
  if (group.inputs[0]->dtype != group.inputs[1]->dtype || !group.output_like(0)) return types_differ(group);
  Node fused = fused_node(group, "com.microsoft", "QLinear" + group.node.op_type);
  push_quantized(group.graph, fused, *group.inputs[0]);
  push_quantized(group.graph, fused, *group.inputs[1]);
  push_parameters(group.graph, fused, group.output->quantize);
  return fused;
}

Attempt fuse_concat(const Group& group) {
  for (size_t k = 0; k < group.inputs.size(); ++k)
    if (!group.activation(k)) return Reason("one of its inputs is not 8-bit");
  if (!group.output) return Reason("its output is not quantized");
  for (const auto& input : group.inputs)
    if (input->dtype != group.output->quantize.dtype) return types_differ(group);
  Node fused = fused_node(group, "com.microsoft", "QLinearConcat");
  push_parameters(group.graph, fused, group.output->quantize);
  for (const auto& input : group.inputs) push_quantized(group.graph, fused, *input);
  return fused;
}

using Fusion = Attempt (*)(const Group&);

/// What the preview knows of an operator of the model.
struct Rule {
  std::string_view op;
  /// Its float result is the runtime's to the bit: one rounded operation per element, a copy, or a function whose
  /// arithmetic is known (core/kernels/runtime_functions.h, runtime_softmax).
  bool exact_in_float;
  Fusion
      fusion;  // how it becomes the runtime's integer operator; null: it does not, or gives the same numbers in float
};

constexpr Rule kRules[] = {
    {"Abs", true, nullptr},           {"Add", true, fuse_binary},
    {"ArgMax", true, nullptr},        {"AveragePool", false, fuse_unary},
    {"Cast", true, nullptr},          {"Clip", true, nullptr},
    {"Concat", true, fuse_concat},    {"Conv", false, fuse_conv},
    {"Div", true, nullptr},           {"Expand", true, nullptr},
    {"Flatten", true, nullptr},       {"Gather", true, nullptr},
    {"Gemm", false, fuse_gemm},       {"GlobalAveragePool", false, fuse_unary},
    {"GlobalMaxPool", true, nullptr}, {"Identity", true, nullptr},
    {"LeakyRelu", true, fuse_unary},  {"MatMul", false, fuse_matmul},
    {"Max", true, nullptr},           {"MaxPool", true, nullptr},
    {"Min", true, nullptr},           {"Mul", true, fuse_binary},
    {"Neg", true, nullptr},           {"PRelu", true, nullptr},
    {"Pad", true, nullptr},           {"QuantizeLinear", true, nullptr},
    {"Relu", true, nullptr},          {"Reshape", true, nullptr},
    {"Resize", true, nullptr},        {"Sigmoid", true, fuse_unary},
    {"Slice", true, nullptr},         {"Softmax", true, fuse_unary},
    {"Softsign", true, nullptr},      {"Split", true, nullptr},
    {"Sqrt", true, nullptr},          {"Squeeze", true, nullptr},
    {"Sub", true, nullptr},           {"Tanh", true, nullptr},
    {"Tile", true, nullptr},          {"Transpose", true, nullptr},
    {"Unsqueeze", true, nullptr},     {"Where", true, nullptr},
};

const Rule* rule_for(const Node& node) {
  if (!node.domain.empty()) return nullptr;
  for (const Rule& rule : kRules)
    if (rule.op == node.op_type) return &rule;
  return nullptr;
}

bool exact_in_float(const Node& node) {
  if (node.domain == "com.tersor") return true;  // a mover that works on the integers already
  const Rule* const rule = rule_for(node);
  return rule != nullptr && rule->exact_in_float;
}

Group group_of(Graph& graph, const Uses& uses, const Node& node, int64_t opset, Profile profile) {
  Group group{graph, uses, node, opset, profile, {}, std::nullopt};
  for (ValueId id : node.inputs) group.inputs.push_back(dequantized(graph, uses, id));
  if (node.outputs.size() == 1 && node.outputs[0].valid()) group.output = quantized(graph, uses, node.outputs[0]);
  return group;
}

FloatIsland island(const Group& group, Reason reason, bool exact) {
  FloatIsland found{group.graph.label_of(group.node), group.node.op_type, std::move(reason), exact,
                    group.node.outputs[0]};
  if (group.output && group.output->quantize.per_tensor()) found.step = group.output->quantize.scales[0];
  return found;
}

void note_island(const Group& group, Reason reason, FusedModel& fused) {
  bool touches = false;
  for (const auto& input : group.inputs) touches = touches || input.has_value();
  const Node& node = group.node;
  const bool exact = exact_in_float(node);
  if (!touches && exact) return;
  if (!touches) reason = "what it reads is float";
  if (reason.empty()) reason = "the runtime has no integer kernel for " + node.op_type;
  fused.float_islands.push_back(island(group, std::move(reason), exact));
}

/// `product`: what the node becomes. Its output is not the node's where the bias after that joins it.
FloatIsland few_bits(const Group& group, const Node& product) {
  FloatIsland found = island(
      group, "its weights of few bits are multiplied with floats, or with floats that are made int8 block by block",
      false);
  found.output = product.outputs[0];
  return found;
}

/// Lets every operator whose pairs of products may saturate say in how many sums they do.
void count_saturation(FusedModel& fused, const std::map<NodeId, std::string>& sources) {
  static const std::set<std::string, std::less<>> kSaturating = {
      "QLinearConv", "QLinearMatMul", "QGemm", "MatMulIntegerToFloat", "DynamicQuantizeMatMul", "MatMulInteger"};
  Graph& graph = fused.model.graph;
  for (Node& node : graph.nodes()) {
    if (kSaturating.count(node.op_type) == 0 || node.outputs.size() != 1) continue;
    const ValueId counts = graph.add_unique_value(graph.label_of(node) + "_saturated", DType::kInt64);
    const auto source = sources.find(node.id);
    fused.saturations.push_back(
        {graph.label_of(node), source == sources.end() ? node.op_type : source->second, counts});
    node.outputs.push_back(counts);
  }
}

/// The Gemm that a product and the Add after it become; `output`: the quantizer after that.
Attempt fuse_joined(const Group& group, const JoinedBias& joined, std::optional<QuantizedOutput>& output) {
  const Reason because = "the runtime makes a Gemm of it and the bias after it";
  if (joined.in_float) return because + ", and finds no quantizer after that";
  Node gemm = group.node;
  gemm.op_type = "Gemm";
  gemm.inputs.push_back(joined.bias);
  gemm.outputs = group.graph.find(joined.add)->outputs;
  const Group of_gemm = group_of(group.graph, group.uses, gemm, group.opset, group.profile);
  output = of_gemm.output;
  Attempt attempt = fuse_gemm(of_gemm);
  if (Reason* reason = std::get_if<Reason>(&attempt)) *reason = because + ", and " + *reason;
  return attempt;
}

void fuse_groups(FusedModel& fused, Profile profile, bool counts_saturation,
                 const std::map<NodeId, JoinedBias>& joined) {
  Graph& graph = fused.model.graph;
  const Uses uses(graph);
  std::set<NodeId> gone;
  std::map<NodeId, std::string> sources;  // what the replacements were
  std::vector<std::pair<size_t, Node>> replacements;
  for (size_t i = 0; i < graph.nodes().size(); ++i) {
    const Node& node = graph.nodes()[i];
    if (node.outputs.empty()) continue;
    Group group = group_of(graph, uses, node, fused.model.opset(), profile);
    if (node.op_type == "MatMulNBits") fused.float_islands.push_back(few_bits(group, node));
    if (is_quantized(node)) continue;
    const Rule* rule = rule_for(node);
    const Fusion fusion = rule != nullptr ? rule->fusion : nullptr;
    const Node* clamp = fusion != nullptr ? clamp_in_the_way(group) : nullptr;
    const auto bias = joined.find(node.id);
    Attempt attempt = clamp != nullptr
                          ? Attempt("the runtime finds no integer kernel before the " + clamp->op_type + " after it")
                      : bias != joined.end() ? fuse_joined(group, bias->second, group.output)
                      : fusion != nullptr    ? fusion(group)
                                             : Attempt(Reason());
    if (Node* replacement = std::get_if<Node>(&attempt)) {
      if (replacement->op_type == "MatMulNBits")
        fused.float_islands.push_back(few_bits(group, *replacement));
      else if (is_core(node))
        fused.integer_nodes.push_back(graph.label_of(node));
      sources[node.id] = node.op_type;
      if (bias != joined.end()) gone.insert(bias->second.add);
      if (group.output) gone.insert(graph.nodes()[group.output->index].id);
      replacements.emplace_back(i, std::move(*replacement));
    } else {
      note_island(group, std::get<Reason>(attempt), fused);
    }
  }
  for (auto& [index, replacement] : replacements) graph.nodes()[index] = std::move(replacement);
  graph.erase_nodes([&](const Node& node) { return gone.count(node.id) != 0; });
  if (counts_saturation) count_saturation(fused, sources);
}

void import_domain(Model& model, std::string domain) {
  if (model.opset(domain) == 0) model.opset_imports.push_back({std::move(domain), 1});
}

}  // namespace

namespace {

bool is_quantized(const Graph& graph) {
  return std::any_of(graph.nodes().begin(), graph.nodes().end(), [](const Node& node) {
    bool is = tersor::is_quantized(node);
    for_each_subgraph(node, [&](const Graph& body) { is = is || is_quantized(body); });
    return is;
  });
}

/// Runtimes optimize bodies as they do the graph around them, whose constants they know there. What is counted in
/// bodies is not told.
void fuse_bodies(Model& model, Profile profile) {
  for (Node& node : model.graph.nodes())
    for (auto& [key, attribute] : node.attributes) {
      auto* const body = std::get_if<std::shared_ptr<const Graph>>(&attribute);
      if (body == nullptr || *body == nullptr || !is_quantized(**body)) continue;
      Model inner;
      inner.ir_version = model.ir_version;
      inner.opset_imports = model.opset_imports;
      inner.graph = **body;
      for (const std::string& name : captures(**body))
        if (const auto outer = model.graph.find(name))
          if (const Tensor* const constant = model.graph.initializer(*outer)) {
            const auto known = inner.graph.find(name);  // else a body further inside reads it
            inner.graph.set_initializer(known ? *known : inner.graph.add_value(name), *constant);
          }
      *body = std::make_shared<const Graph>(fuse(inner, profile).model.graph);
    }
}

}  // namespace

bool is_quantized(const Model& model) {
  return is_quantized(model.graph);
}

FusedModel fuse(const Model& model, Profile profile, bool counts_saturation) {
  if (tflite::is_integer_model(model)) return {model, {}, {}, {}};
  if (profile == Profile::kTfliteMicro) return {tflite::lowered_model(model), {}, {}, {}};
  FusedModel fused{model, {}, {}, {}};
  Graph& graph = fused.model.graph;
  fold_constant_nodes(fused.model);
  if (profile != Profile::kArm64) rewrite_int8_as_uint8(graph);
  move_quantization_up(graph);
  move_dequantization_down(graph);
  drop_identical_pairs(graph);
  const std::map<NodeId, JoinedBias> joined = joined_biases(fused.model);
  drop_clamps_before_quantization(graph);
  fuse_groups(fused, profile, counts_saturation || profile == Profile::kAvx2, joined);
  for (const char* domain : {"com.microsoft", "com.tersor"}) import_domain(fused.model, domain);
  fuse_bodies(fused.model, profile);
  return fused;
}

}  // namespace tersor::simulate
