// SPDX-License-Identifier: Apache-2.0
#include "core/ptq/body_weights.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "core/graph/operators.h"
#include "core/graph/subgraphs.h"
#include "core/onnx/convert_opset.h"

namespace tersor::ptq {

namespace {

/// Where a kernel has its weight; none for other operators.
std::optional<size_t> weight_slot(const Node& node) {
  if (node.is("Gather")) return 0;
  if (has_trait(node, Trait::kWeighted)) return 1;
  return std::nullopt;
}

class BodyReader {
 public:
  explicit BodyReader(const Model& model) : outer_(model.graph) {
    found_.model.ir_version = model.ir_version;
    found_.model.opset_imports = model.opset_imports;
  }

  BodyKernels read() {
    for (const Node& node : outer_.nodes()) for_each_subgraph(node, [&](const Graph& body) { look_into(body, {}); });
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
      const auto slot = weight_slot(node);
      if (slot && node.inputs.size() > *slot && node.inputs[*slot].valid()) {
        const std::string& name = body.name_of(node.inputs[*slot]);
        if (!hidden.contains(name)) add(node, *slot, name, body.label_of(node));
      }
      for_each_subgraph(node, [&](const Graph& inner) { look_into(inner, hidden); });
    }
  }

  void add(const Node& node, size_t slot, const std::string& name, const std::string& label) {
    const auto outer = outer_.find(name);
    const Tensor* const weight = outer ? outer_.initializer(*outer) : nullptr;
    if (weight == nullptr || weight->dtype() != DType::kFloat32 || !seen_.insert(name).second) return;
    Graph& graph = found_.model.graph;
    const ValueId constant = graph.add_value(name, DType::kFloat32);
    graph.set_initializer(constant, *weight);
    const ValueId given = graph.add_unique_value(name + "_input", slot == 0 ? DType::kInt64 : DType::kFloat32);
    const ValueId made = graph.add_unique_value(name + "_output", DType::kFloat32);
    graph.inputs.push_back(given);
    graph.outputs.push_back(made);
    Node kernel;
    kernel.name = label;
    kernel.op_type = node.op_type;
    kernel.attributes = node.attributes;
    kernel.inputs = slot == 0 ? std::vector<ValueId>{constant, given} : std::vector<ValueId>{given, constant};
    kernel.outputs = {made};
    found_.weights.push_back({name, graph.append(std::move(kernel)), slot});
  }

  const Graph& outer_;
  std::set<std::string> seen_;
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
