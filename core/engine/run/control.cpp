// SPDX-License-Identifier: Apache-2.0
#include "core/run/control.h"

#include <algorithm>
#include <set>

#include "core/graph/uses.h"
#include "core/ops/attribute_names.h"

namespace tersor::run {

namespace {

/// One branch or the other. A branch that a constant condition never takes is not compiled.
class If : public Control {
 public:
  If(std::vector<Body> branches, bool has_else) : Control(std::move(branches)), has_both_(has_else) {}

  std::vector<Tensor> run(std::span<const Tensor> inputs, BodyRunner& bodies) const override {
    const bool condition = truth_of(inputs[0], "condition of If");
    return bodies.run(has_both_ && !condition ? 1 : 0, {});
  }

 private:
  bool has_both_;
};

std::unique_ptr<const Control> prepare_if(ControlSetup& setup) {
  if (setup.node.inputs.size() != 1 || !setup.has_input(0))
    throw Error(ErrorCode::kInvalidModel, "The node must have one input, the condition.");
  const Tensor* condition = setup.constant(0);
  std::vector<Body> branches;
  for (const bool taken : {true, false})
    if (condition == nullptr || truth_of(*condition, "condition of If") == taken)
      branches.push_back(setup.body(taken ? "then_branch" : "else_branch", 0, setup.node.outputs.size()));
  return std::make_unique<If>(std::move(branches), condition == nullptr);
}

constexpr ControlOp kControlOps[] = {
    {"If", 1, prepare_if},
    {"Loop", 1, prepare_loop},
    {"Scan", 9, prepare_scan},
};

/// `values` without those at `places`.
std::vector<ValueId> without(const std::vector<ValueId>& values, const std::set<size_t>& places) {
  std::vector<ValueId> left;
  for (size_t k = 0; k < values.size(); ++k)
    if (places.count(k) == 0) left.push_back(values[k]);
  return left;
}

}  // namespace

const ControlOp* control_op(const Node& node) {
  for (const ControlOp& op : kControlOps)
    if (node.is(op.type)) return &op;
  return nullptr;
}

const ControlOp& checked_control_op(const Node& node, const Model& model) {
  const ControlOp* op = control_op(node);
  TERSOR_CHECK(op != nullptr);
  if (model.opset() < op->since)
    throw Error(ErrorCode::kUnsupportedModel,
                "The operator " + node.op_type + " of operator set " + std::to_string(model.opset()) +
                    " cannot be run here; that of " + std::to_string(op->since) + " and newer can.",
                {}, "Export the model with a newer operator set.");
  ops::require_known_attributes(node);
  return *op;
}

std::vector<std::pair<std::string, std::shared_ptr<const Graph>>> subgraphs_of(const Node& node) {
  std::vector<std::pair<std::string, std::shared_ptr<const Graph>>> list;
  for (const auto& [name, attribute] : node.attributes)
    if (const auto* graph = std::get_if<std::shared_ptr<const Graph>>(&attribute);
        graph != nullptr && *graph != nullptr)
      list.emplace_back(name, *graph);
  return list;
}

std::vector<std::string> captures_of(const Node& node) {
  std::set<std::string> names;
  for (const auto& [attribute, graph] : subgraphs_of(node))
    for (std::string& name : captures(*graph)) names.insert(std::move(name));
  return {names.begin(), names.end()};
}

Model body_model(const Model& outer, const Graph& subgraph, const std::map<std::string, const Tensor*>& known) {
  Model model;
  model.ir_version = outer.ir_version;
  model.opset_imports = outer.opset_imports;
  model.graph = subgraph;
  Graph& graph = model.graph;
  // What the operator gives decides, not what the file says of it: the shape of a loop's state may change.
  for (const ValueId id : graph.inputs) {
    graph.value(id).dtype = DType::kUndefined;
    graph.value(id).shape.reset();
  }
  for (const std::string& name : captures(subgraph)) {
    const auto there = graph.find(name);
    const ValueId id = there ? *there : graph.add_value(name);
    if (const auto it = known.find(name); it != known.end())
      graph.set_initializer(id, *it->second);
    else
      graph.inputs.push_back(id);
  }
  return model;
}

Error inside(const std::string& place, const Error& error) {
  constexpr std::string_view kGraph = "graph";
  const bool starts = error.place.substr(0, kGraph.size()) == kGraph;
  const std::string rest = starts ? error.place.substr(kGraph.size()) : error.place.empty() ? "" : "." + error.place;
  return Error(error.code, error.message, place + rest, error.hint);
}

bool truth_of(const Tensor& tensor, std::string_view what) {
  if (tensor.dtype() != DType::kBool || tensor.elements() != 1)
    throw Error(ErrorCode::kInvalidModel, "The " + std::string(what) + " has the type " +
                                              std::string(name_of(tensor.dtype())) + " and the shape " +
                                              tensor.shape().text() + "; it must be one bool.");
  return tensor.data<uint8_t>()[0] != 0;
}

const Graph& ControlSetup::subgraph(const std::string& name, size_t inputs, size_t outputs) const {
  const auto* held = node.attribute<std::shared_ptr<const Graph>>(name);
  if (held == nullptr || *held == nullptr)
    throw Error(ErrorCode::kInvalidModel, "The attribute " + name + " is missing.");
  const Graph& graph = **held;
  if (graph.inputs.size() != inputs || graph.outputs.size() < outputs)
    throw Error(ErrorCode::kInvalidModel, "The graph in " + name + " has " + std::to_string(graph.inputs.size()) +
                                              " inputs and " + std::to_string(graph.outputs.size()) +
                                              " outputs; the node needs one with " + std::to_string(inputs) + " and " +
                                              std::to_string(outputs) + ".");
  return graph;
}

Body ControlSetup::body(const std::string& name, size_t inputs, size_t outputs, const std::vector<Fixed>& fixed) {
  const Graph& graph = subgraph(name, inputs, outputs);
  Body body;
  body.place = place + "." + name;
  Model as_model = body_model(model, graph, known_);
  std::set<size_t> fixed_inputs, fixed_outputs;
  for (const Fixed& one : fixed) {
    as_model.graph.set_initializer(as_model.graph.inputs[one.input], *one.value);
    fixed_inputs.insert(one.input), fixed_outputs.insert(one.output);
  }
  as_model.graph.inputs = without(as_model.graph.inputs, fixed_inputs);
  as_model.graph.outputs = without(as_model.graph.outputs, fixed_outputs);
  for (const std::string& outer : captures(graph)) {
    if (known_.count(outer) != 0) continue;
    const auto at = std::find(captured_.begin(), captured_.end(), outer);
    body.captured.push_back(node.inputs.size() + static_cast<size_t>(at - captured_.begin()));
    if (at == captured_.end()) captured_.push_back(outer);
  }
  for (const ValueId id : graph.outputs)
    body.declared.push_back({id, graph.name_of(id), graph.value(id).dtype, graph.value(id).shape});
  ProgramOptions inner;
  inner.memory_limit = options.memory_limit;
  inner.loop_limit = options.loop_limit;
  try {
    body.program = Program::compile(as_model, registry, inner);
  } catch (const Error& error) {
    throw inside(body.place, error);
  }
  return body;
}

}  // namespace tersor::run
