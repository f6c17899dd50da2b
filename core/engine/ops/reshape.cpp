// SPDX-License-Identifier: Apache-2.0
// Operators that give the same elements another shape: Reshape, Flatten, Squeeze, Unsqueeze, Identity, Dropout (which
// does nothing outside training). They cost nothing: the engine makes their output a view of the input.
#include <algorithm>
#include <cstring>

#include "core/graph/attribute_defaults.h"
#include "core/ops/families.h"
#include "core/ops/integer_list.h"
#include "core/ops/random.h"
#include "core/ops/refuse.h"

namespace tersor::ops {

namespace {

/// Output 0 is input 0's bytes.
class View : public Kernel {
 public:
  std::optional<size_t> alias(std::span<const Input>, std::span<const TensorType>) const override { return 0; }
  void run(const Call& call) const override {
    if (call.outputs[0].elements() != 0)
      std::memcpy(call.outputs[0].data, call.inputs[0].data, static_cast<size_t>(call.outputs[0].type->bytes()));
  }

 protected:
  static std::vector<TensorType> with_shape(const Input& input, std::vector<int64_t> dims) {
    return {{input.dtype(), Shape(std::move(dims)), Layout::kPlain}};
  }
};

class Reshape : public View {
 public:
  explicit Reshape(const Setup& setup) : shape_(setup, 1, "shape"), allow_zero_(int_of(setup.node, "allowzero") != 0) {
    require_inputs(setup, 1, 2);
    if (!shape_.given()) invalid("The input shape is missing.");
  }
  std::vector<size_t> value_inputs() const override {
    std::vector<size_t> inputs;
    shape_.append_to(inputs);
    return inputs;
  }
  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    const Shape& from = inputs[0].shape();
    const std::vector<int64_t> target = shape_.values(inputs);
    const auto refuse = [&] { invalid("The shape " + from.text() + " cannot become " + text_of(target) + "."); };
    std::vector<int64_t> dims = target;
    std::optional<size_t> open;
    for (size_t k = 0; k < dims.size(); ++k) {
      if (dims[k] == 0 && !allow_zero_) {
        if (static_cast<int>(k) >= from.rank()) refuse();
        dims[k] = from[static_cast<int>(k)];
      }
      if (dims[k] < -1 || (dims[k] == -1 && open)) refuse();
      if (dims[k] == -1) open = k;
    }
    if (open) {
      dims[*open] = 1;
      const int64_t rest = Shape(dims).elements();
      if (rest == 0 || from.elements() % rest != 0) refuse();
      dims[*open] = from.elements() / rest;
    }
    if (Shape(dims).elements() != from.elements()) refuse();
    return with_shape(inputs[0], std::move(dims));
  }

 private:
  IntegerList shape_;
  bool allow_zero_;
};

class Flatten : public View {
 public:
  explicit Flatten(const Setup& setup) : axis_(int_of(setup.node, "axis")) { require_inputs(setup, 1, 1); }
  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    const Shape& from = inputs[0].shape();
    const int rank = from.rank();
    if (axis_ < -rank || axis_ > rank)
      invalid("The axis " + std::to_string(axis_) + " is outside the shape " + from.text() + ".");
    const int axis = static_cast<int>(axis_ < 0 ? axis_ + rank : axis_);
    return with_shape(inputs[0], {from.elements(0, axis), from.elements(axis, rank)});
  }

 private:
  int64_t axis_;
};

class Squeeze : public View {
 public:
  explicit Squeeze(const Setup& setup) : axes_(setup, 1, "axes") { require_inputs(setup, 1, 2); }
  std::vector<size_t> value_inputs() const override {
    std::vector<size_t> inputs;
    axes_.append_to(inputs);
    return inputs;
  }
  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    const Shape& from = inputs[0].shape();
    const std::vector<int> axes = axes_of(axes_.values(inputs), from.rank());
    std::vector<int64_t> dims;
    for (int axis = 0; axis < from.rank(); ++axis) {
      const bool named = std::binary_search(axes.begin(), axes.end(), axis);
      if (named && from[axis] != 1)
        invalid("The axis " + std::to_string(axis) + " of the shape " + from.text() + " is not 1.");
      // Runtimes take an empty list as if there were none.
      if (axes.empty() ? from[axis] != 1 : !named) dims.push_back(from[axis]);
    }
    return with_shape(inputs[0], std::move(dims));
  }

 private:
  IntegerList axes_;
};

class Unsqueeze : public View {
 public:
  explicit Unsqueeze(const Setup& setup) : axes_(setup, 1, "axes") {
    require_inputs(setup, 1, 2);
    if (!axes_.given()) invalid("The axes are missing.");
  }
  std::vector<size_t> value_inputs() const override {
    std::vector<size_t> inputs;
    axes_.append_to(inputs);
    return inputs;
  }
  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    const std::vector<int64_t> given = axes_.values(inputs);
    std::vector<int64_t> dims = inputs[0].shape().dims();
    const std::vector<int> axes = axes_of(given, static_cast<int>(dims.size() + given.size()));
    for (const int axis : axes) dims.insert(dims.begin() + axis, 1);
    return with_shape(inputs[0], std::move(dims));
  }

 private:
  IntegerList axes_;
};

/// Also Dropout outside training. Keeps whatever layout the input has.
class Identity : public View {
 public:
  explicit Identity(const Setup& setup, DType mask = DType::kUndefined) : mask_(mask) {
    require_inputs(setup, 1, mask == DType::kUndefined ? 1 : 3);
  }
  std::vector<Form> forms(std::span<const Input> inputs) const override {
    std::vector<Form> forms = Kernel::forms(inputs);
    forms[0].layout = inputs[0].type->layout;
    return forms;
  }
  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    if (mask_ == DType::kUndefined) return {*inputs[0].type};
    if (mask_ == DType::kFloat32) require_type(inputs[0], {DType::kFloat32}, "data");
    return {*inputs[0].type, {mask_ == DType::kBool ? mask_ : inputs[0].dtype(), inputs[0].shape(), Layout::kPlain}};
  }
  void run(const Call& call) const override {
    if (call.outputs[0].present()) View::run(call);
    if (call.outputs.size() < 2 || !call.outputs[1].present()) return;
    const Output& mask = call.outputs[1];
    if (mask.type->dtype == DType::kFloat32)
      std::fill_n(mask.values<float>().data(), mask.elements(), 1.0f);
    else
      std::memset(mask.data, 1, static_cast<size_t>(mask.elements()));
  }

 private:
  DType mask_;
};

std::unique_ptr<const Kernel> prepare_dropout(Setup& setup) {
  if (setup.has_input(2)) {
    const Tensor* training = setup.constant(2);
    if (training == nullptr || training->elements() != 1 || training->to_int64s()[0] != 0)
      return training_dropout(setup);
  }
  return std::make_unique<Identity>(setup, setup.opset >= 10 ? DType::kBool : DType::kFloat32);
}

}  // namespace

std::vector<Op> reshape_ops() {
  return {
      {.domain = "", .type = "Reshape", .prepare = make_kernel<Reshape>},
      {.domain = "", .type = "Flatten", .prepare = make_kernel<Flatten>},
      {.domain = "", .type = "Squeeze", .prepare = make_kernel<Squeeze>},
      {.domain = "", .type = "Unsqueeze", .prepare = make_kernel<Unsqueeze>},
      {.domain = "", .type = "Identity", .prepare = make_kernel<Identity>},
      {.domain = "", .type = "Dropout", .since = 7, .prepare = prepare_dropout},
  };
}

}  // namespace tersor::ops
