// SPDX-License-Identifier: Apache-2.0
#include "core/report/output_kind.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "core/graph/operators.h"

namespace tersor::report {

namespace {

// Between a sum of squares and the length that divides.
constexpr std::string_view kOfLength[] = {"Expand", "Clip", "Max", "Add", "Sqrt", "Pow", "Reciprocal", "Abs"};

bool is_of_length(const Node& node) {
  return std::any_of(std::begin(kOfLength), std::end(kOfLength), [&](std::string_view type) { return node.is(type); });
}

bool passes_all_on(const Node& node) {
  return has_trait(node, Trait::kView | Trait::kReorders) || node.is("Cast");
}

const Node* maker(const Graph& graph, const Uses& uses, ValueId value) {
  const auto index = value.valid() ? uses.producer_index(value) : std::nullopt;
  return index ? &graph.nodes()[*index] : nullptr;
}

const Node* maker_before_movers(const Graph& graph, const Uses& uses, ValueId value) {
  const Node* node = maker(graph, uses, value);
  while (node != nullptr && passes_all_on(*node)) node = maker(graph, uses, node->inputs[0]);
  return node;
}

/// What `divisor` is of the values that it divides: their length, the sum of their exponentials, or nothing known.
std::optional<OutputKind> kind_by_divisor(const Graph& graph, const Uses& uses, ValueId divisor) {
  const Node* node = maker(graph, uses, divisor);
  while (node != nullptr && (passes_all_on(*node) || is_of_length(*node))) {
    // Of an Add or a Max the constant is what keeps it from 0.
    const bool first_is_made = maker(graph, uses, node->inputs[0]) != nullptr || node->inputs.size() < 2;
    node = maker(graph, uses, node->inputs[first_is_made ? 0 : 1]);
  }
  if (node == nullptr) return std::nullopt;
  if (node->is("ReduceL2") || node->is("ReduceSumSquare")) return OutputKind::kEmbedding;
  if (!node->is("ReduceSum")) return std::nullopt;
  const Node* summed = maker_before_movers(graph, uses, node->inputs[0]);
  if (summed == nullptr) return std::nullopt;
  if (summed->is("Exp")) return OutputKind::kClasses;
  const bool is_square = summed->is("Pow") || (summed->is("Mul") && summed->inputs[0] == summed->inputs[1]);
  return is_square ? std::optional(OutputKind::kEmbedding) : std::nullopt;
}

}  // namespace

OutputKind output_kind(const Graph& graph, const Uses& uses, ValueId output) {
  if (graph.value(output).dtype == DType::kInt64) return OutputKind::kClasses;
  const Node* node = maker_before_movers(graph, uses, output);
  if (node == nullptr) return OutputKind::kValues;
  if (node->is("Softmax") || node->is("LogSoftmax") || node->is("ArgMax")) return OutputKind::kClasses;
  if (node->is("LpNormalization")) return OutputKind::kEmbedding;
  if (node->is("Sigmoid")) return OutputKind::kScores;
  if (!node->is("Div") && !node->is("Mul")) return OutputKind::kValues;
  for (size_t k = node->is("Div") ? 1 : 0; k < 2; ++k)
    if (const auto kind = kind_by_divisor(graph, uses, node->inputs[k])) return *kind;
  return OutputKind::kValues;
}

std::optional<int> class_axis(const Model& model, const Uses& uses, ValueId output) {
  const Graph& graph = model.graph;
  std::vector<int64_t> order;  // of a Transpose that follows: which axis before each of its own was
  if (const Node* last = maker_before_movers(graph, uses, output); last != nullptr && last->is("ArgMax")) return 0;
  const Node* node = maker(graph, uses, output);
  for (; node != nullptr && passes_all_on(*node); node = maker(graph, uses, node->inputs[0])) {
    if (node->is("Identity") || node->is("Cast") || node->is("Dropout")) continue;
    if (!node->is("Transpose") || !order.empty()) return std::nullopt;
    order = node->ints_or("perm", {});
    if (order.empty()) return std::nullopt;
  }
  if (node == nullptr || (!node->is("Softmax") && !node->is("LogSoftmax"))) return std::nullopt;
  constexpr int64_t kOfOneAxis = 13;  // before, a Softmax flattened all axes from its own on
  const int64_t version = model.opset();
  const int64_t axis = node->int_or("axis", version >= kOfOneAxis ? -1 : 1);
  if (order.empty()) return static_cast<int>(axis);
  const auto rank = static_cast<int64_t>(order.size());
  const auto place = std::find(order.begin(), order.end(), axis < 0 ? axis + rank : axis);
  return place == order.end() ? std::nullopt : std::optional(static_cast<int>(place - order.begin()));
}

}  // namespace tersor::report
