// SPDX-License-Identifier: Apache-2.0
#include "core/gradient/add_gradients.h"

#include <algorithm>
#include <map>

#include "core/gradient/rule.h"

namespace tersor::gradient {

namespace {

/// Which values depend on the wanted ones through nodes that are differentiable.
std::vector<bool> dependents(const Graph& graph, const std::vector<ValueId>& wanted) {
  std::vector<bool> depends(graph.value_count(), false);
  for (const ValueId value : wanted) depends[static_cast<size_t>(value.index)] = true;
  for (const Node& node : graph.nodes()) {
    const bool any = std::any_of(node.inputs.begin(), node.inputs.end(), [&](ValueId input) {
      return input.valid() && depends[static_cast<size_t>(input.index)];
    });
    const Rule* rule = find_rule(node);
    if (!any || (rule != nullptr && rule->write == nullptr)) continue;
    for (const ValueId output : node.outputs)
      if (output.valid()) depends[static_cast<size_t>(output.index)] = true;
  }
  return depends;
}

class Writing : public Backward {
 public:
  Writing(Model& model, const std::vector<ValueId>& wanted, const std::vector<int>& ranks)
      : model_(model), ranks_(ranks), depends_(dependents(model.graph, wanted)), by_value_(model.graph.value_count()) {}

  void seed(const Seed& seed) {
    if (seed.last)
      pending_[seed.value] = &*seed.last;
    else
      add(seed.value, seed.gradient);
  }
  /// Puts the last node of the value's gradient, where it has one.
  void finish(ValueId value) {
    const auto found = pending_.find(value);
    if (found == pending_.end()) return;
    Node node = *found->second;
    pending_.erase(found);
    if (of(value).valid()) node.inputs.push_back(of(value));
    const auto at = static_cast<size_t>(value.index);
    if (at >= by_value_.size()) by_value_.resize(at + 1);
    by_value_[at] = node.outputs[0];
    model_.graph.append(std::move(node));
  }
  void finish_all() {
    while (!pending_.empty()) finish(pending_.begin()->first);
  }
  ValueId of(ValueId value) const {
    const auto at = static_cast<size_t>(value.index);
    return at < by_value_.size() ? by_value_[at] : ValueId{};
  }

  void pass(const Node& node, size_t index, Gradients& gradients) {
    for (const ValueId output : node.outputs)
      if (output.valid()) finish(output);
    const auto flows = [&](ValueId output) { return output.valid() && of(output).valid(); };
    const auto depends = [&](ValueId input) { return input.valid() && depends_[static_cast<size_t>(input.index)]; };
    if (std::none_of(node.outputs.begin(), node.outputs.end(), flows)) return;
    if (std::none_of(node.inputs.begin(), node.inputs.end(), depends)) return;
    const Rule* rule = find_rule(node);
    if (rule != nullptr && rule->write == nullptr) return;
    if (rule == nullptr) {
      gradients.frozen.push_back(
          {place_of(node, index), "No gradient of the operator " + node.op_type + " is known here.", index});
      return;
    }
    node_ = &node;
    try {
      rule->write(*this);
    } catch (const Error& error) {
      if (error.code != ErrorCode::kUnsupportedModel) throw;
      gradients.frozen.push_back({place_of(node, index), error.message, index});
    }
  }

  const Node& node() const override { return *node_; }
  ValueId by_output(size_t k) const override {
    return k < node_->outputs.size() && node_->outputs[k].valid() ? of(node_->outputs[k]) : ValueId{};
  }
  bool wants(size_t k) const override {
    return k < node_->inputs.size() && node_->inputs[k].valid() &&
           depends_[static_cast<size_t>(node_->inputs[k].index)];
  }
  void give(size_t k, ValueId gradient) override { add(node_->inputs[k], gradient); }
  void give_broadcast(size_t k, ValueId gradient) override { give(k, own("SumTo", {gradient, node_->inputs[k]})); }

  ValueId emit(std::string_view type, std::vector<ValueId> inputs, Attributes attributes,
               std::string_view domain) override {
    return emit_many(type, std::move(inputs), 1, std::move(attributes), domain)[0];
  }
  std::vector<ValueId> emit_many(std::string_view type, std::vector<ValueId> inputs, size_t outputs,
                                 Attributes attributes, std::string_view domain) override {
    Node node;
    node.op_type = type;
    node.domain = domain;
    node.inputs = std::move(inputs);
    node.attributes = std::move(attributes);
    for (size_t k = 0; k < outputs; ++k) node.outputs.push_back(model_.graph.add_unique_value("gradient"));
    std::vector<ValueId> made = node.outputs;
    model_.graph.append(std::move(node));
    return made;
  }
  ValueId scalar(float value) override { return constant(Tensor::scalar(value)); }
  ValueId constant(Tensor tensor) override { return model_.graph.add_initializer("gradient", std::move(tensor)); }
  const Tensor* known(ValueId value) const override { return model_.graph.initializer(value); }
  int rank(ValueId value) const override {
    const auto at = static_cast<size_t>(value.index);
    if (const Tensor* known = model_.graph.initializer(value)) return known->shape().rank();
    if (at >= ranks_.size() || ranks_[at] < 0)
      throw Error(ErrorCode::kUnsupportedModel,
                  "The rank of \"" + model_.graph.name_of(value) + "\" is not known before the run.", "", "");
    return ranks_[at];
  }
  int64_t opset() const override { return model_.opset(); }

 private:
  void add(ValueId value, ValueId gradient) {
    const auto at = static_cast<size_t>(value.index);
    if (at >= by_value_.size()) by_value_.resize(at + 1);
    by_value_[at] = by_value_[at].valid() ? emit("Add", {by_value_[at], gradient}, {}, {}) : gradient;
  }

  Model& model_;
  const std::vector<int>& ranks_;
  std::vector<bool> depends_;
  std::vector<ValueId> by_value_;
  std::map<ValueId, const Node*> pending_;
  const Node* node_ = nullptr;
};

}  // namespace

Gradients add_gradients(Model& model, const std::vector<Seed>& seeds, const std::vector<ValueId>& wanted,
                        const std::vector<int>& ranks) {
  if (model.opset(kGradientDomain) == 0) model.opset_imports.push_back({std::string(kGradientDomain), 1});
  const std::vector<Node> forward = model.graph.nodes();
  Writing writing(model, wanted, ranks);
  for (const Seed& seed : seeds) writing.seed(seed);
  Gradients gradients;
  for (size_t k = forward.size(); k-- > 0;) writing.pass(forward[k], k, gradients);
  writing.finish_all();
  std::reverse(gradients.frozen.begin(), gradients.frozen.end());
  for (const ValueId value : wanted) gradients.by_value.push_back(writing.of(value));
  return gradients;
}

std::vector<int> ranks_of(const Model& model, const ops::Registry& registry, std::span<const Shape> input_shapes) {
  const Graph& graph = model.graph;
  run::ProgramOptions options;
  options.will_run = false;
  for (const Node& node : graph.nodes())
    for (const ValueId output : node.outputs)
      if (output.valid()) options.observed.push_back(output);
  const auto program = run::Program::compile(model, registry, options);
  std::vector<int> ranks(graph.value_count(), -1);
  const auto types = program->value_types(input_shapes);
  for (size_t k = 0; k < types.size() && k < ranks.size(); ++k)
    if (types[k]) ranks[k] = types[k]->shape.rank();
  for (const auto& [id, tensor] : graph.initializers()) ranks[static_cast<size_t>(id.index)] = tensor.shape().rank();
  for (size_t k = 0; k < graph.inputs.size() && k < input_shapes.size(); ++k)
    ranks[static_cast<size_t>(graph.inputs[k].index)] = input_shapes[k].rank();
  return ranks;
}

}  // namespace tersor::gradient
