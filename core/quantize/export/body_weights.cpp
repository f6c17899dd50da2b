// SPDX-License-Identifier: Apache-2.0
#include "core/export/body_weights.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "core/graph/operators.h"
#include "core/graph/recurrent_weights.h"
#include "core/graph/subgraphs.h"
#include "core/onnx/convert_opset.h"

namespace tersor::ptq {

namespace {

/// A node that reads a weight: itself, or one that stands for it and has the weight where kernels have theirs.
struct Reader {
  Node node;        // its type and attributes
  size_t slot = 0;  // of the weight in the stand-in
  size_t read = 0;  // of the weight in the body's node
};

Reader like(const Node& node, size_t slot, size_t read) {
  Reader reader{{}, slot, read};
  reader.node.op_type = node.op_type;
  reader.node.attributes = node.attributes;
  return reader;
}

/// A Transpose of a matrix that MatMuls alone read: those multiply by its rows.
bool turns_weight(const Graph& body, const Node& node) {
  if (!node.is("Transpose") || node.ints_or("perm", {1, 0}) != std::vector<int64_t>{1, 0}) return false;
  bool any = false;
  for (const Node& reader : body.nodes())
    for (size_t k = 0; k < reader.inputs.size(); ++k)
      if (reader.inputs[k] == node.outputs[0]) {
        if (!reader.is("MatMul") || k != 1) return false;
        any = true;
      }
  return any;
}

/// How the node reads weights; none for other operators.
std::vector<Reader> readers_of(const Graph& body, const Node& node) {
  if (node.is("Gather")) return {like(node, 0, 0)};
  if (node.is("MatMul")) return {like(node, 1, 1), like(node, 1, 0)};
  if (has_trait(node, Trait::kWeighted)) return {like(node, 1, 1)};
  std::vector<Reader> readers;
  if (has_trait(node, Trait::kRecurrent))
    for (const size_t slot : recurrent_weights(node)) readers.push_back(like(node, slot, slot));
  if (turns_weight(body, node)) {
    readers.push_back({{}, 1, 0});
    readers[0].node.op_type = "Gemm";
    readers[0].node.attributes["transB"] = int64_t{1};
  }
  return readers;
}

class BodyReader {
 public:
  explicit BodyReader(const Model& model) : outer_(model.graph) {
    found_.model.ir_version = model.ir_version;
    found_.model.opset_imports = model.opset_imports;
  }

  BodyKernels read() {
    for (const Node& node : outer_.nodes()) for_each_subgraph(node, [&](const Graph& body) { look_into(body, {}); });
    for (const std::string& name : order_) add(name, chosen_.at(name));
    return std::move(found_);
  }

 private:
  /// `hidden`: names that a body around this one defines.
  void look_into(const Graph& body, std::set<std::string> hidden) {
    for (const ValueId id : body.inputs) hidden.insert(body.name_of(id));
    for (const auto& [id, tensor] : body.initializers()) hidden.insert(body.name_of(id));
    for (const Node& node : body.nodes())
      for (const ValueId id : node.outputs)
        if (id.valid()) hidden.insert(body.name_of(id));
    for (const Node& node : body.nodes()) {
      for (Reader& reader : readers_of(body, node)) {
        if (node.inputs.size() <= reader.read || !node.inputs[reader.read].valid()) continue;
        const std::string& name = body.name_of(node.inputs[reader.read]);
        reader.node.name = body.label_of(node);
        if (!hidden.contains(name)) choose(name, std::move(reader));
      }
      for_each_subgraph(node, [&](const Graph& inner) { look_into(inner, hidden); });
    }
  }

  /// A kernel's output channels are what a weight is best cut along, also where a Gather reads it first.
  void choose(const std::string& name, Reader reader) {
    const auto outer = outer_.find(name);
    const Tensor* const weight = outer ? outer_.initializer(*outer) : nullptr;
    if (weight == nullptr || weight->dtype() != DType::kFloat32 || weight->shape().rank() < 2) return;
    const auto known = chosen_.find(name);
    if (known == chosen_.end()) {
      order_.push_back(name);
      chosen_.emplace(name, std::move(reader));
    } else if (known->second.node.is("Gather") && !reader.node.is("Gather")) {
      known->second = std::move(reader);
    }
  }

  void add(const std::string& name, const Reader& reader) {
    Graph& graph = found_.model.graph;
    Node kernel = reader.node;
    const size_t inputs = reader.slot == 0 ? 2 : has_trait(kernel, Trait::kRecurrent) ? 3 : 2;
    for (size_t k = 0; k < inputs; ++k) {
      if (k == reader.slot) {
        kernel.inputs.push_back(graph.add_value(name, DType::kFloat32));
        graph.set_initializer(kernel.inputs[k], *outer_.initializer(*outer_.find(name)));
        continue;
      }
      kernel.inputs.push_back(
          graph.add_unique_value(name + "_input", reader.slot == 0 ? DType::kInt64 : DType::kFloat32));
      graph.inputs.push_back(kernel.inputs[k]);
    }
    kernel.outputs = {graph.add_unique_value(name + "_output", DType::kFloat32)};
    graph.outputs.push_back(kernel.outputs[0]);
    found_.weights.push_back({name, graph.append(std::move(kernel)), reader.slot});
  }

  const Graph& outer_;
  std::vector<std::string> order_;
  std::map<std::string, Reader> chosen_;
  BodyKernels found_;
};

/// Moves nodes and constants from one graph to the front of another.
class FrontMover {
 public:
  FrontMover(const Graph& from, Graph& to) : from_(from), to_(to) {
    for (size_t i = 0; i < from.nodes().size(); ++i)
      for (const ValueId id : from.nodes()[i].outputs) maker_[id] = i;
    for (const Node& node : to.nodes()) names_.insert(node.name);
  }

  bool is_made(ValueId value) const { return maker_.contains(value); }

  /// What makes `value`, and all that this takes, with `as` in its place.
  void move(ValueId value, ValueId as) {
    moved_[value] = as;
    move_maker(value);
  }

 private:
  void move_maker(ValueId value) {
    Node node = from_.nodes()[maker_.at(value)];
    for (ValueId& id : node.inputs)
      if (id.valid()) id = moved(id);
    for (ValueId& id : node.outputs) {
      const auto [known, is_new] = moved_.try_emplace(id);
      if (is_new) known->second = to_.add_unique_value(from_.name_of(id), from_.value(id).dtype);
      id = known->second;
    }
    const std::string stem = node.name;
    for (int k = 2; !node.name.empty() && !names_.insert(node.name).second; ++k)
      node.name = stem + "_" + std::to_string(k);
    to_.insert(front_++, std::move(node));
  }

  ValueId moved(ValueId value) {
    if (const auto known = moved_.find(value); known != moved_.end()) return known->second;
    if (const Tensor* const constant = from_.initializer(value))
      return moved_[value] = to_.add_initializer(from_.name_of(value), *constant);
    move_maker(value);
    return moved_[value];
  }

  const Graph& from_;
  Graph& to_;
  std::map<ValueId, size_t> maker_;
  std::map<ValueId, ValueId> moved_;
  std::set<std::string> names_;
  size_t front_ = 0;
};

}  // namespace

std::optional<BodyKernels> kernels_in_bodies(const Model& model) {
  BodyKernels found = BodyReader(model).read();
  if (found.weights.empty()) return std::nullopt;
  return found;
}

void restore_whole(QuantizationPlan& plan) {
  if (plan.float_weights == tpc::FloatWeights::kMatMulNBits) plan.float_weights = tpc::FloatWeights::kFold;
  for (ConstantPlan& constant : plan.constants) constant.by_row = false;
}

std::vector<std::string> take_body_weights(Model& model, const Model& applied, const BodyKernels& kernels) {
  if (applied.opset() > model.opset()) onnx::convert_to_opset(model, applied.opset());
  model.ir_version = std::max(model.ir_version, applied.ir_version);
  FrontMover mover(applied.graph, model.graph);
  std::vector<std::string> taken;
  for (const BodyWeight& weight : kernels.weights) {
    const ValueId restored = applied.graph.find(weight.node)->inputs[weight.slot];
    const auto value = model.graph.find(weight.name);
    // What a kernel of the graph itself reads may be restored already.
    if (!mover.is_made(restored) || !value || model.graph.initializer(*value) == nullptr) continue;
    model.graph.erase_initializer(*value);
    mover.move(restored, *value);
    taken.push_back(weight.name);
  }
  return taken;
}

}  // namespace tersor::ptq
