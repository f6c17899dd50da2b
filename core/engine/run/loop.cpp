// SPDX-License-Identifier: Apache-2.0
// Loop: runs its body again and again, up to a number of times and while a condition holds. What the body carries from
// step to step may change its shape; what it gives in each step is laid after one another.
#include <algorithm>
#include <set>

#include "core/graph/uses.h"
#include "core/run/control.h"
#include "core/run/prepared.h"
#include "core/run/stack.h"

namespace tersor::run {

namespace {

constexpr size_t kOwn = 2;  // the trip count and the condition come before what is carried

/// A scalar for the body, or a list of one where the body declares that.
Tensor in_rank_of(const Graph& body, size_t input, Tensor scalar) {
  const auto& shape = body.value(body.inputs[input]).shape;
  return shape && shape->size() == 1 ? scalar.reshaped(Shape{1}) : scalar.reshaped(Shape{});
}

/// Whether the condition that the body gives may differ from step to step: it is made, by way of however many nodes,
/// from the step's number or from what is carried. Bodies inside the body count as such, whatever they read.
bool condition_varies(const Graph& body) {
  std::set<ValueId> varying;
  for (size_t k = 0; k < body.inputs.size(); ++k)
    if (k != 1) varying.insert(body.inputs[k]);  // the condition that it is given is true in every step
  for (const Node& node : body.nodes()) {
    const bool varies = control_op(node) != nullptr || std::any_of(node.inputs.begin(), node.inputs.end(),
                                                                   [&](ValueId id) { return varying.count(id) != 0; });
    if (varies) varying.insert(node.outputs.begin(), node.outputs.end());
  }
  return varying.count(body.outputs[0]) != 0;
}

/// What is carried and never changed, of constants: weights, as exporters of while loops write them. They are constants
/// of the body, so that its kernels are made ready for them once and not in each step.
std::vector<ControlSetup::Fixed> fixed_of(const Graph& body, const ControlSetup& setup, size_t carried) {
  std::vector<ControlSetup::Fixed> fixed;
  for (size_t k = 0; k < carried; ++k) {
    const Tensor* value = setup.constant(kOwn + k);
    if (value == nullptr) continue;
    const std::vector<ValueId> copies = copies_of(body, body.inputs[kOwn + k]);
    if (std::find(copies.begin(), copies.end(), body.outputs[1 + k]) != copies.end())
      fixed.push_back({kOwn + k, 1 + k, value});
  }
  return fixed;
}

class Loop : public Control {
 public:
  Loop(Body body, std::shared_ptr<const Graph> graph, const std::vector<ControlSetup::Fixed>& fixed, const Node& node,
       const ProgramOptions& options)
      : Control({std::move(body)}),
        graph_(std::move(graph)),
        carried_(node.inputs.size() - std::min(kOwn, node.inputs.size())),
        inputs_(node.inputs.size()),
        condition_varies_(condition_varies(*graph_)),
        step_limit_(options.loop_limit),
        memory_limit_(options.memory_limit) {
    std::vector<bool> is_fixed(carried_, false);
    for (const ControlSetup::Fixed& one : fixed) is_fixed[one.input - kOwn] = true;
    for (size_t k = 0; k < carried_; ++k)
      if (!is_fixed[k]) changing_.push_back(k);
  }

  std::vector<Tensor> run(std::span<const Tensor> inputs, BodyRunner& bodies) const override {
    const bool is_counted = inputs_ > 0 && !inputs[0].empty();
    const int64_t most = is_counted ? trip_count(inputs[0]) : 0;
    bool goes_on = inputs_ > 1 && !inputs[1].empty() ? truth_of(inputs[1], "condition of Loop") : true;
    std::vector<Tensor> carried(inputs.begin() + static_cast<std::ptrdiff_t>(inputs_ - carried_),
                                inputs.begin() + static_cast<std::ptrdiff_t>(inputs_));
    std::vector<Stack> stacks(graph_->outputs.size() - 1 - carried_);
    for (int64_t k = 0; goes_on && (!is_counted || k < most); ++k) {
      bodies.count_step();
      std::vector<Tensor> given{in_rank_of(*graph_, 0, Tensor::scalar(k)),
                                in_rank_of(*graph_, 1, Tensor::scalar(true))};
      for (const size_t c : changing_) given.push_back(carried[c]);
      std::vector<Tensor> made = bodies.run(0, std::move(given));
      goes_on = truth_of(made[0], "condition that the body of Loop gives");
      if (goes_on && !condition_varies_ && (!is_counted || most > step_limit_))
        throw Error(ErrorCode::kUnsupportedModel, "The loop has no end: its condition is the same in every step.", {},
                    "Give it a trip count, or a condition that what it carries ends.");
      for (size_t c = 0; c < changing_.size(); ++c) carried[changing_[c]] = std::move(made[1 + c]);
      for (size_t s = 0; s < stacks.size(); ++s) stacks[s].add(made[1 + changing_.size() + s]);
      check(carried, stacks);
    }
    for (size_t s = 0; s < stacks.size(); ++s)
      carried.push_back(stacks[s].finish(0, false, this->bodies()[0].declared[1 + carried_ + s]));
    return carried;
  }

 private:
  static int64_t trip_count(const Tensor& tensor) {
    if (tensor.dtype() != DType::kInt64 || tensor.elements() != 1)
      throw Error(ErrorCode::kInvalidModel, "The trip count has the type " + std::string(name_of(tensor.dtype())) +
                                                " and the shape " + tensor.shape().text() + "; it must be one int64.");
    return tensor.data<int64_t>()[0];
  }

  void check(const std::vector<Tensor>& carried, const std::vector<Stack>& stacks) const {
    int64_t bytes = 0;
    for (const Tensor& tensor : carried) bytes += static_cast<int64_t>(tensor.bytes().size());
    for (const Stack& stack : stacks) bytes += 2 * stack.bytes();
    check_memory(bytes, memory_limit_);
  }

  std::shared_ptr<const Graph> graph_;
  size_t carried_;
  size_t inputs_;
  std::vector<size_t> changing_;  // which of what is carried the body takes and gives
  bool condition_varies_;
  int64_t step_limit_, memory_limit_;
};

}  // namespace

std::unique_ptr<const Control> prepare_loop(ControlSetup& setup) {
  const Node& node = setup.node;
  const size_t carried = node.inputs.size() - std::min(kOwn, node.inputs.size());
  for (size_t k = kOwn; k < node.inputs.size(); ++k)
    if (!setup.has_input(k)) throw Error(ErrorCode::kInvalidModel, "Input " + std::to_string(k) + " is missing.");
  if (node.outputs.size() < carried)
    throw Error(ErrorCode::kInvalidModel, "The node carries " + std::to_string(carried) + " values and has " +
                                              std::to_string(node.outputs.size()) + " outputs.");
  const Graph& graph = setup.subgraph("body", kOwn + carried, 1 + node.outputs.size());
  const std::vector<ControlSetup::Fixed> fixed = fixed_of(graph, setup, carried);
  Body body = setup.body("body", kOwn + carried, 1 + node.outputs.size(), fixed);
  return std::make_unique<Loop>(std::move(body), *node.attribute<std::shared_ptr<const Graph>>("body"), fixed, node,
                                setup.options);
}

}  // namespace tersor::run
