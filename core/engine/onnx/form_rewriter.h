// SPDX-License-Identifier: Apache-2.0
// What rewriters of operators that ONNX does not have share: nodes that are put before the one that is rewritten.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/onnx/facts.h"

namespace tersor::onnx {

/// A step of rewrite_forms(): FusedMatMul, EmbedLayerNormalization and Attention of com.microsoft, which hold weights,
/// become ONNX's operators and com.microsoft MultiHeadAttention, in subgraphs too.
void rewrite_microsoft_operators(Model& model);

class FormRewriter {
 protected:
  FormRewriter(Graph& graph, int64_t opset, Facts facts) : graph_(graph), opset_(opset), facts_(std::move(facts)) {}

  Node made(const Node& of, const char* type) const {
    Node node;
    node.op_type = type;
    node.name = graph_.label_of(of) + "_" + type;
    return node;
  }

  ValueId step(const Node& of, const char* type, std::vector<ValueId> inputs) {
    Node node = made(of, type);
    node.inputs = std::move(inputs);
    return append(of, std::move(node));
  }
  /// With one attribute.
  ValueId step(const Node& of, const char* type, std::vector<ValueId> inputs, const char* key, Attribute value) {
    Node node = made(of, type);
    node.inputs = std::move(inputs);
    node.attributes[key] = std::move(value);
    return append(of, std::move(node));
  }

  ValueId append(const Node& of, Node node) {
    const ValueId output = graph_.add_unique_value(graph_.label_of(of) + "_" + node.op_type);
    node.outputs = {output};
    put(std::move(node));
    return output;
  }

  void put(Node node) {
    facts_.pass(graph_, node);
    graph_.append(std::move(node));
  }

  ValueId int64s(const Node& of, const char* suffix, const std::vector<int64_t>& values) {
    return graph_.add_initializer(graph_.label_of(of) + "_" + suffix,
                                  Tensor::of<int64_t>({static_cast<int64_t>(values.size())}, values));
  }

  static void become(Node& node, const char* type, std::vector<ValueId> inputs) {
    std::erase_if(inputs, [](ValueId id) { return !id.valid(); });
    node.op_type = type;
    node.domain.clear();
    node.inputs = std::move(inputs);
    node.attributes = {};
  }

  Graph& graph_;
  const int64_t opset_;
  Facts facts_;
};

}  // namespace tersor::onnx
