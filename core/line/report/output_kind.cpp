// SPDX-License-Identifier: Apache-2.0
#include "core/report/output_kind.h"

#include <algorithm>
#include <optional>
#include <set>
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

namespace {

constexpr int kNestedJoins = 3;  // levels of a detector, the columns of a level, the numbers of a box

OutputTrait trait_of_value(const Graph& graph, const Uses& uses, ValueId value, int joins);

/// By what a Concat joins: scores behind other values, or levels that are all such joins or all scores.
OutputTrait trait_of_join(const Graph& graph, const Uses& uses, const Node& concat, int joins) {
  OutputTrait trait;
  bool has_values = false, all_scores = true;
  std::vector<const Node*> score_parts;
  for (const ValueId input : concat.inputs) {
    const OutputTrait part = trait_of_value(graph, uses, input, joins);
    if (part.kind == OutputKind::kDetections) return part;
    const bool scores = part.kind == OutputKind::kScores || part.kind == OutputKind::kClasses;
    has_values = has_values || !scores;
    all_scores = all_scores && part.kind == OutputKind::kScores;
    if (!scores || !has_values) continue;
    score_parts.push_back(maker_before_movers(graph, uses, input));
    trait.background = trait.background || part.kind == OutputKind::kClasses;
  }
  if (all_scores) return {OutputKind::kScores};
  if (score_parts.empty()) return {};
  trait.kind = OutputKind::kDetections;
  // An own Sigmoid for it, or one over the whole head, of which boxes are another part.
  trait.objectness =
      score_parts.size() > 1 || (score_parts[0] != nullptr && has_trait(*score_parts[0], Trait::kSelects));
  return trait;
}

OutputTrait trait_of_value(const Graph& graph, const Uses& uses, ValueId value, int joins) {
  const Node* node = maker_before_movers(graph, uses, value);
  if (node != nullptr && node->is("Concat") && graph.value(value).dtype != DType::kInt64)
    return joins > 0 ? trait_of_join(graph, uses, *node, joins - 1) : OutputTrait();
  OutputTrait trait{output_kind(graph, uses, value)};
  if (node == nullptr || !has_trait(*node, Trait::kSelects) || trait.kind != OutputKind::kValues) return trait;
  const Node* whole = maker_before_movers(graph, uses, node->inputs[0]);
  if (whole != nullptr && whole->is("Sigmoid")) trait.kind = OutputKind::kScores;
  return trait;
}

/// Between what is sorted and an output: every row is still one.
bool keeps_rows(const Node& node) {
  constexpr std::string_view kByElement[] = {"Add", "Sub", "Mul", "Div", "Mod", "Clip", "Sigmoid", "Where", "Floor"};
  return has_trait(node, Trait::kView | Trait::kReorders | Trait::kSelects) || node.is("Cast") || node.is("Concat") ||
         std::any_of(std::begin(kByElement), std::end(kByElement),
                     [&](std::string_view type) { return node.is(type); });
}

/// Axis 0 of an output is declared as another one than that of the model's first input.
bool rows_first(const Graph& graph, ValueId output) {
  const auto& shape = graph.value(output).shape;
  if (!shape || shape->empty() || graph.inputs.empty()) return false;
  const auto& input = graph.value(graph.inputs[0]).shape;
  return input && !input->empty() && !(shape->front() == input->front());
}

/// Behind a node that chooses and orders by values.
bool is_sorted(const Graph& graph, const Uses& uses, ValueId output) {
  std::vector<ValueId> open = {output};
  std::set<ValueId> seen;
  while (!open.empty()) {
    const ValueId value = open.back();
    open.pop_back();
    if (!value.valid() || !seen.insert(value).second) continue;
    const Node* node = maker(graph, uses, value);
    if (node == nullptr) continue;
    if (node->is("TopK") || node->is("NonMaxSuppression")) return true;
    if (keeps_rows(*node)) open.insert(open.end(), node->inputs.begin(), node->inputs.end());
  }
  return false;
}

}  // namespace

OutputTrait output_trait(const Graph& graph, const Uses& uses, ValueId output) {
  OutputTrait trait = trait_of_value(graph, uses, output, kNestedJoins);
  trait.sorted = is_sorted(graph, uses, output);
  trait.has_batch = !rows_first(graph, output);
  return trait;
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
