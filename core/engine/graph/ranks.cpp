// SPDX-License-Identifier: Apache-2.0
#include "core/graph/ranks.h"

#include <algorithm>
#include <string>

#include "core/graph/operators.h"

namespace tersor {

namespace {

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
    if (has_trait(node, Trait::kRecurrent)) return visit_recurrent(node);
    const int rank = infer(node);
    if (rank < 0) return;
    for (size_t k = 0; k < node.outputs.size(); ++k) {
      const bool statistics = k > 0 && node.is("BatchNormalization");  // one number for each channel
      if (const ValueId id = node.outputs[k]; id.valid() && ranks_[static_cast<size_t>(id.index)] < 0)
        ranks_[static_cast<size_t>(id.index)] = statistics ? 1 : rank;
    }
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
  const Operator* known = find_operator(type);
  switch (known != nullptr ? known->shape : OutputShape::kOwnShape) {
    case OutputShape::kSameShape:
    case OutputShape::kSameRank:
    case OutputShape::kPooledToOne:
      return of(node, 0);
    case OutputShape::kBroadcast: {
      int widest = -1;
      for (size_t k = 0; k < node.inputs.size(); ++k) {
        if (of(node, k) < 0) return -1;
        widest = std::max(widest, of(node, k));
      }
      return widest;
    }
    case OutputShape::kScalar:
      return 0;
    case OutputShape::kVector:
      return 1;
    case OutputShape::kMatrix:
      return 2;
    case OutputShape::kFourAxes:
      return 4;
    case OutputShape::kOwnShape:
      break;
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
  if (has_trait(node, Trait::kReduces) && of(node, 0) >= 0) {
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
