// SPDX-License-Identifier: Apache-2.0
#include "core/run/operators.h"

#include <algorithm>
#include <vector>

#include "core/base/error.h"
#include "core/ops/attribute_names.h"
#include "core/run/control.h"

namespace tersor::run {

namespace {

constexpr size_t kMostNamed = 8;

/// Nodes of one operator that cannot be run.
struct Unknown {
  std::string domain, op_type;
  std::vector<size_t> nodes;
};

std::string domain_text(const std::string& domain) {
  return domain.empty() ? "ONNX" : "\"" + domain + "\"";
}

std::string sentence_of(const Node& node, int64_t version) {
  return "The operator " + node.op_type + " of " + domain_text(node.domain) + ", operator set " +
         std::to_string(version) + ", cannot be run here.";
}

/// Nothing lies before the node but inputs and constants.
bool is_first(const Graph& graph, const Node& node) {
  return std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId id) {
    const bool is_input = std::find(graph.inputs.begin(), graph.inputs.end(), id) != graph.inputs.end();
    return !id.valid() || is_input || graph.initializer(id) != nullptr;
  });
}

std::string hint_for(const Graph& graph, const std::vector<Unknown>& unknown) {
  const auto any = [&](auto&& test) { return std::any_of(unknown.begin(), unknown.end(), test); };
  if (any([](const Unknown& one) { return one.op_type.starts_with("TreeEnsemble"); }))
    return "Decision trees have no weights that quantization makes smaller. Where the model holds a network too, cut "
           "it "
           "out and quantize that alone.";
  if (any([](const Unknown& one) { return one.domain == "com.microsoft"; }))
    return "Give the model as the exporter wrote it: a file saved by ONNX Runtime's optimizer "
           "(optimized_model_filepath) "
           "holds operators of that runtime alone.";
  if (unknown.size() > 1) return "Export the model with operators that are supported, or cut these nodes off.";
  const Node& first = graph.nodes()[unknown[0].nodes[0]];
  return std::string("Cut the model ") + (is_first(graph, first) ? "after" : "before") +
         " this node, or export it with operators that are supported.";
}

}  // namespace

const ops::Op& operator_of(const Node& node, const Model& model, const ops::Registry& registry) {
  const int64_t version = model.opset(node.domain);
  if (const ops::Op* op = registry.find(node.domain, node.op_type, version)) {
    ops::require_known_attributes(node);
    return *op;
  }
  throw Error(ErrorCode::kUnsupportedModel, sentence_of(node, version), {},
              "Cut the model before this node, or export it with operators that are supported.");
}

void require_operators(const Model& model, const ops::Registry& registry, const std::vector<bool>& live) {
  const Graph& graph = model.graph;
  std::vector<Unknown> unknown;
  for (size_t i = 0; i < graph.nodes().size(); ++i) {
    const Node& node = graph.nodes()[i];
    if (!live[i] || control_op(node) != nullptr) continue;
    if (registry.find(node.domain, node.op_type, model.opset(node.domain)) != nullptr) continue;
    const auto known = std::find_if(unknown.begin(), unknown.end(), [&](const Unknown& one) {
      return one.domain == node.domain && one.op_type == node.op_type;
    });
    if (known != unknown.end())
      known->nodes.push_back(i);
    else
      unknown.push_back({node.domain, node.op_type, {i}});
  }
  if (unknown.empty()) return;
  const size_t first = unknown[0].nodes[0];
  const Node& node = graph.nodes()[first];
  const std::string place = place_of(node, first), hint = hint_for(graph, unknown);
  if (unknown.size() == 1 && unknown[0].nodes.size() == 1)
    throw Error(ErrorCode::kUnsupportedModel, sentence_of(node, model.opset(node.domain)), place, hint);
  size_t count = 0;
  std::string list;
  for (size_t k = 0; k < unknown.size(); ++k) {
    const Unknown& one = unknown[k];
    count += one.nodes.size();
    if (k >= kMostNamed) continue;
    list += (k == 0 ? "" : ", ") + one.op_type + " of " + domain_text(one.domain) + " (graph.node[" +
            std::to_string(one.nodes[0]) + "]" +
            (one.nodes.size() == 1 ? "" : " and " + std::to_string(one.nodes.size() - 1) + " more") + ")";
  }
  if (unknown.size() > kMostNamed) list += " and " + std::to_string(unknown.size() - kMostNamed) + " operators more";
  throw Error(ErrorCode::kUnsupportedModel, std::to_string(count) + " nodes cannot be run here: " + list + ".", place,
              hint);
}

}  // namespace tersor::run
