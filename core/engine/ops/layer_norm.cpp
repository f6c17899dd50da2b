// SPDX-License-Identifier: Apache-2.0
// LayerNormalization and RMSNormalization: every stretch of elements from `axis` on is brought to mean 0 and variance 1
// (RMSNormalization: to mean square 1), then scaled and shifted. Moments in double, the outputs rounded once before the
// scale.
#include <algorithm>
#include <cmath>

#include "core/graph/attribute_defaults.h"
#include "core/kernels/moments.h"
#include "core/ops/families.h"
#include "core/ops/microsoft.h"
#include "core/ops/strided.h"

namespace tersor::ops {

namespace {

class LayerNorm : public Kernel {
 public:
  LayerNorm(const Setup& setup, bool centers)
      : LayerNorm(centers, int_of(setup.node, "axis"), float_of(setup.node, "epsilon")) {
    require_inputs(setup, 2, centers ? 3 : 2);
    if (!centers) refuse_output(setup, 1, "inv_std_var");
  }
  LayerNorm(bool centers, int64_t axis, float epsilon) : centers_(centers), axis_(axis), epsilon_(epsilon) {
    if (!(epsilon_ >= 0)) invalid("The attribute epsilon is " + std::to_string(epsilon_) + ".");
  }

  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    require_type(inputs[0], {DType::kFloat32}, "X");
    const Shape& x = inputs[0].shape();
    const int axis = axis_of(axis_, x);
    const Shape inner(std::vector<int64_t>(x.begin() + axis, x.end()));
    for (size_t k = 1; k < inputs.size(); ++k) {
      if (!inputs[k].present()) continue;
      require_type(inputs[k], {DType::kFloat32}, k == 1 ? "scale" : "bias");
      if (!fits(inputs[k].shape(), inner))
        invalid("The " + std::string(k == 1 ? "scale" : "bias") + " has the shape " + inputs[k].shape().text() +
                "; what is normalized has " + inner.text() + ".");
    }
    std::vector<int64_t> dims(x.begin(), x.begin() + axis);
    dims.resize(static_cast<size_t>(x.rank()), 1);
    const TensorType moment{DType::kFloat32, Shape(std::move(dims)), Layout::kPlain};
    const TensorType same{DType::kFloat32, x, Layout::kPlain};
    return centers_ ? std::vector<TensorType>{same, moment, moment} : std::vector<TensorType>{same};
  }

  bool overwrites(size_t k, std::span<const Input>, std::span<const TensorType>) const override { return k == 0; }

  /// The scale and the bias, spread over what is normalized.
  int64_t scratch_bytes(std::span<const Input> inputs, std::span<const TensorType>) const override {
    const Shape& x = inputs[0].shape();
    return 2 * x.elements(axis_of(axis_, x), x.rank()) * 4;
  }

  void run(const Call& call) const override {
    const Shape& x_shape = call.inputs[0].shape();
    const int axis = axis_of(axis_, x_shape);
    const int64_t rows = x_shape.elements(0, axis);
    const auto n = static_cast<size_t>(x_shape.elements(axis, x_shape.rank()));

    float* scale = reinterpret_cast<float*>(call.scratch.data());
    spread(call.inputs[1], x_shape, axis, scale);
    const bool has_bias = call.inputs.size() > 2 && call.inputs[2].present();
    float* bias = has_bias ? scale + n : nullptr;
    if (has_bias) spread(call.inputs[2], x_shape, axis, bias);
    const float* x = call.inputs[0].values<float>().data();

    for (int64_t row = 0; row < rows; ++row, x += n) {
      kernels::Moments m;
      if (centers_)
        m = kernels::moments(x, n);
      else if (n != 0)
        m.variance = kernels::sum_squares_shifted(x, n, 0) / static_cast<double>(n);
      const double factor = 1 / std::sqrt(m.variance + static_cast<double>(epsilon_));
      write(call, 1, row, m.mean);
      write(call, 2, row, factor);
      if (!call.outputs[0].present()) continue;
      float* y = call.outputs[0].values<float>().data() + row * static_cast<int64_t>(n);
      kernels::shift_and_scale(x, n, m.mean, factor, y);
      kernels::scale_elements(y, n, scale, bias);
    }
  }

 private:
  /// `own` broadcasts to `whole` without changing it; leading ones aside, it is no longer than that.
  static bool fits(const Shape& own, const Shape& whole) {
    for (int k = 0; k < own.rank(); ++k) {
      const int at = k - own.rank() + whole.rank();
      if (own[k] != 1 && (at < 0 || own[k] != whole[at])) return false;
    }
    return true;
  }

  static void spread(const Input& from, const Shape& x, int axis, float* to) {
    const std::vector<int64_t> steps = row_major_strides(from.shape().dims());
    std::vector<CopyAxis> axes;
    int64_t step = 1;
    for (int k = x.rank() - 1; k >= axis; step *= x[k], --k) {
      const int own = k - x.rank() + from.shape().rank();
      axes.push_back({x[k], own < 0 || from.shape()[own] == 1 ? 0 : steps[static_cast<size_t>(own)], step});
    }
    copy_strided(from.data, to, axes, 4);
  }

  static void write(const Call& call, size_t k, int64_t row, double value) {
    if (k < call.outputs.size() && call.outputs[k].present())
      call.outputs[k].values<float>()[static_cast<size_t>(row)] = static_cast<float>(value);
  }

  bool centers_;
  int64_t axis_;
  float epsilon_;
};

Op layer_norm(std::string_view type, int64_t since, bool centers) {
  return {.domain = "", .type = type, .since = since, .prepare = [centers](Setup& setup) {
            return std::make_unique<LayerNorm>(setup, centers);
          }};
}

}  // namespace

std::unique_ptr<const Kernel> make_layer_norm(bool centers, int64_t axis, float epsilon) {
  return std::make_unique<LayerNorm>(centers, axis, epsilon);
}

std::vector<Op> layer_norm_ops() {
  // Runtimes take LayerNormalization in older operator sets too, and their optimizers write it there.
  // SimplifiedLayerNormalization is ONNX Runtime's name of RMSNormalization, in ONNX's domain.
  return {layer_norm("LayerNormalization", 1, true), layer_norm("RMSNormalization", 23, false),
          layer_norm("SimplifiedLayerNormalization", 1, false)};
}

}  // namespace tersor::ops
