// SPDX-License-Identifier: Apache-2.0
#include "core/graph/graph.h"

#include <algorithm>
#include <queue>
#include <set>

#include "core/base/error.h"
#include "core/graph/uses.h"

namespace tersor {

namespace {

constexpr const char* kTypeNames[] = {"a whole number",
                                      "a number",
                                      "text",
                                      "a tensor",
                                      "a graph",
                                      "a list of whole numbers",
                                      "a list of numbers",
                                      "a list of texts",
                                      "a list of tensors",
                                      "a list of graphs",
                                      "of a type not known here"};
static_assert(std::size(kTypeNames) == std::variant_size_v<Attribute>);

}  // namespace

std::string place_of(const Node& node, size_t index) {
  return "graph.node[" + std::to_string(index) + "]" + (node.name.empty() ? "" : " \"" + node.name + "\"") + " (" +
         node.op_type + ")";
}

const std::string& Graph::label_of(const Node& node) const {
  static const std::string kNone;
  if (!node.name.empty()) return node.name;
  const auto output = std::find_if(node.outputs.begin(), node.outputs.end(), [](ValueId id) { return id.valid(); });
  return output == node.outputs.end() ? kNone : name_of(*output);
}

void Node::refuse_type(const Attributes::value_type& found, const Attribute& wanted) const {
  throw Error(ErrorCode::kInvalidModel,
              "The attribute " + found.first + " of " + op_type + (name.empty() ? "" : " \"" + name + "\"") + " is " +
                  kTypeNames[found.second.index()] + "; it must be " + kTypeNames[wanted.index()] + ".",
              {}, "Export the model again; no runtime can run it as it is.");
}

ValueId Graph::add_value(std::string value_name, DType dtype, std::optional<std::vector<Dim>> shape) {
  const ValueId id{static_cast<int32_t>(values_.size())};
  if (!by_name_.emplace(value_name, id).second)
    throw Error(ErrorCode::kInvalidModel, "The tensor name \"" + value_name + "\" is defined twice.");
  Value fresh;
  fresh.name = std::move(value_name);
  fresh.dtype = dtype;
  fresh.shape = std::move(shape);
  values_.push_back(std::move(fresh));
  return id;
}

ValueId Graph::add_unique_value(std::string_view stem, DType dtype) {
  std::string candidate(stem);
  for (int k = 2; by_name_.count(candidate) != 0; ++k) candidate = std::string(stem) + "_" + std::to_string(k);
  return add_value(std::move(candidate), dtype);
}

std::optional<ValueId> Graph::find(std::string_view value_name) const {
  const auto it = by_name_.find(std::string(value_name));
  return it == by_name_.end() ? std::nullopt : std::optional(it->second);
}

void Graph::rename(ValueId id, std::string value_name) {
  if (by_name_.count(value_name) != 0)
    throw Error(ErrorCode::kInvalidModel, "The tensor name \"" + value_name + "\" is defined twice.");
  by_name_.erase(value(id).name);
  by_name_.emplace(value_name, id);
  value(id).name = std::move(value_name);
}

void Graph::set_initializer(ValueId id, Tensor tensor) {
  Value& described = value(id);
  described.dtype = tensor.dtype();
  std::vector<Dim> dims;
  for (int64_t dim : tensor.shape()) dims.push_back({dim, {}});
  described.shape = std::move(dims);
  initializers_[id] = std::move(tensor);
}

ValueId Graph::add_initializer(std::string_view stem, Tensor tensor) {
  const ValueId id = add_unique_value(stem);
  set_initializer(id, std::move(tensor));
  return id;
}

void Graph::erase_initializer(ValueId id) {
  initializers_.erase(id);
}

const Tensor* Graph::initializer(ValueId id) const {
  const auto it = initializers_.find(id);
  return it == initializers_.end() ? nullptr : &it->second;
}

NodeId Graph::insert(size_t position, Node node) {
  node.id = NodeId{next_node_++};
  const NodeId id = node.id;
  nodes_.insert(nodes_.begin() + static_cast<std::ptrdiff_t>(position), std::move(node));
  return id;
}

/// Looks first where the node stands if none before it has come or gone.
const Node* Graph::find(NodeId id) const {
  const size_t near = id.index < 0 ? 0 : std::min(static_cast<size_t>(id.index), nodes_.size());
  for (size_t away = 0; away <= nodes_.size(); ++away)
    for (const size_t place : {near + away, near - away})  // below 0 is beyond the end, too
      if (place < nodes_.size() && nodes_[place].id == id) return &nodes_[place];
  return nullptr;
}

Node* Graph::find(NodeId id) {
  return const_cast<Node*>(static_cast<const Graph*>(this)->find(id));
}

void Graph::sort_topologically() {
  const Uses uses(*this);
  std::vector<int> waiting(nodes_.size(), 0);
  std::priority_queue<size_t, std::vector<size_t>, std::greater<>> ready;
  for (size_t i = 0; i < nodes_.size(); ++i) {
    std::set<size_t> producers;
    for (ValueId id : uses.reads(i))
      if (const auto producer = uses.producer_index(id)) producers.insert(*producer);
    waiting[i] = static_cast<int>(producers.size());
    if (producers.empty()) ready.push(i);
  }
  std::vector<size_t> order;
  while (!ready.empty()) {
    const size_t i = ready.top();
    ready.pop();
    order.push_back(i);
    std::set<size_t> readers;
    for (ValueId id : nodes_[i].outputs)
      if (id.valid())
        for (size_t reader : uses.reader_indices(id)) readers.insert(reader);
    for (size_t reader : readers)
      if (--waiting[reader] == 0) ready.push(reader);
  }
  if (order.size() != nodes_.size()) {
    size_t stuck = 0;
    while (waiting[stuck] == 0) ++stuck;
    throw Error(ErrorCode::kInvalidModel, "The graph has a cycle: this node waits for its own output.",
                place_of(nodes_[stuck], stuck), "Export the model again; a feed-forward graph has no cycles.");
  }
  std::vector<Node> sorted;
  sorted.reserve(nodes_.size());
  for (size_t i : order) sorted.push_back(std::move(nodes_[i]));
  nodes_ = std::move(sorted);
}

void Graph::erase_unused_initializers() {
  const Uses uses(*this);
  for (auto it = initializers_.begin(); it != initializers_.end();)
    it = uses.reader_count(it->first) == 0 ? initializers_.erase(it) : std::next(it);
}

int64_t Model::opset(std::string_view wanted) const {
  for (const OpsetImport& import : opset_imports)
    if (import.domain == wanted) return import.version;
  return 0;
}

}  // namespace tersor
