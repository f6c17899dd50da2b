// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "core/graph/uses.h"
#include "core/onnx/rewrite_forms.h"

namespace tersor::onnx {

namespace {

/// The one input that is no constant, where there is just one.
ValueId data_input(const Graph& graph, const Node& node) {
  ValueId found;
  for (const ValueId id : node.inputs) {
    if (!id.valid() || graph.initializer(id) != nullptr) continue;
    if (found.valid()) return {};
    found = id;
  }
  return found;
}

/// It makes names of classes or a map of a result: nothing that is computed with.
bool makes_names(const Graph& graph, const Node& node) {
  if (node.outputs.size() != 1) return false;
  const Value& made = graph.value(node.outputs[0]);
  const bool reads_texts = std::any_of(node.inputs.begin(), node.inputs.end(), [&](ValueId id) {
    const Tensor* constant = id.valid() ? graph.initializer(id) : nullptr;
    return constant != nullptr && constant->dtype() == DType::kString;
  });
  const bool is_encoder = node.domain == "ai.onnx.ml" && (node.op_type == "ZipMap" || node.op_type == "LabelEncoder");
  return is_encoder || reads_texts || made.dtype == DType::kString || !made.type_bytes.empty();
}

bool cut_one(Model& model) {
  Graph& graph = model.graph;
  const Uses uses(graph);
  for (size_t k = 0; k < graph.outputs.size(); ++k) {
    const ValueId output = graph.outputs[k];
    const auto maker = uses.producer_index(output);
    if (!maker || uses.reader_count(output) != 1) continue;
    const Node node = graph.nodes()[*maker];
    const ValueId source = data_input(graph, node);
    const bool is_made = source.valid() && uses.producer_index(source) && !uses.is_output(source);
    if (!is_made || !makes_names(graph, node)) continue;
    Tail tail{k, node, {}};
    for (const ValueId id : node.inputs)
      if (id.valid() && id != source) tail.constants.emplace_back(id, *graph.initializer(id));
    std::replace(tail.node.inputs.begin(), tail.node.inputs.end(), source, ValueId{});
    model.tails.push_back(std::move(tail));
    graph.outputs[k] = source;
    graph.erase_nodes([&](const Node& one) { return one.id == node.id; });
    graph.erase_unused_initializers();
    return true;
  }
  return false;
}

}  // namespace

void cut_tails(Model& model) {
  const size_t before = model.tails.size();
  while (cut_one(model)) {
  }
  if (model.tails.size() == before) return;
  model.warnings.push_back({"names_left_out",
                            "The last nodes make names or maps of the results; they are left as they are, and what "
                            "they read is judged.",
                            "graph", ""});
}

void restore_tails(Model& model) {
  Graph& graph = model.graph;
  for (auto tail = model.tails.rbegin(); tail != model.tails.rend(); ++tail) {
    for (const auto& [id, constant] : tail->constants) graph.set_initializer(id, constant);
    Node node = tail->node;
    std::replace(node.inputs.begin(), node.inputs.end(), ValueId{}, graph.outputs[tail->output]);
    graph.outputs[tail->output] = node.outputs[0];
    graph.append(std::move(node));
  }
  model.tails.clear();
}

}  // namespace tersor::onnx
