// SPDX-License-Identifier: Apache-2.0
#include "core/onnx/read_graph.h"

#include <algorithm>
#include <set>

#include "core/base/error.h"
#include "core/graph/operators.h"
#include "core/graph/uses.h"
#include "core/graph/validate.h"
#include "core/onnx/format.h"
#include "core/onnx/place.h"
#include "core/onnx/read_attribute.h"
#include "core/onnx/read_tensor.h"
#include "core/onnx/read_value.h"

namespace tersor::onnx {

namespace {

/// Functions may call each other this deep.
constexpr int kDeepestCall = 64;

std::string at(const std::string& place, const char* list, size_t index) {
  return place + "." + list + "[" + std::to_string(index) + "]";
}

/// A GraphProto's fields as they lie in the file.
struct EncodedGraph {
  std::vector<std::string_view> nodes, initializers, sparse_initializers, inputs, outputs, value_infos;
};

EncodedGraph read_fields(std::string_view message, Graph& graph) {
  EncodedGraph encoded;
  Fields fields(message);
  while (fields.next()) {
    switch (fields.tag()) {
      case graph_field::kNode:
        encoded.nodes.push_back(fields.view());
        break;
      case graph_field::kName:
        graph.name = fields.text();
        break;
      case graph_field::kInitializer:
        encoded.initializers.push_back(fields.view());
        break;
      case graph_field::kDoc:
        graph.doc = fields.text();
        break;
      case graph_field::kInput:
        encoded.inputs.push_back(fields.view());
        break;
      case graph_field::kOutput:
        encoded.outputs.push_back(fields.view());
        break;
      case graph_field::kValueInfo:
        encoded.value_infos.push_back(fields.view());
        break;
      case graph_field::kSparseInitializer:
        encoded.sparse_initializers.push_back(fields.view());
        break;
      default:
        graph.rest += fields.encoded();
        break;
    }
  }
  return encoded;
}

/// Of ONNX's operators only the recurrent ones may leave out their first output while they have another.
void require_first_output(const Node& node, const std::string& where) {
  if (node.outputs.empty() || node.outputs[0].valid() || !node.domain.empty()) return;
  const bool any = std::any_of(node.outputs.begin(), node.outputs.end(), [](ValueId id) { return id.valid(); });
  if (!any || has_trait(node, Trait::kRecurrent)) return;
  throw Error(ErrorCode::kInvalidModel, "The first output of " + node.op_type + " is missing; it has no default.",
              where, "Give the output a name, or export the model again.");
}

class GraphReader {
 public:
  GraphReader(const GraphContext& context, std::string place, int depth)
      : context_(context), place_(std::move(place)), depth_(depth) {}

  Graph read(std::string_view message) {
    const EncodedGraph encoded = read_fields(message, graph_);
    // Inputs come first among the values, then initializers in the file's order, then what nodes make.
    std::vector<std::pair<std::string, NamedTensor>> initializers = read_initializers(encoded);
    std::vector<Value> inputs = read_values(encoded.inputs, "input");
    add_inputs(std::move(inputs), initializers);
    for (auto& [where, named] : initializers) add_initializer(where, std::move(named));
    for (size_t i = 0; i < encoded.nodes.size(); ++i) read_node_or_call(encoded.nodes[i], i, context_, 0);
    for (Value& described : read_values(encoded.outputs, "output"))
      graph_.outputs.push_back(describe(std::move(described)));
    for (Value& described : read_values(encoded.value_infos, "value_info"))
      if (graph_.find(described.name)) describe(std::move(described));
    sort_nodes();
    return std::move(graph_);
  }

 private:
  ValueId named_value(const std::string& name) {
    if (const auto known = graph_.find(name)) return *known;
    return graph_.add_value(name);
  }

  std::vector<Value> read_values(const std::vector<std::string_view>& messages, const char* list) {
    std::vector<Value> values;
    for (size_t k = 0; k < messages.size(); ++k) {
      const std::string where = at(place_, list, k);
      values.push_back(within(where, [&] { return read_value(messages[k]); }));
      if (values.back().name.empty()) throw Error(ErrorCode::kInvalidModel, "A tensor has no name.", where);
    }
    return values;
  }

  /// Adds what `described` says to the value of that name, unless more is known about it already.
  ValueId describe(Value described) {
    const ValueId id = named_value(described.name);
    Value& value = graph_.value(id);
    const bool known = value.dtype != DType::kUndefined || value.shape || !value.type_bytes.empty();
    if (!known) value = std::move(described);
    return id;
  }

  std::vector<std::pair<std::string, NamedTensor>> read_initializers(const EncodedGraph& encoded) {
    std::vector<std::pair<std::string, NamedTensor>> initializers;
    const auto add = [&](std::string where, std::string_view message, auto read_one) {
      NamedTensor named = within(where, [&] { return read_one(message, context_.model, context_.external); });
      if (named.name.empty()) throw Error(ErrorCode::kInvalidModel, "An initializer has no name.", where);
      initializers.emplace_back(std::move(where), std::move(named));
    };
    for (size_t k = 0; k < encoded.initializers.size(); ++k)
      add(at(place_, "initializer", k), encoded.initializers[k], read_tensor);
    for (size_t k = 0; k < encoded.sparse_initializers.size(); ++k)
      add(at(place_, "sparse_initializer", k), encoded.sparse_initializers[k], read_sparse_tensor);
    return initializers;
  }

  void add_inputs(std::vector<Value> inputs, const std::vector<std::pair<std::string, NamedTensor>>& initializers) {
    std::set<std::string_view> constants;
    for (const auto& [where, named] : initializers) constants.insert(named.name);
    size_t both = 0;
    for (size_t k = 0; k < inputs.size(); ++k) {
      if (constants.count(inputs[k].name) != 0) {
        ++both;
        continue;
      }
      if (graph_.find(inputs[k].name)) twice(inputs[k].name, at(place_, "input", k));
      graph_.inputs.push_back(describe(std::move(inputs[k])));
    }
    if (both > 0)
      context_.warnings.push_back({kListedInitializers,
                                   std::to_string(both) + " weights are also listed as inputs of the graph; they are "
                                                          "taken as constants.",
                                   place_, ""});
  }

  void add_initializer(const std::string& where, NamedTensor named) {
    if (graph_.find(named.name)) twice(named.name, where);
    const ValueId id = graph_.add_value(named.name);
    graph_.value(id).doc = std::move(named.doc);
    graph_.set_initializer(id, std::move(named.tensor));
  }

  [[noreturn]] static void twice(const std::string& name, const std::string& where) {
    throw Error(ErrorCode::kInvalidModel, "The tensor \"" + name + "\" is defined twice.", where,
                "Every tensor has one source: an input, an initializer or one node's output.");
  }

  void read_node_or_call(std::string_view message, size_t index, const GraphContext& context, int depth);
  void read_node(std::string_view message, size_t index, const GraphContext& context);
  void sort_nodes();

  const GraphContext& context_;
  std::string place_;
  int depth_;
  Graph graph_;
};

/// What stands for a call has a context of its own: its tensors keep its message alive, not the file.
void GraphReader::read_node_or_call(std::string_view message, size_t index, const GraphContext& context, int depth) {
  const std::string where = at(place_, "node", index);
  const auto expanded = within(where, [&] { return context.functions.expand(message); });
  if (!expanded) return read_node(message, index, context);
  if (depth == kDeepestCall)
    throw Error(ErrorCode::kInvalidModel,
                "The model's functions call each other more than " + std::to_string(kDeepestCall) + " deep.", where);
  for (const OwnedMessage& one : *expanded) {
    const Source source{one, std::as_bytes(std::span(one->data(), one->size()))};
    read_node_or_call(*one, index, {source, context.external, context.warnings, context.functions}, depth + 1);
  }
}

void GraphReader::read_node(std::string_view message, size_t index, const GraphContext& context) {
  Node node;
  std::vector<std::string_view> attributes;
  std::string where = at(place_, "node", index);
  const auto read = [&] {
    Fields fields(message);
    while (fields.next()) {
      switch (fields.tag()) {
        case node_field::kInput:
        case node_field::kOutput: {
          std::vector<ValueId>& list = fields.tag() == node_field::kInput ? node.inputs : node.outputs;
          const std::string name = fields.text();
          list.push_back(name.empty() ? ValueId{} : named_value(name));
          break;
        }
        case node_field::kName:
          node.name = fields.text();
          break;
        case node_field::kOpType:
          node.op_type = fields.text();
          break;
        case node_field::kAttribute:
          attributes.push_back(fields.view());
          break;
        case node_field::kDoc:
          node.doc = fields.text();
          break;
        case node_field::kDomain:
          node.domain = canonical_domain(fields.view());
          break;
        default:
          node.rest += fields.encoded();
          break;
      }
    }
  };
  within(where, read);
  where = place_ + place_of(node, index).substr(std::string("graph").size());
  for (const std::string_view attribute : attributes) add_attribute(attribute, node, {context, where, depth_});
  require_first_output(node, where);
  graph_.append(std::move(node));
}

/// ONNX demands topological order; some files break it.
void GraphReader::sort_nodes() {
  const Uses uses(graph_);
  bool sorted = true;
  for (size_t i = 0; i < graph_.nodes().size() && sorted; ++i)
    for (const ValueId id : uses.reads(i))
      if (const auto producer = uses.producer_index(id)) sorted = sorted && *producer < i;
  if (sorted) return;
  graph_.sort_topologically();
  context_.warnings.push_back({"nodes_out_of_order",
                               "The nodes were not in an order in which they can run; they have been sorted.", place_,
                               ""});
}

}  // namespace

Graph read_graph(std::string_view message, const GraphContext& context, const std::string& place, int depth) {
  if (depth > kDeepestSubgraph)
    throw Error(ErrorCode::kInvalidModel,
                "Subgraphs lie deeper in each other than " + std::to_string(kDeepestSubgraph) + " levels.", place,
                kFewerLevels);
  return GraphReader(context, place, depth).read(message);
}

}  // namespace tersor::onnx
