// SPDX-License-Identifier: Apache-2.0
// Operators of com.microsoft that hold weights, taken apart so that these can be quantized.
#include <algorithm>
#include <memory>
#include <numeric>

#include "core/graph/subgraphs.h"
#include "core/onnx/form_rewriter.h"

namespace tersor::onnx {

namespace {

constexpr const char* kDomain = "com.microsoft";

bool is_held(const Node& node) {
  return node.domain == kDomain &&
         (node.op_type == "Attention" || node.op_type == "EmbedLayerNormalization" || node.op_type == "FusedMatMul");
}

/// The graph or one inside it has such a node.
bool holds_any(const Graph& graph) {
  return std::any_of(graph.nodes().begin(), graph.nodes().end(), [](const Node& node) {
    bool inside = is_held(node);
    for_each_subgraph(node, [&](const Graph& inner) { inside = inside || holds_any(inner); });
    return inside;
  });
}

/// Formulas: ONNX Runtime's ContribOperators.md.
class MicrosoftRewriter : FormRewriter {
 public:
  MicrosoftRewriter(Graph& graph, int64_t opset, Facts facts) : FormRewriter(graph, opset, std::move(facts)) {}

  void run() {
    facts_.enter(graph_);
    std::vector<Node> nodes = std::move(graph_.nodes());
    graph_.nodes().clear();
    for (Node& node : nodes) {
      for (auto& [key, attribute] : node.attributes) rewrite_inside(attribute);
      if (is_held(node)) rewrite(node);
      facts_.pass(graph_, node);
      graph_.nodes().push_back(std::move(node));
    }
  }

 private:
  void rewrite_inside(Attribute& attribute) {
    const auto rewritten = [&](std::shared_ptr<const Graph>& graph) {
      if (!holds_any(*graph)) return;
      auto copy = std::make_shared<Graph>(*graph);
      MicrosoftRewriter(*copy, opset_, facts_).run();
      graph = std::move(copy);
    };
    if (auto* one = std::get_if<std::shared_ptr<const Graph>>(&attribute)) rewritten(*one);
    if (auto* many = std::get_if<std::vector<std::shared_ptr<const Graph>>>(&attribute))
      for (auto& one : *many) rewritten(one);
  }

  void rewrite(Node& node) {
    const auto has = [&](size_t k) { return k < node.inputs.size() && node.inputs[k].valid(); };
    if (node.outputs.empty() || !node.outputs[0].valid() || !has(0) || !has(node.op_type[0] == 'E' ? 2 : 1)) return;
    if (node.op_type == "FusedMatMul") return multiply(node);
    if (node.op_type == "Attention") return attend(node);
    if (has(3) && has(5) && has(6) && has(1) == has(4) && opset_ >= 10) embed(node);
  }

  /// y = alpha op(A) op(B). Where a rank is not known, the two last axes are exchanged by an Einsum.
  void multiply(Node& node) {
    ValueId factors[2] = {node.inputs[0], node.inputs[1]};
    const bool exchanges[2] = {node.int_or("transA", 0) != 0, node.int_or("transB", 0) != 0};
    const bool moves[2] = {node.int_or("transBatchA", 0) != 0, node.int_or("transBatchB", 0) != 0};
    const float alpha = node.float_or("alpha", 1);
    bool by_einsum = false;
    for (size_t k = 0; k < 2; ++k) {
      const bool known = facts_.of(graph_, node, k).dims.has_value();
      if (moves[k] && !known) return;
      by_einsum = by_einsum || (exchanges[k] && !known);
    }
    if (by_einsum && (moves[0] || moves[1] || opset_ < 12)) return;
    for (size_t k = 0; k < 2 && !by_einsum; ++k) {
      if (!exchanges[k] && !moves[k]) continue;
      std::vector<int64_t> perm(facts_.of(graph_, node, k).dims->size());
      std::iota(perm.begin(), perm.end(), 0);
      if (moves[k] && perm.size() > 2) std::rotate(perm.begin(), perm.begin() + 1, perm.end() - 1);
      if (exchanges[k] && perm.size() > 1) std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
      if (!std::is_sorted(perm.begin(), perm.end())) factors[k] = step(node, "Transpose", {factors[k]}, "perm", perm);
    }
    const std::string equation = std::string(exchanges[0] ? "...ji," : "...ij,") + (exchanges[1] ? "...kj" : "...jk");
    const auto product = [&](Node& into) {
      become(into, by_einsum ? "Einsum" : "MatMul", {factors[0], factors[1]});
      if (by_einsum) into.attributes["equation"] = equation + "->...ik";
    };
    if (alpha == 1) return product(node);
    Node inner = made(node, "MatMul");
    product(inner);
    const ValueId whole = append(node, std::move(inner));
    become(node, "Mul", {whole, graph_.add_initializer(graph_.label_of(node) + "_alpha", Tensor::scalar(alpha))});
  }

  /// The sum of rows by word, place and segment, normalized.
  void embed(Node& node) {
    const auto input = [&](size_t k) { return k < node.inputs.size() ? node.inputs[k] : ValueId{}; };
    const auto output = [&](size_t k) { return k < node.outputs.size() ? node.outputs[k] : ValueId{}; };
    const ValueId ids = input(0), mask = input(7);
    const ValueId words = step(node, "Gather", {input(2), ids});
    ValueId places;
    if (input(8).valid()) {
      places = step(node, "Gather", {input(3), input(8)});
    } else {
      const ValueId shape = step(node, "Shape", {ids});
      const ValueId length = step(node, "Gather", {shape, int64s(node, "length", {1})});
      places = step(node, "Slice", {input(3), int64s(node, "start", {0}), length, int64s(node, "axis", {0})});
    }
    std::vector<ValueId> sums = {words, places};
    if (input(1).valid()) sums = {step(node, "Add", sums), step(node, "Gather", {input(4), input(1)})};
    Node sum = made(node, "Add");
    sum.inputs = sums;
    sum.outputs = {output(2).valid() ? output(2) : graph_.add_unique_value(graph_.label_of(node) + "_sum")};
    const ValueId summed = sum.outputs[0];
    put(std::move(sum));
    if (output(1).valid()) count(node, mask.valid() ? mask : ids, mask.valid(), output(1));
    const float epsilon = node.float_or("epsilon", 1e-12f);
    become(node, "LayerNormalization", {summed, input(5), input(6)});
    node.attributes["axis"] = int64_t{-1};
    node.attributes["epsilon"] = epsilon;
    node.outputs.resize(1);
  }

  /// mask_index: how many words of each sample the mask leaves; 0 without a mask.
  void count(const Node& node, ValueId mask, bool given, ValueId into) {
    if (!given) mask = step(node, "Sub", {mask, mask});
    Node left = made(node, "ReduceSum");
    left.inputs = {mask};
    if (opset_ >= 13)
      left.inputs.push_back(int64s(node, "places", {1}));
    else
      left.attributes["axes"] = std::vector<int64_t>{1};
    left.attributes["keepdims"] = int64_t{0};
    left.outputs = {into};
    put(std::move(left));
  }

  /// A product that makes Q, K and V, and com.microsoft MultiHeadAttention of them.
  void attend(Node& node) {
    const auto input = [&](size_t k) { return k < node.inputs.size() ? node.inputs[k] : ValueId{}; };
    const Fact weights = facts_.of(graph_, node, 1);
    const bool whole = weights.dims && weights.dims->size() == 2 && (*weights.dims)[1] > 0;
    if (!whole || node.int_or("do_rotary", 0) != 0 || node.int_or("past_present_share_buffer", 0) != 0 ||
        input(6).valid())
      return;
    const int64_t third = (*weights.dims)[1] / 3;
    const std::vector<int64_t> sizes = node.ints_or("qkv_hidden_sizes", {third, third, third});
    ValueId made_of = step(node, "MatMul", {input(0), input(1)});
    if (input(2).valid()) made_of = step(node, "Add", {made_of, input(2)});
    Node split = made(node, "Split");
    split.inputs = {made_of};
    split.attributes["axis"] = int64_t{2};
    if (opset_ >= 13)
      split.inputs.push_back(int64s(node, "sizes", sizes));
    else
      split.attributes["split"] = sizes;
    for (const char* part : {"_query", "_key", "_value"})
      split.outputs.push_back(graph_.add_unique_value(graph_.label_of(node) + part));
    std::vector<ValueId> inputs = split.outputs;
    inputs.insert(inputs.end(), {ValueId{}, input(3), input(5)});
    put(std::move(split));
    if (input(4).valid())
      for (const int64_t k : {0, 1})
        inputs.push_back(step(node, "Gather",
                              {input(4), graph_.add_initializer(graph_.label_of(node) + "_past", Tensor::scalar(k))}));
    while (!inputs.back().valid()) inputs.pop_back();
    Node attention = made(node, "MultiHeadAttention");
    attention.domain = kDomain;
    attention.inputs = std::move(inputs);
    attention.outputs = {node.outputs[0]};
    for (const char* name : {"mask_filter_value", "num_heads", "scale", "unidirectional"})
      if (const auto found = node.attributes.find(name); found != node.attributes.end())
        attention.attributes[name] = found->second;
    if (node.outputs.size() < 2 || !node.outputs[1].valid()) {
      attention.name = node.name;
      attention.id = node.id;
      node = std::move(attention);
      return;
    }
    std::vector<ValueId> presents;
    for (const char* part : {"_present_key", "_present_value"})
      presents.push_back(graph_.add_unique_value(graph_.label_of(node) + part));
    attention.outputs.insert(attention.outputs.end(), presents.begin(), presents.end());
    put(std::move(attention));
    for (ValueId& present : presents)
      present = opset_ >= 13 ? step(node, "Unsqueeze", {present, int64s(node, "first", {0})})
                             : step(node, "Unsqueeze", {present}, "axes", std::vector<int64_t>{0});
    const ValueId joined = node.outputs[1];
    become(node, "Concat", presents);
    node.attributes["axis"] = int64_t{0};
    node.outputs = {joined};
  }
};

}  // namespace

void rewrite_microsoft_operators(Model& model) {
  if (holds_any(model.graph)) MicrosoftRewriter(model.graph, model.opset(), {}).run();
}

}  // namespace tersor::onnx
