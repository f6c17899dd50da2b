// SPDX-License-Identifier: Apache-2.0
#include "core/export/sink_branches.h"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "core/graph/subgraphs.h"
#include "core/graph/uses.h"

namespace tersor::ptq {

namespace {

using Subgraph = std::shared_ptr<const Graph>;

constexpr int64_t kSmall = 64;  // elements

class Sinking {
 public:
  Sinking(Graph& graph, size_t index, const char* key)
      : graph_(graph), uses_(graph), index_(index), key_(key), sinks_(graph.nodes().size(), false) {
    const Node& node = graph.nodes()[index];
    body_ = std::make_shared<Graph>(**node.attribute<Subgraph>(key));
    elsewhere_.insert(node.inputs.begin(), node.inputs.end());
    for (const auto& [name, attribute] : node.attributes)
      if (const auto* other = std::get_if<Subgraph>(&attribute); other != nullptr && name != key_)
        for (const std::string& captured : captures(**other))
          if (const auto value = graph.find(captured)) elsewhere_.insert(*value);
  }

  void sink() {
    std::vector<Node> moved;
    for (size_t i = index_; i-- > 0;)
      if (may_sink(graph_.nodes()[i])) sinks_[i] = true;
    for (size_t i = 0; i < index_; ++i)
      if (sinks_[i]) add_inside(graph_.nodes()[i], moved);
    if (moved.empty()) return;
    for (size_t k = 0; k < moved.size(); ++k) body_->insert(k, std::move(moved[k]));
    graph_.nodes()[index_].attributes[key_] = Subgraph(body_);
    std::set<NodeId> gone;
    for (size_t i = 0; i < index_; ++i)
      if (sinks_[i]) gone.insert(graph_.nodes()[i].id);
    for (const Node& node : graph_.nodes())
      for (const ValueId id : node.outputs)
        if (gone.count(node.id) != 0 && id.valid()) forget(id);
    graph_.erase_nodes([&](const Node& node) { return gone.count(node.id) != 0; });
    for (const ValueId constant : inside_alone_) graph_.erase_initializer(constant), forget(constant);
  }

 private:
  bool is_read_inside_alone(ValueId id) const {
    if (uses_.is_output(id) || elsewhere_.count(id) != 0) return false;
    const std::vector<size_t>& readers = uses_.reader_indices(id);
    return std::all_of(readers.begin(), readers.end(), [&](size_t i) { return i == index_ || sinks_[i]; });
  }

  /// Quantizers that nobody reads go along with what they would keep outside.
  bool may_sink(const Node& node) const {
    return std::all_of(node.outputs.begin(), node.outputs.end(),
                       [&](ValueId id) { return !id.valid() || is_read_inside_alone(id); });
  }

  void add_inside(const Node& node, std::vector<Node>& moved) {
    Node copy = node;
    for_each_subgraph(copy, [&](const Graph& inner) {
      for (const std::string& name : captures(inner))
        if (const auto value = graph_.find(name)) bring(*value, moved);
    });
    for (ValueId& id : copy.inputs)
      if (id.valid()) id = bring(id, moved);
    for (ValueId& id : copy.outputs)
      if (id.valid()) id = inside(id);
    moved.push_back(std::move(copy));
  }

  /// The value of the body that stands for one of the graph, with what has to be beside its reader.
  ValueId bring(ValueId id, std::vector<Node>& moved) {
    const ValueId there = inside(id);
    if (const Tensor* const constant = graph_.initializer(id)) {
      const bool alone = is_read_inside_alone(id);
      if (alone) inside_alone_.insert(id);
      if (alone || constant->elements() <= kSmall) return own(id, there, *constant);
      return there;
    }
    const auto maker = uses_.producer_index(id);
    if (!maker || sinks_[*maker] || !graph_.nodes()[*maker].is("DequantizeLinear")) return there;
    const auto [copied, is_new] = copies_.try_emplace(id);
    if (is_new) {
      copied->second = body_->add_unique_value(graph_.name_of(id) + "_of_branch", graph_.value(id).dtype);
      Node node = graph_.nodes()[*maker];
      node.name.clear();
      for (ValueId& input : node.inputs)
        if (input.valid()) input = bring(input, moved);
      node.outputs = {copied->second};
      moved.push_back(std::move(node));
    }
    return copied->second;
  }

  /// A constant of the body: under its name where the graph has it no more, else under one that hides nothing.
  ValueId own(ValueId id, ValueId there, const Tensor& constant) {
    if (inside_alone_.count(id) != 0) {
      body_->set_initializer(there, constant);
      return there;
    }
    const auto [copied, is_new] = copies_.try_emplace(id);
    if (is_new) copied->second = body_->add_initializer(graph_.name_of(id) + "_of_branch", constant);
    return copied->second;
  }

  ValueId inside(ValueId id) {
    const Value& value = graph_.value(id);
    if (const auto known = body_->find(value.name)) return *known;
    const ValueId made = body_->add_value(value.name, value.dtype);
    body_->value(made).shape = value.shape;
    return made;
  }

  void forget(ValueId id) {
    graph_.value(id).dtype = DType::kUndefined;
    graph_.value(id).shape.reset();
  }

  Graph& graph_;
  const Uses uses_;
  const size_t index_;  // of the If
  const std::string key_;
  std::vector<bool> sinks_;      // by node
  std::set<ValueId> elsewhere_;  // what the If reads outside of that branch
  std::shared_ptr<Graph> body_;
  std::set<ValueId> inside_alone_;     // constants
  std::map<ValueId, ValueId> copies_;  // of what others read as well
};

}  // namespace

void sink_branches(Graph& graph, const std::map<std::string, bool>& taken) {
  std::vector<std::pair<NodeId, bool>> ifs;  // what follows one may take it along, with its branch
  for (const Node& node : graph.nodes())
    if (const auto found = taken.find(graph.label_of(node)); node.is("If") && found != taken.end())
      ifs.emplace_back(node.id, found->second);
  for (const auto& [id, is_then] : ifs) {
    const auto at = std::find_if(graph.nodes().begin(), graph.nodes().end(),
                                 [&, wanted = id](const Node& node) { return node.id == wanted; });
    Sinking(graph, static_cast<size_t>(at - graph.nodes().begin()), is_then ? "then_branch" : "else_branch").sink();
  }
}

}  // namespace tersor::ptq
