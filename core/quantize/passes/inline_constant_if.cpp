// SPDX-License-Identifier: Apache-2.0
// An If whose condition is constant gives way to the nodes of the branch that it takes. What the branch makes gets
// names that no graph of the model has yet, except its outputs, which take the names of the If's. An If that always
// took the same branch stays, and has the nodes of that branch before it.
#include <map>
#include <set>

#include "core/passes/edit.h"
#include "core/passes/passes.h"

namespace tersor::passes {

namespace {

using Subgraph = std::shared_ptr<const Graph>;
using Names = std::map<std::string, std::string>;

template <class Visit>
void for_each_subgraph(Node& node, Visit&& visit) {
  for (auto& [key, attribute] : node.attributes) {
    if (auto* one = std::get_if<Subgraph>(&attribute)) visit(*one);
    if (auto* many = std::get_if<std::vector<Subgraph>>(&attribute))
      for (Subgraph& each : *many) visit(each);
  }
}

void collect_names(const Graph& graph, std::set<std::string>& names) {
  for (size_t k = 0; k < graph.value_count(); ++k) names.insert(graph.name_of(ValueId{static_cast<int32_t>(k)}));
  for (Node node : graph.nodes()) for_each_subgraph(node, [&](const Subgraph& inner) { collect_names(*inner, names); });
}

/// The subgraph with the outer values that it reads called by their new names.
Subgraph renamed(const Subgraph& graph, const Names& names) {
  const std::vector<std::string> outer = captures(*graph);
  Names here;
  for (const std::string& name : outer)
    if (const auto it = names.find(name); it != names.end() && it->second != name) here.insert(*it);
  if (here.empty()) return graph;
  auto copy = std::make_shared<Graph>(*graph);
  for (const auto& [from, to] : here)
    if (const auto id = copy->find(from)) copy->rename(*id, to);
  for (Node& node : copy->nodes()) for_each_subgraph(node, [&](Subgraph& inner) { inner = renamed(inner, here); });
  return copy;
}

/// Moves the nodes of a branch into the graph around it.
class Inlining {
 public:
  /// `node`, the If, is no longer in the graph.
  Inlining(Graph& graph, const Graph& branch, const Node& node)
      : graph_(graph), branch_(branch), node_(node), moved_(branch.value_count()) {
    collect_names(graph, taken_);
    for (const Node& each : branch.nodes()) made_.insert(each.outputs.begin(), each.outputs.end());
  }

  /// The nodes that stand for the If.
  std::vector<Node> nodes() {
    name_outputs();
    std::vector<Node> made;
    for (Node node : branch_.nodes()) {
      for (ValueId& id : node.inputs)
        if (id.valid()) id = moved(id);
      for (ValueId& id : node.outputs)
        if (id.valid()) id = moved(id);
      made.push_back(std::move(node));
    }
    Names names;
    for (size_t k = 0; k < moved_.size(); ++k)
      if (moved_[k].valid()) names[branch_.name_of(id_at(k))] = graph_.name_of(moved_[k]);
    for (Node& node : made) for_each_subgraph(node, [&](Subgraph& inner) { inner = renamed(inner, names); });
    for (size_t k = 0; k < node_.outputs.size(); ++k)
      if (node_.outputs[k].valid() && !named_.count(k)) made.push_back(identity(moved(branch_.outputs[k]), k));
    return made;
  }

 private:
  static ValueId id_at(size_t k) { return ValueId{static_cast<int32_t>(k)}; }

  /// A value that a node of the branch makes and that is an output is called as the If's output at once.
  void name_outputs() {
    for (size_t k = 0; k < node_.outputs.size(); ++k) {
      const ValueId id = branch_.outputs[k];
      ValueId& target = moved_[static_cast<size_t>(id.index)];
      if (!node_.outputs[k].valid() || made_.count(id) == 0 || target.valid()) continue;
      target = node_.outputs[k];
      named_.insert(k);
    }
  }

  /// The value of the graph around that stands for `id` of the branch.
  ValueId moved(ValueId id) {
    ValueId& target = moved_[static_cast<size_t>(id.index)];
    if (target.valid()) return target;
    const Value& value = branch_.value(id);
    const Tensor* constant = branch_.initializer(id);
    if (constant == nullptr && made_.count(id) == 0) return target = *graph_.find(value.name);
    std::string name = value.name;
    for (int k = 2; taken_.count(name) != 0; ++k) name = value.name + "_" + std::to_string(k);
    taken_.insert(name);
    target = graph_.add_value(name, value.dtype, value.shape);
    if (constant != nullptr) graph_.set_initializer(target, *constant);
    return target;
  }

  Node identity(ValueId from, size_t output) const {
    Node node;
    node.op_type = "Identity";
    node.inputs = {from};
    node.outputs = {node_.outputs[output]};
    return node;
  }

  Graph& graph_;
  const Graph& branch_;
  const Node& node_;
  std::set<std::string> taken_;
  std::set<ValueId> made_;      // by the branch's nodes
  std::vector<ValueId> moved_;  // by value of the branch
  std::set<size_t> named_;      // outputs that a node of the branch makes under the If's name
};

/// The branch that the node takes, when it is an If whose condition is a constant; else null.
Subgraph branch_of(const Graph& graph, const Node& node) {
  if (!node.is("If") || node.inputs.size() != 1 || !node.inputs[0].valid()) return nullptr;
  const Tensor* condition = graph.initializer(node.inputs[0]);
  if (condition == nullptr || condition->dtype() != DType::kBool || condition->elements() != 1) return nullptr;
  const bool holds = condition->data<uint8_t>()[0] != 0;
  const auto* branch = node.attribute<Subgraph>(holds ? "then_branch" : "else_branch");
  if (branch == nullptr || *branch == nullptr || !(*branch)->inputs.empty()) return nullptr;
  return (*branch)->outputs.size() >= node.outputs.size() ? *branch : nullptr;
}

int inline_once(Model& model) {
  Graph& graph = model.graph;
  int changed = 0;
  for (size_t i = 0; i < graph.nodes().size(); ++i) {
    const Subgraph branch = branch_of(graph, graph.nodes()[i]);
    if (branch == nullptr) continue;
    const Node gone = graph.nodes()[i];
    graph.nodes().erase(graph.nodes().begin() + static_cast<std::ptrdiff_t>(i));
    std::vector<Node> made = Inlining(graph, *branch, gone).nodes();
    for (size_t k = 0; k < made.size(); ++k) graph.insert(i + k, std::move(made[k]));
    i += made.size();
    --i;
    ++changed;
  }
  return changed;
}

/// A branch that gives out what lies outside under these names.
Subgraph passing_on(const Graph& branch, const Graph& graph, const std::vector<ValueId>& made) {
  auto body = std::make_shared<Graph>();
  body->name = branch.name;
  for (size_t k = 0; k < made.size(); ++k) {
    const Value& declared = branch.value(branch.outputs[k]);
    Node node;
    node.op_type = "Identity";
    node.inputs = {body->add_value(graph.name_of(made[k]))};
    node.outputs = {body->add_unique_value(declared.name, declared.dtype)};
    body->value(node.outputs[0]).shape = declared.shape;
    body->outputs.push_back(node.outputs[0]);
    body->append(std::move(node));
  }
  return body;
}

}  // namespace

int hoist_branches(Model& model, const std::map<std::string, bool>& taken) {
  Graph& graph = model.graph;
  int changed = 0;
  for (size_t i = 0; i < graph.nodes().size(); ++i) {
    Node node = graph.nodes()[i];
    const auto found = taken.find(graph.label_of(node));
    if (!node.is("If") || found == taken.end()) continue;
    const char* const key = found->second ? "then_branch" : "else_branch";
    const auto* held = node.attribute<Subgraph>(key);
    if (held == nullptr || *held == nullptr || (*held)->outputs.size() != node.outputs.size()) continue;
    const Subgraph branch = *held;
    Node inside = node;
    for (size_t k = 0; k < inside.outputs.size(); ++k) {
      const Value& declared = branch->value(branch->outputs[k]);
      inside.outputs[k] = graph.add_unique_value(declared.name + "_of_branch", declared.dtype);
      graph.value(inside.outputs[k]).shape = declared.shape;
    }
    std::vector<Node> made = Inlining(graph, *branch, inside).nodes();
    node.attributes[key] = passing_on(*branch, graph, inside.outputs);
    graph.nodes()[i] = std::move(node);
    for (size_t k = 0; k < made.size(); ++k) graph.insert(i + k, std::move(made[k]));
    i += made.size();
    ++changed;
  }
  return changed;
}

int inline_constant_if(Model& model) {
  int total = 0;
  while (const int changed = inline_once(model)) {
    total += changed;
    fold_constants(model);  // the condition of an If inside may be constant now
  }
  return total;
}

}  // namespace tersor::passes
