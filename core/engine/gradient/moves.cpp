// SPDX-License-Identifier: Apache-2.0
// Operators that move elements and compute nothing. The gradient of most of them is found by moving numbers of places:
// the operator itself, run on 0, 1, 2, ... in place of its input, says where each element of its output comes from, and
// the gradient is added up there. What follows from shapes alone is computed while the run is planned.
#include <algorithm>
#include <numeric>

#include "core/gradient/kernel.h"
#include "core/ops/refuse.h"

namespace tersor::gradient {

namespace {

/// ReshapeLike(x, like).
class ReshapeLike : public LikeInput {
 public:
  explicit ReshapeLike(ops::Setup&) : LikeInput(1) {}
  std::optional<size_t> alias(std::span<const ops::Input>, std::span<const ops::TensorType>) const override {
    return 0;
  }
  void run(const ops::Call& call) const override {
    std::copy_n(call.inputs[0].data, call.inputs[0].type->bytes(), call.outputs[0].data);
  }
};

/// Places(x): 0, 1, 2, ... in the shape of x.
class Places : public ops::Kernel {
 public:
  explicit Places(ops::Setup&) {}
  std::vector<ops::Form> forms(std::span<const ops::Input> inputs) const override {
    return {{inputs[0].type->layout, inputs[0].shape().rank()}};
  }
  bool from_types_only() const override { return true; }
  std::vector<ops::TensorType> infer(std::span<const ops::Input> inputs) const override {
    if (inputs[0].elements() > INT32_MAX) ops::unsupported("The tensor is too large to number its elements.");
    return {{DType::kInt32, inputs[0].shape(), ops::Layout::kPlain}};
  }
  void run(const ops::Call& call) const override {
    const std::span<int32_t> y = call.outputs[0].values<int32_t>();
    std::iota(y.begin(), y.end(), 0);
  }
};

/// ScatterSum(dy, places, like): element k of dy is added at places[k]; a place of -1 is none.
class ScatterSum : public LikeInput {
 public:
  explicit ScatterSum(ops::Setup&) : LikeInput(2) {}
  void run(const ops::Call& call) const override {
    const std::span<const float> dy = call.inputs[0].values<float>();
    const std::span<const int32_t> places = call.inputs[1].values<int32_t>();
    const std::span<float> y = call.outputs[0].values<float>();
    std::fill(y.begin(), y.end(), 0.0f);
    for (size_t k = 0; k < dy.size(); ++k)
      if (places[k] >= 0) y[static_cast<size_t>(places[k])] += dy[k];
  }
};

/// ConcatPart(dy, x0, x1, ...): the part of dy that came from the last of these x, after those of the others.
class ConcatPart : public ops::Kernel {
 public:
  explicit ConcatPart(ops::Setup& setup) : axis_(setup.node.int_or("axis", 0)) {}
  std::vector<ops::Form> forms(std::span<const ops::Input> inputs) const override {
    std::vector<ops::Form> forms = Kernel::forms(inputs);
    for (size_t k = 1; k < forms.size(); ++k) forms[k].layout = inputs[k].type->layout;
    return forms;
  }
  std::vector<ops::TensorType> infer(std::span<const ops::Input> inputs) const override {
    return {{DType::kFloat32, inputs.back().shape(), ops::Layout::kPlain}};
  }
  void run(const ops::Call& call) const override {
    const Shape &whole = call.inputs[0].shape(), &part = call.inputs.back().shape();
    const int axis = ops::axis_of(axis_, whole);
    int64_t before = 0;
    for (size_t k = 1; k + 1 < call.inputs.size(); ++k) before += call.inputs[k].shape()[axis];
    const int64_t inner = whole.elements(axis + 1, whole.rank()), rows = whole.elements(0, axis);
    const float* from = call.inputs[0].values<float>().data() + before * inner;
    float* to = call.outputs[0].values<float>().data();
    for (int64_t row = 0; row < rows; ++row, from += whole[axis] * inner, to += part[axis] * inner)
      std::copy_n(from, part[axis] * inner, to);
  }

 private:
  int64_t axis_;
};

void pass_on(Backward& b) {
  if (b.wants(0)) b.give(0, b.by_output());
}

void reshape(Backward& b) {
  if (b.wants(0)) b.give(0, b.own("ReshapeLike", {b.by_output(), b.node().inputs[0]}));
}

void cast(Backward& b) {
  constexpr int64_t kFloat = 1;
  if (b.node().op_type == "Cast" && b.node().int_or("to", 0) != kFloat)
    ops::unsupported("A Cast to another type than float32 has no gradient here.");
  pass_on(b);
}

void transpose(Backward& b) {
  if (!b.wants(0)) return;
  const std::vector<int64_t> order = b.node().ints_or("perm", {});
  Attributes attributes;
  if (!order.empty()) {
    std::vector<int64_t> back(order.size());
    for (size_t k = 0; k < order.size(); ++k) back[static_cast<size_t>(order[k])] = static_cast<int64_t>(k);
    attributes["perm"] = std::move(back);
  }
  b.give(0, b.emit("Transpose", {b.by_output()}, std::move(attributes)));
}

void concat(Backward& b) {
  const Node& node = b.node();
  for (size_t k = 0; k < node.inputs.size(); ++k) {
    if (!b.wants(k)) continue;
    std::vector<ValueId> inputs{b.by_output()};
    inputs.insert(inputs.end(), node.inputs.begin(), node.inputs.begin() + static_cast<std::ptrdiff_t>(k) + 1);
    Attributes attributes;
    attributes["axis"] = node.int_or("axis", 0);
    b.give(k, b.own("ConcatPart", std::move(inputs), std::move(attributes)));
  }
}

/// The operator's own inputs, with the numbers of places in place of the first.
void by_places(Backward& b, std::vector<ValueId> inputs) {
  const Node& node = b.node();
  const ValueId x = node.inputs[0];
  inputs[0] = b.own("Places", {x});
  const std::vector<ValueId> places =
      b.emit_many(node.op_type, std::move(inputs), node.outputs.size(), node.attributes, node.domain);
  for (size_t k = 0; k < node.outputs.size(); ++k)
    if (b.by_output(k).valid()) b.give(0, b.own("ScatterSum", {b.by_output(k), places[k], x}));
}

void move(Backward& b) {
  for (size_t k = 1; k < b.node().inputs.size(); ++k)
    if (b.wants(k)) ops::unsupported("Only the first input of a " + b.node().op_type + " has a gradient here.");
  if (b.wants(0)) by_places(b, b.node().inputs);
}

/// What is filled in comes from nowhere.
void pad(Backward& b) {
  if (!b.wants(0)) return;
  if (b.wants(2)) ops::unsupported("The filler of a Pad has no gradient here.");
  std::vector<ValueId> inputs = b.node().inputs;
  inputs.resize(std::max<size_t>(inputs.size(), 3));
  inputs[2] = b.constant(Tensor::scalar<int32_t>(-1));
  by_places(b, std::move(inputs));
}

void resize(Backward& b) {
  if (b.node().string_or("mode", "nearest") != "nearest")
    ops::unsupported("Only Resize of mode nearest has a gradient here.");
  if (b.node().string_or("coordinate_transformation_mode", "") == "tf_crop_and_resize")
    ops::unsupported("Resize with a region of interest has no gradient here.");
  move(b);
}

}  // namespace

Family move_family() {
  return {{{"", "Identity", pass_on},
           {"", "Dropout", pass_on},
           {"", "Cast", cast},
           {"", "CastLike", cast},
           {"", "Reshape", reshape},
           {"", "Flatten", reshape},
           {"", "Squeeze", reshape},
           {"", "Unsqueeze", reshape},
           {"", "Transpose", transpose},
           {"", "Concat", concat},
           {"", "Slice", move},
           {"", "Split", move},
           {"", "Gather", move},
           {"", "GatherElements", move},
           {"", "GatherND", move},
           {"", "Expand", move},
           {"", "Tile", move},
           {"", "DepthToSpace", move},
           {"", "SpaceToDepth", move},
           {"", "ReverseSequence", move},
           {"", "Pad", pad},
           {"", "Resize", resize},
           {"", "Upsample", resize},
           {"", "Shape"},
           {"", "Size"},
           {"", "ConstantOfShape"},
           {"", "Range"},
           {"", "OneHot"},
           {"", "NonZero"},
           {"", "ArgMax"},
           {"", "ArgMin"}},
          {kernel_record<ReshapeLike>("ReshapeLike"), kernel_record<Places>("Places"),
           kernel_record<ScatterSum>("ScatterSum"), kernel_record<ConcatPart>("ConcatPart")}};
}

}  // namespace tersor::gradient
