// SPDX-License-Identifier: Apache-2.0
#include "core/graph/validate.h"

#include <set>

#include "core/base/error.h"

namespace tersor {

namespace {

[[noreturn]] void refuse(std::string message, std::string place, std::string hint = {}) {
  throw Error(ErrorCode::kInvalidModel, std::move(message), std::move(place), std::move(hint));
}

std::string quoted(const std::string& name) {
  return "\"" + name + "\"";
}

/// What is defined so far in one graph, and around it.
class Scope {
 public:
  Scope(const Graph& graph, std::string place, const Scope* outer)
      : graph_(graph), place_(std::move(place)), outer_(outer), defined_(graph.value_count(), false) {}

  const Graph& graph() const { return graph_; }
  const std::string& place() const { return place_; }
  std::string node_place(size_t index) const {
    return place_ + place_of(graph_.nodes()[index], index).substr(std::string("graph").size());
  }

  bool holds(ValueId id) const { return static_cast<size_t>(id.index) < defined_.size(); }
  bool is_defined(ValueId id) const {
    return defined_[static_cast<size_t>(id.index)] || (outer_ != nullptr && outer_->sees(graph_.name_of(id)));
  }
  void define(ValueId id, const std::string& where) {
    if (!id.valid() || !holds(id)) refuse("A tensor's number lies outside the graph.", where);
    if (defined_[static_cast<size_t>(id.index)])
      refuse("The tensor " + quoted(graph_.name_of(id)) + " is defined twice.", where,
             "Every tensor has one source: an input, an initializer or one node's output.");
    defined_[static_cast<size_t>(id.index)] = true;
  }

 private:
  bool sees(const std::string& name) const {
    const auto id = graph_.find(name);
    if (id && defined_[static_cast<size_t>(id->index)]) return true;
    return outer_ != nullptr && outer_->sees(name);
  }

  const Graph& graph_;
  std::string place_;
  const Scope* outer_;
  std::vector<bool> defined_;
};

void check_graph(const Model& model, Scope& scope, int depth);

void check_subgraph(const Model& model, const std::shared_ptr<const Graph>& graph, const Scope& outer,
                    const std::string& place, int depth) {
  if (graph == nullptr) refuse("A subgraph is missing.", place);
  if (depth > kDeepestSubgraph)
    refuse("Subgraphs lie deeper in each other than " + std::to_string(kDeepestSubgraph) + " levels.", place,
           kFewerLevels);
  Scope scope(*graph, place, &outer);
  check_graph(model, scope, depth);
}

void check_reads(const Scope& scope, const Node& node, const std::string& place) {
  for (ValueId id : node.inputs) {
    if (!id.valid()) continue;
    if (!scope.holds(id)) refuse("A tensor's number lies outside the graph.", place);
    if (!scope.is_defined(id))
      refuse("The node reads the tensor " + quoted(scope.graph().name_of(id)) +
                 ", which is no input, no initializer and no earlier node's output.",
             place, "The file may have lost its weights; export the model again.");
  }
}

void check_node(const Model& model, Scope& scope, size_t index, int depth) {
  const Node& node = scope.graph().nodes()[index];
  const std::string place = scope.node_place(index);
  if (node.op_type.empty()) refuse("The node does not say what it does: its operator is empty.", place);
  if (model.opset(node.domain) == 0)
    refuse("The node's operator is of the domain " + quoted(node.domain) +
               ", of which the model names no operator set version.",
           place, "Add the domain to the model's opset_import, or export the model again.");
  check_reads(scope, node, place);
  for (const auto& [key, attribute] : node.attributes) {
    if (const auto* one = std::get_if<std::shared_ptr<const Graph>>(&attribute))
      check_subgraph(model, *one, scope, place + "." + key, depth + 1);
    if (const auto* many = std::get_if<std::vector<std::shared_ptr<const Graph>>>(&attribute))
      for (size_t k = 0; k < many->size(); ++k)
        check_subgraph(model, (*many)[k], scope, place + "." + key + "[" + std::to_string(k) + "]", depth + 1);
  }
  for (ValueId id : node.outputs)
    if (id.valid()) scope.define(id, place);
}

void check_graph(const Model& model, Scope& scope, int depth) {
  const Graph& graph = scope.graph();
  for (size_t k = 0; k < graph.inputs.size(); ++k)
    scope.define(graph.inputs[k], scope.place() + ".input[" + std::to_string(k) + "]");
  for (const auto& [id, tensor] : graph.initializers()) scope.define(id, scope.place() + ".initializer");
  for (size_t i = 0; i < graph.nodes().size(); ++i) check_node(model, scope, i, depth);
  if (graph.outputs.empty())
    refuse("The graph has no outputs.", scope.place(), "The file may be cut short; export the model again.");
  for (size_t k = 0; k < graph.outputs.size(); ++k) {
    const ValueId id = graph.outputs[k];
    const std::string place = scope.place() + ".output[" + std::to_string(k) + "]";
    if (!id.valid() || !scope.holds(id)) refuse("A tensor's number lies outside the graph.", place);
    if (!scope.is_defined(id))
      refuse("Nothing makes the output " + quoted(graph.name_of(id)) + ".", place,
             "The file may have lost a node; export the model again.");
  }
}

void check_opsets(const Model& model) {
  std::set<std::string> domains;
  if (model.opset_imports.empty())
    refuse("The model names no operator set version (opset_import).", "opset_import",
           "The file may be cut short, or older than ONNX 1.0.");
  for (const OpsetImport& import : model.opset_imports) {
    if (!domains.insert(import.domain).second)
      refuse("The operator set of the domain " + quoted(import.domain) + " is imported twice.", "opset_import");
    if (import.version < 1)
      refuse("The operator set of the domain " + quoted(import.domain) + " has the version " +
                 std::to_string(import.version) + ".",
             "opset_import");
  }
}

}  // namespace

void validate(const Model& model) {
  check_opsets(model);
  Scope scope(model.graph, "graph", nullptr);
  check_graph(model, scope, 0);
}

}  // namespace tersor
