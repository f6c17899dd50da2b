// SPDX-License-Identifier: Apache-2.0
// Scan: runs its body once for each place along an axis of its scan inputs. The body carries a state from step to step;
// what else it gives is laid after one another.
#include <algorithm>

#include "core/run/control.h"
#include "core/run/prepared.h"
#include "core/run/stack.h"

namespace tersor::run {

namespace {

/// An attribute with one number for each of `count` inputs or outputs; zeros where it is absent.
std::vector<int64_t> numbers_of(const Node& node, const char* name, size_t count) {
  const std::vector<int64_t> numbers = node.ints_or(name, {});
  if (numbers.empty()) return std::vector<int64_t>(count, 0);
  if (numbers.size() != count)
    throw Error(ErrorCode::kInvalidModel, "The attribute " + std::string(name) + " has " +
                                              std::to_string(numbers.size()) + " numbers; the node needs " +
                                              std::to_string(count) + ".");
  return numbers;
}

struct Along {
  std::vector<int64_t> axes, directions;
};

Along along(const Node& node, const char* axes, const char* directions, size_t count) {
  Along made{numbers_of(node, axes, count), numbers_of(node, directions, count)};
  for (const int64_t direction : made.directions)
    if (direction != 0 && direction != 1)
      throw Error(ErrorCode::kInvalidModel, "The attribute " + std::string(directions) + " holds " +
                                                std::to_string(direction) + "; it must be 0 or 1.");
  return made;
}

/// One scan input, cut along its axis.
class Slices {
 public:
  Slices(const Tensor& tensor, int64_t axis, bool reversed) : reversed_(reversed) {
    if (tensor.shape().rank() == 0)
      throw Error(ErrorCode::kInvalidModel, "A scan input is a scalar; it needs an axis to scan along.");
    whole_ = std::make_shared<const Tensor>(move_axis(tensor, normalize_axis(axis, tensor.shape().rank()), 0));
    require_turnable(tensor.dtype());
    shape_ = Shape(std::vector<int64_t>(whole_->shape().begin() + 1, whole_->shape().end()));
  }
  int64_t count() const { return whole_->shape()[0]; }
  Tensor at(int64_t step) const {
    const auto k = static_cast<size_t>(reversed_ ? count() - 1 - step : step);
    const size_t size = bytes_for(whole_->dtype(), shape_.elements());
    return Tensor::alias(whole_->dtype(), shape_, whole_->bytes().subspan(k * size, size), whole_);
  }

 private:
  bool reversed_;
  std::shared_ptr<const Tensor> whole_;
  Shape shape_;
};

class Scan : public Control {
 public:
  Scan(Body body, size_t states, Along inputs, Along outputs, int64_t memory_limit)
      : Control({std::move(body)}),
        states_(states),
        inputs_(std::move(inputs)),
        outputs_(std::move(outputs)),
        memory_limit_(memory_limit) {}

  std::vector<Tensor> run(std::span<const Tensor> inputs, BodyRunner& bodies) const override {
    std::vector<Tensor> state(inputs.begin(), inputs.begin() + static_cast<std::ptrdiff_t>(states_));
    const std::vector<Slices> slices = cut(inputs);
    std::vector<Stack> stacks(outputs_.axes.size());
    for (int64_t k = 0; k < slices[0].count(); ++k) {
      bodies.count_step();
      std::vector<Tensor> given = state;
      for (const Slices& one : slices) given.push_back(one.at(k));
      std::vector<Tensor> made = bodies.run(0, std::move(given));
      std::move(made.begin(), made.begin() + static_cast<std::ptrdiff_t>(states_), state.begin());
      int64_t bytes = 0;
      for (const Tensor& tensor : state) bytes += static_cast<int64_t>(tensor.bytes().size());
      for (size_t s = 0; s < stacks.size(); ++s) {
        stacks[s].add(made[states_ + s]);
        bytes += 2 * stacks[s].bytes();
      }
      check_memory(bytes, memory_limit_);
    }
    for (size_t s = 0; s < stacks.size(); ++s)
      state.push_back(
          stacks[s].finish(outputs_.axes[s], outputs_.directions[s] == 1, this->bodies()[0].declared[states_ + s]));
    return state;
  }

 private:
  std::vector<Slices> cut(std::span<const Tensor> inputs) const {
    std::vector<Slices> slices;
    for (size_t s = 0; s < inputs_.axes.size(); ++s) {
      slices.emplace_back(inputs[states_ + s], inputs_.axes[s], inputs_.directions[s] == 1);
      if (slices[s].count() != slices[0].count())
        throw Error(ErrorCode::kInvalidModel, "The scan inputs have " + std::to_string(slices[0].count()) + " and " +
                                                  std::to_string(slices[s].count()) +
                                                  " steps; all must be equally long.");
    }
    return slices;
  }

  size_t states_;
  Along inputs_, outputs_;
  int64_t memory_limit_;
};

}  // namespace

std::unique_ptr<const Control> prepare_scan(ControlSetup& setup) {
  const Node& node = setup.node;
  const int64_t scanned = node.int_or("num_scan_inputs", 0);
  if (scanned < 1 || static_cast<uint64_t>(scanned) > node.inputs.size())
    throw Error(ErrorCode::kInvalidModel, "The attribute num_scan_inputs is " + std::to_string(scanned) +
                                              "; the node has " + std::to_string(node.inputs.size()) + " inputs.");
  for (size_t k = 0; k < node.inputs.size(); ++k)
    if (!setup.has_input(k)) throw Error(ErrorCode::kInvalidModel, "Input " + std::to_string(k) + " is missing.");
  const size_t states = node.inputs.size() - static_cast<size_t>(scanned);
  if (node.outputs.size() < states)
    throw Error(ErrorCode::kInvalidModel, "The node has " + std::to_string(states) + " states and " +
                                              std::to_string(node.outputs.size()) + " outputs.");
  Along inputs = along(node, "scan_input_axes", "scan_input_directions", static_cast<size_t>(scanned));
  Body body = setup.body("body", node.inputs.size(), node.outputs.size());
  Along outputs = along(node, "scan_output_axes", "scan_output_directions", body.declared.size() - states);
  return std::make_unique<Scan>(std::move(body), states, std::move(inputs), std::move(outputs),
                                setup.options.memory_limit);
}

}  // namespace tersor::run
