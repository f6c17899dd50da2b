// SPDX-License-Identifier: Apache-2.0
// The graph as read from a model: nodes in topological order, values by id, weights held once. Operators are data
// (type, inputs, outputs, attributes); what they mean is in core/ops. Ids are never reused, so what later stages key by
// them (attachment, statistics, plan) stays valid when a pass adds or removes nodes.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/graph/attributes.h"
#include "core/tensor/tensor.h"

namespace tersor {

/// A tensor of the graph: an input, an initializer or a node's output. Invalid (-1) stands for an absent optional
/// input.
struct ValueId {
  int32_t index = -1;
  bool valid() const { return index >= 0; }
  auto operator<=>(const ValueId&) const = default;
};

struct NodeId {
  int32_t index = -1;
  auto operator<=>(const NodeId&) const = default;
};

/// One dimension of a declared shape: fixed, named ("N"), or unknown (value -1 and no name).
struct Dim {
  int64_t value = -1;
  std::string symbol;
  std::string denotation = {};  // "DATA_BATCH" and the like; nearly always empty
  bool fixed() const { return value >= 0; }
  bool operator==(const Dim&) const = default;
};

struct Value {
  std::string name;
  DType dtype = DType::kUndefined;        // kUndefined: not declared
  std::optional<std::vector<Dim>> shape;  // absent: not declared
  std::string type_bytes;                 // encoded TypeProto of a value that is no tensor (sequence, map, optional)
  std::string denotation;                 // "IMAGE" and the like; nearly always empty
  std::string doc;
  std::string rest;  // encoded ValueInfoProto fields this code does not know, kept byte for byte
};

struct Node {
  NodeId id;         // set by Graph
  std::string name;  // may be empty or repeated: ONNX does not demand otherwise
  std::string op_type;
  std::string domain;  // "" is ONNX's own ("ai.onnx" reads as "")
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;
  Attributes attributes;
  std::string doc;
  std::string rest;  // encoded NodeProto fields this code does not know, kept byte for byte

  /// The attribute, or null where it is absent. Error kInvalidModel where it is of another type.
  template <class T>
  const T* attribute(std::string_view key) const {
    const auto it = attributes.find(key);
    if (it == attributes.end()) return nullptr;
    if (const T* found = std::get_if<T>(&it->second)) return found;
    refuse_type(*it, Attribute(std::in_place_type<T>));
  }
  /// There is an attribute of that name, and it is of that type.
  template <class T>
  bool holds(std::string_view key) const {
    const auto it = attributes.find(key);
    return it != attributes.end() && std::holds_alternative<T>(it->second);
  }
  int64_t int_or(std::string_view key, int64_t otherwise) const {
    const auto* found = attribute<int64_t>(key);
    return found != nullptr ? *found : otherwise;
  }
  float float_or(std::string_view key, float otherwise) const {
    const auto* found = attribute<float>(key);
    return found != nullptr ? *found : otherwise;
  }
  std::string string_or(std::string_view key, std::string_view otherwise) const {
    const auto* found = attribute<std::string>(key);
    return found != nullptr ? *found : std::string(otherwise);
  }
  std::vector<int64_t> ints_or(std::string_view key, std::vector<int64_t> otherwise) const {
    if (const auto* found = attribute<std::vector<int64_t>>(key)) return *found;
    return otherwise;
  }
  bool is(std::string_view type) const { return domain.empty() && op_type == type; }

 private:
  [[noreturn]] void refuse_type(const Attributes::value_type& found, const Attribute& wanted) const;
};

/// A node as error texts name it: `graph.node[12] "conv1" (Conv)`.
std::string place_of(const Node& node, size_t index);

class Graph {
 public:
  std::string name;
  std::string doc;
  std::string rest;             // encoded GraphProto fields this code does not know, kept byte for byte
  std::vector<ValueId> inputs;  // without initializers that old models also list as inputs
  std::vector<ValueId> outputs;

  // Values. Names are unique within a graph; a subgraph's use of an outer value is a value of the same name here that
  // nothing defines (see captures()).
  ValueId add_value(std::string name, DType dtype = DType::kUndefined,
                    std::optional<std::vector<Dim>> shape = std::nullopt);
  /// A value whose name is `stem`, or `stem` with the first free suffix `_2`, `_3`, ...
  ValueId add_unique_value(std::string_view stem, DType dtype = DType::kUndefined);
  std::optional<ValueId> find(std::string_view name) const;
  Value& value(ValueId id) { return values_[static_cast<size_t>(id.index)]; }
  const Value& value(ValueId id) const { return values_[static_cast<size_t>(id.index)]; }
  const std::string& name_of(ValueId id) const { return value(id).name; }
  /// What a node is called where it may have no name: its name, else that of its first output that is there.
  const std::string& label_of(const Node& node) const;
  size_t value_count() const { return values_.size(); }
  void rename(ValueId id, std::string name);

  // Initializers, in the order of the file.
  void set_initializer(ValueId id, Tensor tensor);
  ValueId add_initializer(std::string_view stem, Tensor tensor);
  void erase_initializer(ValueId id);
  const Tensor* initializer(ValueId id) const;
  const std::map<ValueId, Tensor>& initializers() const { return initializers_; }

  // Nodes, in topological order. insert() and append() give the node its id.
  const std::vector<Node>& nodes() const { return nodes_; }
  std::vector<Node>& nodes() { return nodes_; }
  NodeId append(Node node) { return insert(nodes_.size(), std::move(node)); }
  NodeId insert(size_t position, Node node);
  /// Null when the node is gone.
  const Node* find(NodeId id) const;
  Node* find(NodeId id);
  template <class Predicate>
  void erase_nodes(Predicate gone) {
    std::erase_if(nodes_, gone);
  }
  /// Sorts the nodes so that each stands after the producers of its inputs (stable). Error kInvalidModel naming a node
  /// when the graph has a cycle.
  void sort_topologically();
  /// Drops initializers that nothing reads.
  void erase_unused_initializers();

 private:
  std::vector<Value> values_;
  std::unordered_map<std::string, ValueId> by_name_;
  std::map<ValueId, Tensor> initializers_;
  std::vector<Node> nodes_;
  int32_t next_node_ = 0;
};

struct OpsetImport {
  std::string domain;
  int64_t version = 0;
};

/// A node at the end of a model that is left out while it is run: see onnx::cut_tails().
struct Tail {
  size_t output = 0;  // which graph output it makes
  Node node;          // its input that is no constant is an absent one
  std::vector<std::pair<ValueId, Tensor>> constants = {};
};

/// How the pixels of a picture, 0 to 255, become what an input takes: x = (pixel - mean) / deviation. Both are
/// float32, with one element or with one for each channel, and broadcast to the input.
struct PixelScale {
  Tensor mean;
  Tensor deviation;
  bool operator==(const PixelScale&) const = default;
};

/// A model file: the graph and what stands around it.
struct Model {
  int64_t ir_version = 8;
  std::vector<OpsetImport> opset_imports;
  std::string producer_name;
  std::string producer_version;
  std::string domain;
  int64_t model_version = 0;
  std::string doc;
  std::vector<std::pair<std::string, std::string>> metadata;
  std::string rest;  // encoded ModelProto fields this code does not know (functions, training info)
  bool initializers_were_inputs = false;  // the file listed them among the inputs; see onnx::WriteOptions
  std::vector<Diagnostic> warnings;       // what the reader or a converter found noteworthy; not part of the file
  /// Inputs and outputs that are float32 here and something else in the file: floats of 16 bits (onnx::widen_floats()),
  /// integers of 8 (onnx/integer_edges.h).
  std::map<std::string, DType> narrow = {};
  /// Of those, the inputs that are pixels in the file, which preprocesses them.
  std::map<std::string, PixelScale> pixels = {};
  std::vector<Tail> tails = {};  // in the order in which they were cut, the last node first
  Graph graph;

  /// Version of a domain's operators; 0 when it is not imported.
  int64_t opset(std::string_view domain = "") const;
};

}  // namespace tersor
