// SPDX-License-Identifier: Apache-2.0
// Operators of two inputs and more, element by element. A sum over broadcast axes is taken in double, in the order of
// the elements.
#include <algorithm>
#include <cstring>

#include "core/gradient/kernel.h"
#include "core/ops/refuse.h"
#include "core/ops/strided.h"

namespace tersor::gradient {

namespace {

/// SumTo(x, like): x summed over the axes that broadcasting `like` to its shape repeats.
class SumTo : public LikeInput {
 public:
  explicit SumTo(ops::Setup&) : LikeInput(1) {}

  std::optional<size_t> alias(std::span<const ops::Input> inputs, std::span<const ops::TensorType>) const override {
    return inputs[0].shape() == inputs[1].shape() ? std::optional<size_t>(0) : std::nullopt;
  }
  int64_t scratch_bytes(std::span<const ops::Input> inputs, std::span<const ops::TensorType>) const override {
    return inputs[1].elements() * static_cast<int64_t>(sizeof(double));
  }

  void run(const ops::Call& call) const override {
    const Shape &from = call.inputs[0].shape(), &to = call.inputs[1].shape();
    const float* x = call.inputs[0].values<float>().data();
    auto* sums = reinterpret_cast<double*>(call.scratch.data());
    std::fill_n(sums, to.elements(), 0.0);
    std::vector<int64_t> steps(from.dims().size(), 0), index(from.dims().size(), 0);
    const std::vector<int64_t> own = ops::row_major_strides(to.dims());
    for (int k = 0; k < to.rank(); ++k)
      if (to[k] != 1) steps[static_cast<size_t>(k + from.rank() - to.rank())] = own[static_cast<size_t>(k)];
    const int64_t inner = from.rank() == 0 ? 1 : from[from.rank() - 1];
    const int64_t step = steps.empty() ? 0 : steps.back();
    int64_t at = 0;
    for (int64_t first = 0; first < from.elements(); first += inner, x += inner) {
      if (step == 0)
        for (int64_t k = 0; k < inner; ++k) sums[at] += static_cast<double>(x[k]);
      else
        for (int64_t k = 0; k < inner; ++k) sums[at + k] += static_cast<double>(x[k]);
      for (size_t k = steps.size() - (steps.empty() ? 0 : 1); k-- > 0;) {
        at += steps[k];
        if (++index[k] < from[static_cast<int>(k)]) break;
        at -= steps[k] * from[static_cast<int>(k)];
        index[k] = 0;
      }
    }
    const std::span<float> y = call.outputs[0].values<float>();
    for (size_t k = 0; k < y.size(); ++k) y[k] = static_cast<float>(sums[k]);
  }
};

void add(Backward& b) {
  for (size_t k = 0; k < b.node().inputs.size(); ++k)
    if (b.wants(k)) b.give_broadcast(k, b.by_output());
}

void subtract(Backward& b) {
  if (b.wants(0)) b.give_broadcast(0, b.by_output());
  if (b.wants(1)) b.give_broadcast(1, b.emit("Neg", {b.by_output()}));
}

void multiply(Backward& b) {
  const Node& node = b.node();
  if (b.wants(0)) b.give_broadcast(0, b.emit("Mul", {b.by_output(), node.inputs[1]}));
  if (b.wants(1)) b.give_broadcast(1, b.emit("Mul", {b.by_output(), node.inputs[0]}));
}

void divide(Backward& b) {
  const Node& node = b.node();
  const ValueId quotient = b.emit("Div", {b.by_output(), node.inputs[1]});
  if (b.wants(0)) b.give_broadcast(0, quotient);
  if (b.wants(1)) b.give_broadcast(1, b.emit("Neg", {b.emit("Mul", {quotient, node.outputs[0]})}));
}

void mean(Backward& b) {
  const ValueId part = b.emit("Div", {b.by_output(), b.scalar(static_cast<float>(b.node().inputs.size()))});
  for (size_t k = 0; k < b.node().inputs.size(); ++k)
    if (b.wants(k)) b.give_broadcast(k, part);
}

/// Max and Min: to every input that the output equals.
void extreme(Backward& b) {
  const Node& node = b.node();
  for (size_t k = 0; k < node.inputs.size(); ++k)
    if (b.wants(k)) {
      const ValueId chosen = b.emit("Equal", {node.inputs[k], node.outputs[0]});
      b.give_broadcast(k, b.emit("Where", {chosen, b.by_output(), b.scalar(0)}));
    }
}

void power(Backward& b) {
  const Node& node = b.node();
  if (b.wants(1)) ops::unsupported("The exponent of a Pow has no gradient here.");
  const ValueId less = b.emit("Sub", {node.inputs[1], b.scalar(1)});
  const ValueId slope = b.emit("Mul", {node.inputs[1], b.emit("Pow", {node.inputs[0], less})});
  b.give_broadcast(0, b.emit("Mul", {b.by_output(), slope}));
}

void where(Backward& b) {
  const ValueId zero = b.scalar(0), condition = b.node().inputs[0];
  if (b.wants(1)) b.give_broadcast(1, b.emit("Where", {condition, b.by_output(), zero}));
  if (b.wants(2)) b.give_broadcast(2, b.emit("Where", {condition, zero, b.by_output()}));
}

void p_relu(Backward& b) {
  const Node& node = b.node();
  const ValueId zero = b.scalar(0), above = b.emit("Greater", {node.inputs[0], zero});
  if (b.wants(0)) {
    const ValueId below = b.emit("Mul", {b.by_output(), node.inputs[1]});
    b.give(0, b.emit("Where", {above, b.by_output(), below}));
  }
  if (b.wants(1)) {
    const ValueId below = b.emit("Mul", {b.by_output(), node.inputs[0]});
    b.give_broadcast(1, b.emit("Where", {above, zero, below}));
  }
}

}  // namespace

Family binary_family() {
  return {{{"", "Add", add},      {"", "Sub", subtract},
           {"", "Mul", multiply}, {"", "Div", divide},
           {"", "Sum", add},      {"", "Mean", mean},
           {"", "Max", extreme},  {"", "Min", extreme},
           {"", "Pow", power},    {"", "Where", where},
           {"", "PRelu", p_relu}, {"", "Equal"},
           {"", "Greater"},       {"", "GreaterOrEqual"},
           {"", "Less"},          {"", "LessOrEqual"},
           {"", "And"},           {"", "Or"},
           {"", "Xor"},           {"", "Not"}},
          {kernel_record<SumTo>("SumTo")}};
}

}  // namespace tersor::gradient
