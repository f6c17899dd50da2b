// SPDX-License-Identifier: Apache-2.0
// Which ONNX operators stand behind the operator set names that platform tables use. A set with no layers exists in
// such tables but has no ONNX operator of its own.
#include <algorithm>

#include "core/framework/operations_to_layers.h"

namespace tersor::framework {

namespace {

using Layers = std::vector<LayerFilterParams>;

OperationsSetToLayers entry(const char* name, Layers layers) {
  return {name, std::move(layers), {}};
}

/// A set of operators with weights, and where they are.
OperationsSetToLayers linear(const char* name, Layers layers) {
  return {name, std::move(layers), onnx_attributes()};
}

void add_arithmetic(OperationsToLayers& all) {
  for (const char* type : {"Add", "Sub", "Mul", "Div", "Min", "Max", "Exp", "Sin", "Cos", "Where", "Equal"})
    all.set(entry(type, {type}));
}

void add_linear(OperationsToLayers& all) {
  all.set(linear("Conv", {"Conv"}));
  all.set(linear("DepthwiseConv2D", {{"Conv", {Eq("depthwise", 1.0)}}}));
  all.set(linear("ConvTranspose", {"ConvTranspose"}));
  all.set(linear("FullyConnected", {"Gemm", {"MatMul", {Eq("has_kernel", 1.0)}}}));
  all.set(entry("MatMul", {"MatMul"}));
  all.set(entry("BatchNorm", {"BatchNormalization"}));
}

void add_activations(OperationsToLayers& all) {
  all.set(entry("ReLU", {"Relu"}));
  all.set(entry("ReLU6", {{"Clip", {Eq("min", 0.0), Eq("max", 6.0)}}}));
  all.set(entry("HardTanh", {{"Clip", {Eq("min", 0.0), NotEq("max", 6.0)}}}));
  all.set(entry("Clip", {"Clip"}));
  all.set(entry("LeakyReLU", {"LeakyRelu"}));
  all.set(entry("Elu", {"Elu"}));
  all.set(entry("PReLU", {"PRelu"}));
  all.set(entry("HardSwish", {"HardSwish"}));
  all.set(entry("Swish", {"Swish"}));  // and x sigmoid(x) in two nodes (fuse.h)
  all.set(entry("Sigmoid", {"Sigmoid"}));
  all.set(entry("HardSigmoid", {"HardSigmoid"}));
  all.set(entry("Tanh", {"Tanh"}));
  all.set(entry("Gelu", {"Gelu", "com.microsoft::Gelu"}));
  all.set(entry("Softmax", {"Softmax"}));
  all.set(entry("LogSoftmax", {"LogSoftmax"}));
  all.set(entry("L2Norm", {{"LpNormalization", {Eq("p", 2.0)}}}));
}

/// Operators that pass values on. A Pad that brings in values of its own is none of them.
void add_movers(OperationsToLayers& all) {
  all.set(entry("Concatenate", {"Concat"}));
  all.set(entry("Gather", {"Gather", "GatherElements", "GatherND"}));
  all.set(entry("GetItem", {{"Gather", {Eq("index_rank", 0.0)}}}));
  all.set(entry("StridedSlice", {"Slice"}));
  all.set(entry("SplitChunk", {"Split"}));
  all.set(entry("Expand", {"Expand", "Tile"}));
  for (const char* type : {"Flatten", "Reshape", "Squeeze", "Unsqueeze"}) all.set(entry(type, {type}));
  all.set(entry("Permute", {"Transpose"}));
  all.set(entry("Transpose", {"Transpose"}));
  all.set(entry("Dropout", {{"Dropout", {Eq("outputs", 1.0)}}, "Identity"}));
  all.set(entry("MaxPool", {{"MaxPool", {Eq("outputs", 1.0)}}, "GlobalMaxPool"}));
  all.set(entry("AvgPool", {"AveragePool", "GlobalAveragePool"}));
  const AttributeFilter brings_nothing = NotEq("mode", "constant") | Eq("constant_value", 0.0);
  all.set(entry("Pad", {{"Pad", {brings_nothing}}}));
  all.set(entry("ZeroPadding2D", {{"Pad", {brings_nothing}}}));
  all.set(entry("Resize", {"Resize", "Upsample"}));
  all.set(entry("ResizeNearest", {{"Resize", {Eq("mode", "nearest")}}, {"Upsample", {Eq("mode", "nearest")}}}));
  all.set(entry("Fold", {"DepthToSpace", "SpaceToDepth"}));
}

void add_others(OperationsToLayers& all) {
  all.set(entry("Recurrent", {"LSTM", "GRU", "RNN", "Loop"}));
  for (const char* type : {"Size", "Shape", "ArgMax", "TopK", "Cast"}) all.set(entry(type, {type}));
  all.set(entry("FakeQuant", {"QuantizeLinear", "DequantizeLinear"}));
  all.set(entry("CombinedNonMaxSuppression", {"NonMaxSuppression"}));
  for (const char* name : {"Stack", "Unstack", "AddBias", "SSDPostProcess", "Take", "IndexSelect"})
    all.set(entry(name, {}));
}

}  // namespace

void OperationsToLayers::set(OperationsSetToLayers added) {
  for (OperationsSetToLayers& one : op_sets_to_layers)
    if (one.op_set_name == added.op_set_name) {
      one = std::move(added);
      return;
    }
  op_sets_to_layers.push_back(std::move(added));
}

const OperationsSetToLayers* OperationsToLayers::find(std::string_view op_set_name) const {
  for (const OperationsSetToLayers& one : op_sets_to_layers)
    if (one.op_set_name == op_set_name) return &one;
  return nullptr;
}

const AttrMapping& onnx_attributes() {
  static const AttrMapping kAttributes{
      {"kernel_attr", {{"Conv", "W"}, {"ConvTranspose", "W"}, {"Gemm", "B"}, {"MatMul", "B"}}},
      {"bias_attr", {{"Conv", "B"}, {"ConvTranspose", "B"}, {"Gemm", "C"}}}};
  return kAttributes;
}

OperationsToLayers onnx_layers() {
  OperationsToLayers all;
  add_linear(all);
  add_arithmetic(all);
  add_activations(all);
  add_movers(all);
  add_others(all);
  return all;
}

}  // namespace tersor::framework
