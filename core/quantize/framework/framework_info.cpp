// SPDX-License-Identifier: Apache-2.0
#include "core/framework/framework_info.h"

#include <algorithm>
#include <string_view>

#include "core/base/names.h"

namespace tersor::framework {

namespace {

/// What of an operator is quantized.
enum Quantized { kKernel, kActivation, kNotQuantized };  // kKernel: its output, too

/// The part of an operator's record (core/graph/operators.h) that quantization needs.
struct OperatorPart {
  std::string_view name;
  Quantized quantized;
  ValueBounds bounds = {};  // of its output, whatever its input
  std::optional<KernelChannels> channels = {};
};

constexpr OperatorPart kOperators[] = {
    {"Conv", kKernel, {}, KernelChannels{0, 1}},
    {"ConvTranspose", kKernel, {}, KernelChannels{1, 0}},
    {"Gemm", kKernel, {}, KernelChannels{1, 0}},
    {"MatMul", kKernel, {}, KernelChannels{1, 0}},
    {"Add", kActivation},
    {"Sub", kActivation},
    {"Mul", kActivation},
    {"Div", kActivation},
    {"Min", kActivation},
    {"Max", kActivation},
    {"Pow", kActivation},
    {"Sqrt", kActivation, {0.0, {}}},
    {"Exp", kActivation, {0.0, {}}},
    {"Log", kActivation},
    {"Sin", kActivation, {-1.0, 1.0}},
    {"Cos", kActivation, {-1.0, 1.0}},
    {"Abs", kActivation, {0.0, {}}},
    {"Neg", kActivation},
    {"Erf", kActivation, {-1.0, 1.0}},
    {"Where", kActivation},
    {"Relu", kActivation, {0.0, {}}},
    {"Clip", kActivation},
    {"LeakyRelu", kActivation},
    {"Elu", kActivation},
    {"Celu", kActivation},
    {"Selu", kActivation},
    {"PRelu", kActivation},
    {"Sigmoid", kActivation, {0.0, 1.0}},
    {"Tanh", kActivation, {-1.0, 1.0}},
    {"HardSwish", kActivation, {-0.375, {}}},
    {"HardSigmoid", kActivation, {0.0, 1.0}},
    {"Gelu", kActivation, {-0.17, {}}},
    {"Mish", kActivation, {-0.3088, {}}},
    {"Softplus", kActivation, {0.0, {}}},
    {"Softsign", kActivation, {-1.0, 1.0}},
    {"ThresholdedRelu", kActivation, {0.0, {}}},
    {"Softmax", kActivation, {0.0, 1.0}},
    {"LogSoftmax", kActivation, {{}, 0.0}},
    {"LpNormalization", kActivation, {-1.0, 1.0}},
    {"BatchNormalization", kActivation},
    {"InstanceNormalization", kActivation},
    {"LayerNormalization", kActivation},
    {"Concat", kActivation},
    {"Gather", kActivation},
    {"GatherElements", kActivation},
    {"GatherND", kActivation},
    {"Slice", kActivation},
    {"Split", kActivation},
    {"Expand", kActivation},
    {"Tile", kActivation},
    {"Flatten", kActivation},
    {"Reshape", kActivation},
    {"Squeeze", kActivation},
    {"Unsqueeze", kActivation},
    {"Transpose", kActivation},
    {"Dropout", kActivation},
    {"Identity", kActivation},
    {"MaxPool", kActivation},
    {"GlobalMaxPool", kActivation},
    {"AveragePool", kActivation},
    {"GlobalAveragePool", kActivation},
    {"Pad", kActivation},
    {"Resize", kActivation},
    {"Upsample", kActivation},
    {"DepthToSpace", kActivation},
    {"SpaceToDepth", kActivation},
    {"ReduceMean", kActivation},
    {"ReduceSum", kActivation},
    {"ReduceMax", kActivation},
    {"ReduceMin", kActivation},
    {"ReduceProd", kActivation},
    {"ReduceL2", kActivation},
    {"LRN", kActivation},
    {"Shape", kNotQuantized},
    {"Size", kNotQuantized},
    {"ArgMax", kNotQuantized},
    {"ArgMin", kNotQuantized},
    {"NonMaxSuppression", kNotQuantized},
    {"NonZero", kNotQuantized},
    {"Equal", kNotQuantized},
    {"Not", kNotQuantized},
    {"And", kNotQuantized},
    {"Or", kNotQuantized},
    {"Less", kNotQuantized},
    {"Greater", kNotQuantized},
    {"Constant", kNotQuantized},
    {"ConstantOfShape", kNotQuantized},
    {"Range", kNotQuantized},
    {"QuantizeLinear", kNotQuantized},
    {"DequantizeLinear", kNotQuantized},
};

std::optional<double> number(const Graph& graph, const Node& node, const char* attribute) {
  const auto found = filter_value(graph, node, attribute);
  if (!found || !std::holds_alternative<double>(*found)) return std::nullopt;
  return std::get<double>(*found);
}

ValueBounds intersect(ValueBounds a, const ValueBounds& b) {
  if (b.low && (!a.low || *b.low > *a.low)) a.low = b.low;
  if (b.high && (!a.high || *b.high < *a.high)) a.high = b.high;
  return a;
}

/// What the node's own attributes say.
ValueBounds own_bounds(const Graph& graph, const Node& node) {
  if (!node.domain.empty()) return {};
  if (node.op_type == "Clip") return {number(graph, node, "min"), number(graph, node, "max")};
  const auto alpha = number(graph, node, "alpha");
  if ((node.op_type == "Elu" || node.op_type == "Celu") && alpha && *alpha >= 0) return {-*alpha, std::nullopt};
  if (node.op_type == "Selu" && alpha) {
    const auto gamma = number(graph, node, "gamma");
    if (gamma && *gamma >= 0 && *alpha >= 0) return {-*gamma * *alpha, std::nullopt};
  }
  return {};
}

const FrameworkInfo& default_info() {
  static const FrameworkInfo kDefault = onnx_framework_info();
  return kDefault;
}

bool differs(const std::map<std::string, ValueBounds>& defaults,
             const std::pair<const std::string, ValueBounds>& entry) {
  const auto found = defaults.find(entry.first);
  return found == defaults.end() || !(found->second == entry.second);
}

}  // namespace

ValueBounds FrameworkInfo::bounds_of(const Graph& graph, const Node& node) const {
  ValueBounds bounds;
  if (node.domain.empty()) {
    const auto layer = layer_min_max_mapping.find(node.op_type);
    const auto activation = activation_min_max_mapping.find(lower_case(node.op_type));
    const bool of_layer = layer != layer_min_max_mapping.end();
    const bool of_activation = activation != activation_min_max_mapping.end();
    // What a person writes wins over a default.
    const bool is_written = of_activation && differs(default_info().activation_min_max_mapping, *activation) &&
                            !(of_layer && differs(default_info().layer_min_max_mapping, *layer));
    if (of_layer && !is_written)
      bounds = layer->second;
    else if (of_activation)
      bounds = activation->second;
  }
  return intersect(bounds, own_bounds(graph, node));
}

FrameworkInfo onnx_framework_info() {
  FrameworkInfo info;
  for (const OperatorPart& one : kOperators) {
    const std::string name(one.name);
    if (one.quantized == kKernel) info.kernel_ops.push_back(name);
    (one.quantized == kNotQuantized ? info.no_quantization_ops : info.activation_ops).push_back(name);
    if (one.channels) info.kernel_channels_mapping[name] = *one.channels;
    if (one.bounds != ValueBounds{}) info.layer_min_max_mapping[name] = one.bounds;
  }
  for (const quant::QuantizationMethod method : quant::acting_methods()) {
    info.activation_quantizer_mapping[method] = &quant::quantizer_of(method);
    info.weights_quantizer_mapping[method] = &quant::quantizer_of(method);
  }
  info.activation_min_max_mapping = {{"softmax", {0.0, 1.0}},
                                     {"sigmoid", {0.0, 1.0}},
                                     {"hardsigmoid", {0.0, 1.0}},
                                     {"tanh", {-1.0, 1.0}},
                                     {"relu", {0.0, std::nullopt}}};
  return info;
}

}  // namespace tersor::framework
