// SPDX-License-Identifier: Apache-2.0
// Operators that make values from nothing or from shapes: Constant, ConstantOfShape, Shape, Size, Range.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/graph/attribute_defaults.h"
#include "core/ops/constant.h"
#include "core/ops/families.h"
#include "core/ops/refuse.h"

namespace tersor::ops {

std::optional<Tensor> constant_value(const Node& node) {
  if (const auto* tensor = node.attribute<Tensor>("value")) return *tensor;
  if (const auto* number = node.attribute<float>("value_float")) return Tensor::scalar(*number);
  if (const auto* number = node.attribute<int64_t>("value_int")) return Tensor::scalar(*number);
  if (const auto* list = node.attribute<std::vector<float>>("value_floats"))
    return Tensor::of<float>(Shape{static_cast<int64_t>(list->size())}, *list);
  if (const auto* list = node.attribute<std::vector<int64_t>>("value_ints"))
    return Tensor::of<int64_t>(Shape{static_cast<int64_t>(list->size())}, *list);
  return std::nullopt;
}

namespace {

Tensor value_or_refusal(const Node& node) {
  if (std::optional<Tensor> value = constant_value(node)) return *std::move(value);
  if (node.attributes.empty()) invalid("The constant has no value.");
  unsupported("A constant of the kind " + node.attributes.begin()->first + " is not supported.");
}

class Constant : public Kernel {
 public:
  explicit Constant(const Setup& setup) : value_(value_or_refusal(setup.node)) {
    require_inputs(setup, 0, 0);
    if (bits_of(value_.dtype()) == 0) unsupported("A constant of strings is not supported.");
  }
  std::vector<TensorType> infer(std::span<const Input>) const override {
    return {{value_.dtype(), value_.shape(), Layout::kPlain}};
  }
  void run(const Call& call) const override {
    if (!value_.bytes().empty()) std::memcpy(call.outputs[0].data, value_.bytes().data(), value_.bytes().size());
  }

 private:
  Tensor value_;
};

class ConstantOfShape : public Kernel {
 public:
  explicit ConstantOfShape(const Setup& setup) : value_(Tensor::scalar(0.0f)) {
    require_inputs(setup, 1, 1);
    if (const auto* value = setup.node.attribute<Tensor>("value")) value_ = *value;
    if (value_.elements() != 1)
      invalid("The attribute value has the shape " + value_.shape().text() + "; it must hold one element.");
    if (bits_of(value_.dtype()) < 8)
      unsupported("The type " + std::string(name_of(value_.dtype())) + " is not supported.");
  }
  std::vector<size_t> value_inputs() const override { return {0}; }
  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    return {{value_.dtype(), Shape(integers_of(inputs[0], "input")), Layout::kPlain}};
  }
  void run(const Call& call) const override {
    const size_t size = value_.bytes().size();
    for (int64_t k = 0; k < call.outputs[0].elements(); ++k)
      std::memcpy(call.outputs[0].data + static_cast<size_t>(k) * size, value_.bytes().data(), size);
  }

 private:
  Tensor value_;
};

class ShapeOf : public Kernel {
 public:
  explicit ShapeOf(const Setup& setup) : start_(int_of(setup.node, "start")), end_(setup.node.int_or("end", kOpen)) {
    require_inputs(setup, 1, 1);
  }
  bool from_types_only() const override { return true; }
  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    const auto [first, last] = range(inputs[0].shape().rank());
    return {{DType::kInt64, Shape{std::max<int64_t>(0, last - first)}, Layout::kPlain}};
  }
  void run(const Call& call) const override {
    const auto [first, last] = range(call.inputs[0].shape().rank());
    for (int64_t k = first; k < last; ++k)
      call.outputs[0].values<int64_t>()[static_cast<size_t>(k - first)] = call.inputs[0].shape()[static_cast<int>(k)];
  }

 private:
  static constexpr int64_t kOpen = std::numeric_limits<int64_t>::max();
  std::pair<int64_t, int64_t> range(int64_t rank) const {
    const auto placed = [&](int64_t axis) { return std::clamp<int64_t>(axis < 0 ? axis + rank : axis, 0, rank); };
    return {placed(start_), placed(end_)};
  }
  int64_t start_, end_;
};

class Size : public Kernel {
 public:
  explicit Size(const Setup& setup) { require_inputs(setup, 1, 1); }
  bool from_types_only() const override { return true; }
  std::vector<TensorType> infer(std::span<const Input>) const override {
    return {{DType::kInt64, Shape{}, Layout::kPlain}};
  }
  void run(const Call& call) const override { call.outputs[0].values<int64_t>()[0] = call.inputs[0].elements(); }
};

class Range : public Kernel {
 public:
  explicit Range(const Setup& setup) { require_inputs(setup, 3, 3); }
  std::vector<size_t> value_inputs() const override { return {0, 1, 2}; }
  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    for (const Input& input : inputs) {
      require_type(input, {DType::kFloat32, DType::kFloat64, DType::kInt16, DType::kInt32, DType::kInt64}, "of Range");
      require_same_type(inputs[0], input);
      if (input.elements() != 1) invalid("An input of Range has the shape " + input.shape().text() + ", not a scalar.");
    }
    return {{inputs[0].dtype(), Shape{count(inputs)}, Layout::kPlain}};
  }
  void run(const Call& call) const override {
    switch (call.inputs[0].dtype()) {
      case DType::kFloat32:
        return fill<float>(call);
      case DType::kFloat64:
        return fill<double>(call);
      case DType::kInt16:
        return fill<int16_t>(call);
      case DType::kInt32:
        return fill<int32_t>(call);
      default:
        return fill<int64_t>(call);
    }
  }

 private:
  template <class T>
  static double number(const Input& input) {
    return static_cast<double>(input.values<T>()[0]);
  }
  static double number_of(const Input& input) {
    switch (input.dtype()) {
      case DType::kFloat32:
        return number<float>(input);
      case DType::kFloat64:
        return number<double>(input);
      case DType::kInt16:
        return number<int16_t>(input);
      case DType::kInt32:
        return number<int32_t>(input);
      default:
        return number<int64_t>(input);
    }
  }
  static int64_t count(std::span<const Input> inputs) {
    const double start = number_of(inputs[0]), limit = number_of(inputs[1]), delta = number_of(inputs[2]);
    const double steps = std::ceil((limit - start) / delta);
    if (!(delta != 0) || !(std::abs(steps) < 281474976710656.0))
      invalid("Range from " + std::to_string(start) + " to " + std::to_string(limit) + " in steps of " +
              std::to_string(delta) + " has no end.");
    return std::max<int64_t>(0, static_cast<int64_t>(steps));
  }
  template <class T>
  static void fill(const Call& call) {
    const T start = call.inputs[0].values<T>()[0], delta = call.inputs[2].values<T>()[0];
    const auto values = call.outputs[0].values<T>();
    for (size_t k = 0; k < values.size(); ++k) {
      if constexpr (std::is_integral_v<T>)  // in unsigned numbers, whose overflow is defined
        values[k] = static_cast<T>(static_cast<uint64_t>(start) + k * static_cast<uint64_t>(delta));
      else
        values[k] = start + static_cast<T>(k) * delta;
    }
  }
};

}  // namespace

std::vector<Op> constant_ops() {
  return {
      {.domain = "", .type = "Constant", .prepare = make_kernel<Constant>},
      {.domain = "", .type = "ConstantOfShape", .since = 9, .prepare = make_kernel<ConstantOfShape>},
      {.domain = "", .type = "Shape", .prepare = make_kernel<ShapeOf>},
      {.domain = "", .type = "Size", .prepare = make_kernel<Size>},
      {.domain = "", .type = "Range", .since = 11, .prepare = make_kernel<Range>},
  };
}

}  // namespace tersor::ops
