// SPDX-License-Identifier: Apache-2.0
#include "core/onnx/usage_notes.h"

#include <algorithm>
#include <set>
#include <string>

#include "core/graph/operators.h"
#include "core/graph/subgraphs.h"
#include "core/graph/uses.h"

namespace tersor::onnx {

namespace {

/// Nodes of one kind, of which a remark names the first.
struct Found {
  size_t count = 0;
  std::string first;  // its type and what it is called

  void add(const Graph& graph, const Node& node) {
    if (count++ == 0) first = node.op_type + " \"" + graph.label_of(node) + "\"";
  }
  std::string text() const {
    return first +
           (count == 1 ? "" : " and " + std::to_string(count - 1) + (count == 2 ? " node more" : " nodes more"));
  }
};

struct FoundNodes {
  Found random, training;
};

bool is_in_training_mode(const Graph& graph, const Node& node) {
  if (node.is("BatchNormalization")) return node.int_or("training_mode", 0) != 0;
  if (!node.is("Dropout") || node.inputs.size() < 3 || !node.inputs[2].valid()) return false;
  const Tensor* mode = graph.initializer(node.inputs[2]);
  return mode == nullptr || mode->elements() != 1 || mode->to_int64s()[0] != 0;
}

void find(const Graph& graph, FoundNodes& found) {
  std::set<ValueId> constant;
  const auto is_constant = [&](ValueId id) {
    return !id.valid() || graph.initializer(id) != nullptr || constant.count(id) != 0;
  };
  for (const Node& node : graph.nodes()) {
    if (has_trait(node, Trait::kRandom)) {
      found.random.add(graph, node);
      continue;
    }
    bool has_bodies = false;
    for_each_subgraph(node, [&](const Graph& body) {
      find(body, found);
      has_bodies = true;
    });
    // Weights that are standardized in the graph are so by a BatchNormalization in training mode.
    if (!has_bodies && std::all_of(node.inputs.begin(), node.inputs.end(), is_constant)) {
      constant.insert(node.outputs.begin(), node.outputs.end());
      continue;
    }
    if (is_in_training_mode(graph, node)) found.training.add(graph, node);
  }
}

/// Returns how many nodes it has set.
size_t set_inference_mode(Graph& graph) {
  const Uses uses(graph);
  size_t set = 0;
  for (Node& node : graph.nodes()) {
    for (auto& [name, attribute] : node.attributes) {
      auto* body = std::get_if<std::shared_ptr<const Graph>>(&attribute);
      if (body == nullptr) continue;
      auto copy = std::make_shared<Graph>(**body);
      const size_t inside = set_inference_mode(*copy);
      if (inside > 0) *body = std::move(copy);
      set += inside;
    }
    if (!is_in_training_mode(graph, node)) continue;
    const bool is_dropout = node.is("Dropout");
    const bool is_watched = std::any_of(node.outputs.begin() + 1, node.outputs.end(),
                                        [&](ValueId id) { return id.valid() && uses.reader_count(id) > 0; });
    if (is_watched && !is_dropout) continue;
    if (is_dropout) node.inputs.resize(1);
    if (!is_dropout) node.outputs.resize(1);
    node.attributes.erase("training_mode");
    ++set;
  }
  return set;
}

}  // namespace

size_t set_inference_mode(Model& model) {
  const size_t set = set_inference_mode(model.graph);
  if (set == 0) return 0;
  std::erase_if(model.warnings, [](const Diagnostic& one) { return one.code == kTrainingMode; });
  for (Diagnostic& note : usage_notes(model.graph))
    if (note.code == kTrainingMode) model.warnings.push_back(std::move(note));
  return set;
}

std::vector<Diagnostic> usage_notes(const Graph& graph) {
  FoundNodes found;
  find(graph, found);
  std::vector<Diagnostic> notes;
  if (found.training.count > 0)
    notes.push_back({std::string(kTrainingMode),
                     "Exported in training mode: " + found.training.text() +
                         ". Results then depend on what else is in a batch, and runtimes differ in them.",
                     "graph",
                     "Export the model again with eval(), or set inference_mode (--set inference_mode=true)."});
  if (found.random.count > 0)
    notes.push_back({"random_numbers",
                     "Random numbers are drawn by " + found.random.text() +
                         ", which stay as they are; ranges and comparisons are of the same numbers of a fixed seed in "
                         "both models.",
                     "graph", ""});
  return notes;
}

}  // namespace tersor::onnx
