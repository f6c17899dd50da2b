// SPDX-License-Identifier: Apache-2.0
// The Reduce family: what was reduced is spread over the axes again.
#include <algorithm>

#include "core/gradient/kernel.h"
#include "core/graph/attribute_defaults.h"
#include "core/ops/integer_list.h"
#include "core/ops/refuse.h"
#include "core/ops/strided.h"

namespace tersor::gradient {

namespace {

/// Spread(reduced, x, axes): `reduced`, which is x reduced along the axes (all where none are given), repeated along
/// them to the shape of x; divided by their number where the attribute mean is set.
class Spread : public LikeInput {
 public:
  explicit Spread(ops::Setup& setup)
      : LikeInput(1),
        axes_(setup, 2, "axes"),
        mean_(setup.node.int_or("mean", 0) != 0),
        keeps_all_(setup.node.int_or("noop_with_empty_axes", 0) != 0) {}

  std::vector<size_t> value_inputs() const override {
    std::vector<size_t> inputs;
    axes_.append_to(inputs);
    return inputs;
  }

  void run(const ops::Call& call) const override {
    const Shape& x = call.inputs[1].shape();
    std::vector<int64_t> given = axes_.values(call.inputs);
    if (given.empty() && !keeps_all_)
      for (int k = 0; k < x.rank(); ++k) given.push_back(k);
    const std::vector<int> reduced = ops::axes_of(given, x.rank());
    const std::vector<int64_t> to = ops::row_major_strides(x.dims());
    std::vector<ops::CopyAxis> axes(x.dims().size());
    int64_t step = 1, count = 1;
    for (int k = x.rank() - 1; k >= 0; --k) {
      const bool repeats = std::find(reduced.begin(), reduced.end(), k) != reduced.end();
      axes[static_cast<size_t>(k)] = {x[k], repeats ? 0 : step, to[static_cast<size_t>(k)]};
      (repeats ? count : step) *= x[k];
    }
    if (x.elements() == 0) return;
    ops::copy_strided(call.inputs[0].data, call.outputs[0].data, axes, sizeof(float));
    if (!mean_) return;
    for (float& y : call.outputs[0].values<float>()) y /= static_cast<float>(count);
  }

 private:
  ops::IntegerList axes_;
  bool mean_, keeps_all_;
};

ValueId spread(Backward& b, ValueId reduced, bool mean = false) {
  const Node& node = b.node();
  std::vector<ValueId> inputs{reduced, node.inputs[0]};
  if (node.inputs.size() > 1 && node.inputs[1].valid()) inputs.push_back(node.inputs[1]);
  Attributes attributes;
  if (const auto* axes = node.attribute<std::vector<int64_t>>("axes")) attributes["axes"] = *axes;
  attributes["noop_with_empty_axes"] = int_of(node, "noop_with_empty_axes");
  attributes["mean"] = int64_t{mean};
  return b.own("Spread", std::move(inputs), std::move(attributes));
}

void sum(Backward& b) {
  if (b.wants(0)) b.give(0, spread(b, b.by_output()));
}

void reduce_mean(Backward& b) {
  if (b.wants(0)) b.give(0, spread(b, b.by_output(), true));
}

/// To every element that the extreme equals.
void reduce_extreme(Backward& b) {
  if (!b.wants(0)) return;
  const ValueId chosen = b.emit("Equal", {b.node().inputs[0], spread(b, b.node().outputs[0])});
  b.give(0, b.emit("Where", {chosen, spread(b, b.by_output()), b.scalar(0)}));
}

void sum_of_squares(Backward& b) {
  if (!b.wants(0)) return;
  const ValueId twice = b.emit("Mul", {b.node().inputs[0], b.scalar(2)});
  b.give(0, b.emit("Mul", {spread(b, b.by_output()), twice}));
}

void norm(Backward& b) {
  if (!b.wants(0)) return;
  const ValueId by_norm = spread(b, b.emit("Div", {b.by_output(), b.node().outputs[0]}));
  b.give(0, b.emit("Mul", {by_norm, b.node().inputs[0]}));
}

void absolute_sum(Backward& b) {
  if (b.wants(0)) b.give(0, b.emit("Mul", {spread(b, b.by_output()), b.emit("Sign", {b.node().inputs[0]})}));
}

}  // namespace

Family reduce_family() {
  return {{{"", "ReduceSum", sum},
           {"", "ReduceMean", reduce_mean},
           {"", "ReduceMax", reduce_extreme},
           {"", "ReduceMin", reduce_extreme},
           {"", "ReduceSumSquare", sum_of_squares},
           {"", "ReduceL2", norm},
           {"", "ReduceL1", absolute_sum}},
          {kernel_record<Spread>("Spread")}};
}

}  // namespace tersor::gradient
