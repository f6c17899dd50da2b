// SPDX-License-Identifier: Apache-2.0
#include "core/framework/framework_info.h"

#include <algorithm>
#include <cctype>

namespace tersor::framework {

namespace {

std::optional<double> number(const Graph& graph, const Node& node, const char* attribute) {
  const auto found = filter_value(graph, node, attribute);
  if (!found || !std::holds_alternative<double>(*found)) return std::nullopt;
  return std::get<double>(*found);
}

std::string lower_case(std::string text) {
  for (char& letter : text) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  return text;
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
  info.kernel_ops = {"Conv", "ConvTranspose", "Gemm", "MatMul"};
  info.activation_ops = {"Conv",
                         "ConvTranspose",
                         "Gemm",
                         "MatMul",
                         "Add",
                         "Sub",
                         "Mul",
                         "Div",
                         "Min",
                         "Max",
                         "Pow",
                         "Sqrt",
                         "Exp",
                         "Log",
                         "Sin",
                         "Cos",
                         "Abs",
                         "Neg",
                         "Erf",
                         "Where",
                         "Relu",
                         "Clip",
                         "LeakyRelu",
                         "Elu",
                         "Celu",
                         "Selu",
                         "PRelu",
                         "Sigmoid",
                         "Tanh",
                         "HardSwish",
                         "HardSigmoid",
                         "Gelu",
                         "Mish",
                         "Softplus",
                         "Softsign",
                         "ThresholdedRelu",
                         "Softmax",
                         "LogSoftmax",
                         "LpNormalization",
                         "BatchNormalization",
                         "InstanceNormalization",
                         "LayerNormalization",
                         "Concat",
                         "Gather",
                         "GatherElements",
                         "GatherND",
                         "Slice",
                         "Split",
                         "Expand",
                         "Tile",
                         "Flatten",
                         "Reshape",
                         "Squeeze",
                         "Unsqueeze",
                         "Transpose",
                         "Dropout",
                         "Identity",
                         "MaxPool",
                         "GlobalMaxPool",
                         "AveragePool",
                         "GlobalAveragePool",
                         "Pad",
                         "Resize",
                         "Upsample",
                         "DepthToSpace",
                         "SpaceToDepth",
                         "ReduceMean",
                         "ReduceSum",
                         "ReduceMax",
                         "ReduceMin",
                         "ReduceProd",
                         "ReduceL2",
                         "LRN"};
  info.no_quantization_ops = {"Shape",
                              "Size",
                              "ArgMax",
                              "ArgMin",
                              "NonMaxSuppression",
                              "NonZero",
                              "Equal",
                              "Not",
                              "And",
                              "Or",
                              "Less",
                              "Greater",
                              "Constant",
                              "ConstantOfShape",
                              "Range",
                              "QuantizeLinear",
                              "DequantizeLinear"};
  for (const quant::QuantizationMethod method : quant::acting_methods()) {
    info.activation_quantizer_mapping[method] = &quant::quantizer_of(method);
    info.weights_quantizer_mapping[method] = &quant::quantizer_of(method);
  }
  info.kernel_channels_mapping = {{"Conv", {0, 1}}, {"ConvTranspose", {1, 0}}, {"Gemm", {1, 0}}, {"MatMul", {1, 0}}};
  info.activation_min_max_mapping = {{"softmax", {0.0, 1.0}},
                                     {"sigmoid", {0.0, 1.0}},
                                     {"hardsigmoid", {0.0, 1.0}},
                                     {"tanh", {-1.0, 1.0}},
                                     {"relu", {0.0, std::nullopt}}};
  const ValueBounds from_zero{0.0, std::nullopt}, one_each_way{-1.0, 1.0};
  info.layer_min_max_mapping = {{"Softmax", {0.0, 1.0}},
                                {"Sigmoid", {0.0, 1.0}},
                                {"HardSigmoid", {0.0, 1.0}},
                                {"Tanh", one_each_way},
                                {"Erf", one_each_way},
                                {"Sin", one_each_way},
                                {"Cos", one_each_way},
                                {"Softsign", one_each_way},
                                {"LpNormalization", one_each_way},
                                {"LogSoftmax", {std::nullopt, 0.0}},
                                {"Relu", from_zero},
                                {"Softplus", from_zero},
                                {"Exp", from_zero},
                                {"Sqrt", from_zero},
                                {"Abs", from_zero},
                                {"ThresholdedRelu", from_zero},
                                {"Gelu", {-0.17, std::nullopt}},
                                {"HardSwish", {-0.375, std::nullopt}},
                                {"Mish", {-0.3088, std::nullopt}}};
  return info;
}

}  // namespace tersor::framework
