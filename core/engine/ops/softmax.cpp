// SPDX-License-Identifier: Apache-2.0
// Softmax, LogSoftmax and Hardmax. From operator set 13 on along one axis, in whatever layout the input lies; before
// that, over all axes from `axis` on taken together.
#include <algorithm>

#include "core/graph/attribute_defaults.h"
#include "core/kernels/transcendental.h"
#include "core/ops/families.h"
#include "core/ops/refuse.h"

namespace tersor::ops {

namespace {

enum class Kind { kSoftmax, kLogarithm, kHardmax };

class Softmax : public Kernel {
 public:
  Softmax(const Setup& setup, Kind kind)
      : kind_(kind), flattens_(setup.opset < 13), axis_(int_of(setup.node, "axis", setup.opset)) {
    require_inputs(setup, 1, 1);
  }

  std::vector<Form> forms(std::span<const Input> inputs) const override {
    return {{flattens_ ? Layout::kPlain : inputs[0].type->layout, inputs[0].shape().rank()}};
  }

  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    require_type(inputs[0], {DType::kFloat32}, "input");
    lines(*inputs[0].type);
    return {*inputs[0].type};
  }

  bool overwrites(size_t, std::span<const Input>, std::span<const TensorType>) const override {
    return kind_ != Kind::kHardmax;
  }

  void run(const Call& call) const override {
    const Lines l = lines(*call.inputs[0].type);
    const float* x = call.inputs[0].values<float>().data();
    float* y = call.outputs[0].values<float>().data();
    if (kind_ == Kind::kHardmax) return hardmax(l, x, y);
    kernels::softmax(x, l.outer, l.length, l.inner, kind_ == Kind::kLogarithm, y);
  }

 private:
  struct Lines {
    size_t outer, length, inner;
  };

  Lines lines(const TensorType& type) const {
    const int rank = type.shape.rank();
    const auto count = [](int64_t n) { return static_cast<size_t>(n); };
    if (flattens_ && axis_ == rank) return {count(type.shape.elements()), 1, 1};
    const int axis = axis_of(axis_, type.shape);
    if (flattens_) return {count(type.shape.elements(0, axis)), count(type.shape.elements(axis, rank)), 1};
    const Shape lying(physical_dims(type));
    const int at = physical_axis(axis, rank, type.layout);
    return {count(lying.elements(0, at)), count(lying[at]), count(lying.elements(at + 1, rank))};
  }

  /// 1 at the first largest element, 0 elsewhere.
  static void hardmax(const Lines& l, const float* x, float* y) {
    if (l.length == 0) return;
    std::fill_n(y, l.outer * l.length * l.inner, 0.0f);
    for (size_t o = 0; o < l.outer; ++o)
      for (size_t i = 0; i < l.inner; ++i) {
        const size_t first = o * l.length * l.inner + i;
        size_t best = 0;
        for (size_t k = 1; k < l.length; ++k)
          if (x[first + k * l.inner] > x[first + best * l.inner]) best = k;
        y[first + best * l.inner] = 1.0f;
      }
  }

  Kind kind_;
  bool flattens_;
  int64_t axis_;
};

Op softmax(std::string_view type, Kind kind) {
  return {
      .domain = "", .type = type, .prepare = [kind](Setup& setup) { return std::make_unique<Softmax>(setup, kind); }};
}

}  // namespace

std::vector<Op> softmax_ops() {
  return {softmax("Softmax", Kind::kSoftmax), softmax("LogSoftmax", Kind::kLogarithm),
          softmax("Hardmax", Kind::kHardmax)};
}

}  // namespace tersor::ops
