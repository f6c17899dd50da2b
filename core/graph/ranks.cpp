// SPDX-License-Identifier: Apache-2.0
#include "core/graph/ranks.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace tersor {

namespace {

// Output 0 has as many axes as input 0.
constexpr std::array kLikeFirst{"Relu",
                                "Clip",
                                "LeakyRelu",
                                "Elu",
                                "Selu",
                                "Celu",
                                "Sigmoid",
                                "HardSigmoid",
                                "HardSwish",
                                "Tanh",
                                "Softplus",
                                "Softsign",
                                "Softmax",
                                "LogSoftmax",
                                "Exp",
                                "Log",
                                "Sqrt",
                                "Abs",
                                "Neg",
                                "Reciprocal",
                                "Floor",
                                "Ceil",
                                "Round",
                                "Sin",
                                "Cos",
                                "Erf",
                                "Identity",
                                "Dropout",
                                "Cast",
                                "Not",
                                "Conv",
                                "ConvTranspose",
                                "MaxPool",
                                "AveragePool",
                                "GlobalMaxPool",
                                "GlobalAveragePool",
                                "Transpose",
                                "Pad",
                                "Slice",
                                "Concat",
                                "Resize",
                                "Upsample",
                                "LRN",
                                "BatchNormalization",
                                "InstanceNormalization",
                                "LayerNormalization",
                                "GroupNormalization",
                                "DepthToSpace",
                                "SpaceToDepth",
                                "Split",
                                "Tile",
                                "CumSum",
                                "TopK",
                                "DFT",
                                "GatherElements",
                                "ScatterElements",
                                "ScatterND",
                                "RMSNormalization",
                                "LpNormalization",
                                "RotaryEmbedding",
                                "Swish",
                                "Gelu",
                                "Mish",
                                "ThresholdedRelu",
                                "QuantizeLinear",
                                "DequantizeLinear"};
// The result of broadcasting all inputs.
constexpr std::array kBroadcast{"Add",  "Sub",     "Mul",  "Div", "Pow",         "PRelu",
                                "Max",  "Min",     "Mean", "Sum", "Where",       "Equal",
                                "Less", "Greater", "And",  "Or",  "LessOrEqual", "GreaterOrEqual"};

constexpr std::array kRecurrent{"LSTM", "GRU", "RNN"};

template <size_t N>
bool is_one_of(const std::array<const char*, N>& list, std::string_view type) {
  return std::any_of(list.begin(), list.end(), [type](const char* one) { return type == one; });
}

class Ranks {
 public:
  explicit Ranks(const Graph& graph) : graph_(graph), ranks_(graph.value_count(), -1) {
    for (size_t k = 0; k < ranks_.size(); ++k) {
      const Value& value = graph.value(ValueId{static_cast<int32_t>(k)});
      if (value.shape) ranks_[k] = static_cast<int>(value.shape->size());
    }
    for (const Node& node : graph.nodes()) visit(node);
  }
  std::vector<int> take() { return std::move(ranks_); }

 private:
  int of(const Node& node, size_t slot) const {
    return slot < node.inputs.size() && node.inputs[slot].valid() ? ranks_[static_cast<size_t>(node.inputs[slot].index)]
                                                                  : -1;
  }
  int infer(const Node& node) const;

  void visit(const Node& node) {
    if (!node.domain.empty()) return;
    if (is_one_of(kRecurrent, node.op_type)) return visit_recurrent(node);
    const int rank = infer(node);
    if (rank < 0) return;
    for (const ValueId id : node.outputs)
      if (id.valid() && ranks_[static_cast<size_t>(id.index)] < 0) ranks_[static_cast<size_t>(id.index)] = rank;
  }

  /// [steps, directions, batch, hidden] of all steps, and [directions, batch, hidden] of the last.
  void visit_recurrent(const Node& node) {
    for (size_t k = 0; k < node.outputs.size(); ++k)
      if (const ValueId id = node.outputs[k]; id.valid() && ranks_[static_cast<size_t>(id.index)] < 0)
        ranks_[static_cast<size_t>(id.index)] = k == 0 ? 4 : 3;
  }

  const Graph& graph_;
  std::vector<int> ranks_;
};

int Ranks::infer(const Node& node) const {
  const std::string& type = node.op_type;
  if (type == "Gemm" || type == "Flatten" || type == "MelWeightMatrix") return 2;
  if (type == "STFT") return 4;
  if (is_one_of(kLikeFirst, type)) return of(node, 0);
  if (is_one_of(kBroadcast, type)) {
    int widest = -1;
    for (size_t k = 0; k < node.inputs.size(); ++k) {
      if (of(node, k) < 0) return -1;
      widest = std::max(widest, of(node, k));
    }
    return widest;
  }
  if (type == "MatMul") {
    const int a = of(node, 0), b = of(node, 1);
    if (a < 1 || b < 1) return -1;
    return std::max(a, b) - (a == 1 || b == 1 ? 1 : 0);
  }
  if (type == "Reshape" && node.inputs.size() > 1) {
    const Tensor* target = graph_.initializer(node.inputs[1]);
    return target != nullptr ? static_cast<int>(target->elements()) : -1;
  }
  if ((type == "Squeeze" || type == "Unsqueeze") && of(node, 0) >= 0 && node.inputs.size() > 1) {
    const Tensor* axes = graph_.initializer(node.inputs[1]);
    if (axes == nullptr) return -1;
    return of(node, 0) + (type == "Squeeze" ? -1 : 1) * static_cast<int>(axes->elements());
  }
  if (type == "Gather" && of(node, 0) >= 0 && of(node, 1) >= 0) return of(node, 0) - 1 + of(node, 1);
  if (type.rfind("Reduce", 0) == 0 && of(node, 0) >= 0) {
    if (node.int_or("keepdims", 1) != 0) return of(node, 0);
    const auto* listed = node.attribute<std::vector<int64_t>>("axes");
    const Tensor* given = node.inputs.size() > 1 ? graph_.initializer(node.inputs[1]) : nullptr;
    const int64_t axes = listed != nullptr  ? static_cast<int64_t>(listed->size())
                         : given != nullptr ? given->elements()
                                            : 0;
    return axes == 0 ? -1 : of(node, 0) - static_cast<int>(axes);
  }
  return -1;
}

}  // namespace

std::vector<int> infer_ranks(const Model& model) {
  return Ranks(model.graph).take();
}

}  // namespace tersor
