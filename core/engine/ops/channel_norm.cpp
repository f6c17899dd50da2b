// SPDX-License-Identifier: Apache-2.0
// Normalizations of pictures: InstanceNormalization and GroupNormalization bring groups of channels of one sample to
// mean 0 and variance 1; MeanVarianceNormalization does so over axes of choice; LpNormalization divides lines by their
// norm; LRN divides each element by a power of the squares around it in the other channels.
#include <algorithm>
#include <cmath>

#include "core/graph/attribute_defaults.h"
#include "core/kernels/moments.h"
#include "core/kernels/transcendental.h"
#include "core/ops/families.h"
#include "core/ops/integer_list.h"
#include "core/ops/lines.h"
#include "core/ops/reduced.h"
#include "core/ops/refuse.h"

namespace tersor::ops {

namespace {

class GroupNorm : public Kernel {
 public:
  /// One group per channel where `instance`.
  GroupNorm(const Setup& setup, bool instance)
      : instance_(instance),
        by_group_(!instance && setup.opset < 21),
        groups_(setup.node.int_or("num_groups", instance ? 1 : 0)),
        epsilon_(float_of(setup.node, "epsilon")) {
    require_inputs(setup, 3, 3);
    if (groups_ < 1) invalid("The attribute num_groups is " + std::to_string(groups_) + ".");
    if (!(epsilon_ >= 0)) invalid("The attribute epsilon is " + std::to_string(epsilon_) + ".");
  }

  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    for (const Input& input : inputs) require_type(input, {DType::kFloat32}, "of this operator");
    const Shape& x = inputs[0].shape();
    if (x.rank() < 2) invalid("The input has the shape " + x.text() + "; it must have batch and channels.");
    if (x[1] % groups_ != 0)
      invalid("The " + std::to_string(x[1]) + " channels do not split into " + std::to_string(groups_) + " groups.");
    for (size_t k = 1; k <= 2; ++k)
      if (inputs[k].shape().rank() != 1 || inputs[k].elements() != (by_group_ ? groups_ : x[1]))
        invalid("A parameter has the shape " + inputs[k].shape().text() + "; the input has " + x.text() + ".");
    return {{DType::kFloat32, x, Layout::kPlain}};
  }

  bool overwrites(size_t k, std::span<const Input>, std::span<const TensorType>) const override { return k == 0; }

  void run(const Call& call) const override {
    const Shape& shape = call.inputs[0].shape();
    if (shape.elements() == 0) return;
    const int64_t channels = shape[1], groups = instance_ ? channels : groups_, per_group = channels / groups;
    const auto places = static_cast<size_t>(shape.elements(2, shape.rank()));
    const auto each = static_cast<size_t>(per_group) * places;
    const auto scale = call.inputs[1].values<float>(), bias = call.inputs[2].values<float>();
    const float* x = call.inputs[0].values<float>().data();
    float* y = call.outputs[0].values<float>().data();
    for (int64_t g = 0; g < shape[0] * groups; ++g) {
      const kernels::Moments m = kernels::moments(x, each);
      const double factor = 1 / std::sqrt(m.variance + static_cast<double>(epsilon_));
      for (int64_t c = 0; c < per_group; ++c, x += places, y += places) {
        const auto at = static_cast<size_t>(by_group_ ? g % groups : g % groups * per_group + c);
        kernels::shift_and_scale(x, places, m.mean, factor, y);
        for (size_t k = 0; k < places; ++k) y[k] = y[k] * scale[at] + bias[at];
      }
    }
  }

 private:
  bool instance_;
  bool by_group_;  // scale and bias have one number per group
  int64_t groups_;
  float epsilon_;
};

class MeanVarianceNorm : public Kernel {
 public:
  explicit MeanVarianceNorm(const Setup& setup) : axes_(setup.node.ints_or("axes", {0, 2, 3})) {
    require_inputs(setup, 1, 1);
  }

  std::vector<Form> forms(std::span<const Input> inputs) const override {
    return {{inputs[0].type->layout, inputs[0].shape().rank()}};
  }

  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    require_type(inputs[0], {DType::kFloat32}, "X");
    axes_of(axes_, inputs[0].shape().rank());
    return {*inputs[0].type};
  }

  /// A mean and a variance for each stretch of the input that shares them.
  int64_t scratch_bytes(std::span<const Input> inputs, std::span<const TensorType>) const override {
    return shared(*inputs[0].type) * 16;
  }

  void run(const Call& call) const override {
    const TensorType& type = *call.inputs[0].type;
    if (type.shape.elements() == 0) return;
    const auto count = static_cast<size_t>(shared(type));
    const double each = static_cast<double>(type.shape.elements()) / static_cast<double>(count);
    double *means = reinterpret_cast<double*>(call.scratch.data()), *variances = means + count;
    std::fill_n(means, 2 * count, 0.0);
    const float* x = call.inputs[0].values<float>().data();
    float* y = call.outputs[0].values<float>().data();
    const ReducedLoop loop(type, axes_of(axes_, type.shape.rank()));
    const auto visit = [&](auto body) {
      loop.for_each_run([&](int64_t from, int64_t to, int64_t n, bool moves) {
        for (int64_t k = 0; k < n; ++k) body(from + k, to + (moves ? k : 0));
      });
    };
    visit([&](int64_t at, int64_t to) { means[to] += static_cast<double>(x[at]); });
    for (size_t k = 0; k < count; ++k) means[k] /= each;
    visit([&](int64_t at, int64_t to) {
      const double distance = static_cast<double>(x[at]) - means[to];
      variances[to] += distance * distance;
    });
    visit([&](int64_t at, int64_t to) {
      constexpr double kEpsilon = 1e-9;  // ONNX's
      y[at] =
          static_cast<float>((static_cast<double>(x[at]) - means[to]) / (std::sqrt(variances[to] / each) + kEpsilon));
    });
  }

 private:
  int64_t shared(const TensorType& type) const {
    return reduced_type(type, axes_of(axes_, type.shape.rank()), true)->shape.elements();
  }

  std::vector<int64_t> axes_;
};

class LpNorm : public Kernel {
 public:
  explicit LpNorm(const Setup& setup) : axis_(int_of(setup.node, "axis")), p_(int_of(setup.node, "p")) {
    require_inputs(setup, 1, 1);
    if (p_ != 1 && p_ != 2) invalid("The attribute p is " + std::to_string(p_) + "; it must be 1 or 2.");
  }

  std::vector<Form> forms(std::span<const Input> inputs) const override {
    return {{inputs[0].type->layout, inputs[0].shape().rank()}};
  }

  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    require_type(inputs[0], {DType::kFloat32}, "input");
    axis_of(axis_, inputs[0].shape());
    return {*inputs[0].type};
  }

  bool overwrites(size_t, std::span<const Input>, std::span<const TensorType>) const override { return true; }

  void run(const Call& call) const override {
    const Lines lines = lines_along(*call.inputs[0].type, axis_of(axis_, call.inputs[0].shape()));
    const float* x = call.inputs[0].values<float>().data();
    float* y = call.outputs[0].values<float>().data();
    lines.for_each([&](int64_t first) {
      double norm = 0;
      for (int64_t k = 0; k < lines.length; ++k) {
        const double value = x[first + k * lines.inner];
        norm += p_ == 1 ? std::fabs(value) : value * value;
      }
      if (p_ == 2) norm = std::sqrt(norm);
      for (int64_t k = 0; k < lines.length; ++k) {
        const int64_t at = first + k * lines.inner;
        y[at] = norm == 0 ? 0.0f : static_cast<float>(static_cast<double>(x[at]) / norm);
      }
    });
  }

 private:
  int64_t axis_, p_;
};

class Lrn : public Kernel {
 public:
  explicit Lrn(const Setup& setup)
      : size_(setup.node.int_or("size", 0)),
        alpha_(float_of(setup.node, "alpha")),
        beta_(float_of(setup.node, "beta")),
        bias_(float_of(setup.node, "bias")) {
    require_inputs(setup, 1, 1);
    if (size_ < 1 || size_ > int64_t{1} << 31) invalid("The attribute size is " + std::to_string(size_) + ".");
  }

  std::vector<Form> forms(std::span<const Input> inputs) const override {
    return {{inputs[0].type->layout, inputs[0].shape().rank()}};
  }

  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    require_type(inputs[0], {DType::kFloat32}, "X");
    if (inputs[0].shape().rank() < 2)
      invalid("The input has the shape " + inputs[0].shape().text() + "; it must have batch and channels.");
    return {*inputs[0].type};
  }

  void run(const Call& call) const override {
    const Lines lines = lines_along(*call.inputs[0].type, 1);
    const float* x = call.inputs[0].values<float>().data();
    float* y = call.outputs[0].values<float>().data();
    const int64_t before = (size_ - 1) / 2, after = size_ - 1 - before;
    const double factor = static_cast<double>(alpha_) / static_cast<double>(size_);
    lines.for_each([&](int64_t line) {
      for (int64_t c = 0; c < lines.length; ++c) {
        double sum = 0;
        for (int64_t k = std::max<int64_t>(0, c - before); k <= std::min(lines.length - 1, c + after); ++k) {
          const double value = x[line + k * lines.inner];
          sum += value * value;
        }
        y[line + c * lines.inner] = static_cast<float>(static_cast<double>(bias_) + factor * sum);
      }
    });
    const auto n = static_cast<size_t>(call.outputs[0].elements());
    kernels::power(y, true, &beta_, false, n, y);
    for (size_t k = 0; k < n; ++k) y[k] = x[k] / y[k];
  }

 private:
  int64_t size_;
  float alpha_, beta_, bias_;
};

}  // namespace

std::vector<Op> channel_norm_ops() {
  return {
      {.domain = "",
       .type = "InstanceNormalization",
       .since = 6,
       .prepare = [](Setup& setup) { return std::make_unique<GroupNorm>(setup, true); }},
      {.domain = "",
       .type = "GroupNormalization",
       .since = 18,
       .prepare = [](Setup& setup) { return std::make_unique<GroupNorm>(setup, false); }},
      {.domain = "", .type = "MeanVarianceNormalization", .since = 9, .prepare = make_kernel<MeanVarianceNorm>},
      {.domain = "", .type = "LpNormalization", .prepare = make_kernel<LpNorm>},
      {.domain = "", .type = "LRN", .prepare = make_kernel<Lrn>},
  };
}

}  // namespace tersor::ops
