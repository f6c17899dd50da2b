// SPDX-License-Identifier: Apache-2.0
// Conv of one to three spatial axes, channels last. One axis is computed as two, the first of length 1; three as the
// sum of plane convolutions over the taps of the first.
#include <algorithm>

#include "core/graph/attribute_defaults.h"
#include "core/kernels/conv.h"
#include "core/kernels/elementwise.h"
#include "core/ops/clamp.h"
#include "core/ops/families.h"
#include "core/ops/layouts.h"
#include "core/ops/refuse.h"
#include "core/ops/window.h"

namespace tersor::ops {

namespace {

/// All sizes of one convolution, in elements.
struct Sizes {
  int64_t batch = 0, in_channels = 0, out_channels = 0, group = 1;
  WindowAxis depth, rows, columns;
  bool has_depth = false, unit_steps = false;

  int64_t group_inputs() const { return in_channels / group; }
  int64_t in_plane() const { return rows.in * columns.in * in_channels; }
  int64_t out_plane() const { return rows.out * columns.out * out_channels; }
  /// Of one plane.
  kernels::ConvWeights weights() const {
    return {in_channels, out_channels, group, rows.kernel, columns.kernel, columns.dilation > 1, unit_steps};
  }
  /// Bytes of scratch for a plane that is added to another; whole cache lines.
  int64_t part_bytes() const { return has_depth ? (out_plane() * 4 + 63) / 64 * 64 : 0; }
};

kernels::ConvAxis conv_axis(const WindowAxis& axis) {
  return {.in = axis.in,
          .out = axis.out,
          .kernel = axis.kernel,
          .stride = axis.stride,
          .dilation = axis.dilation,
          .before = axis.before};
}

/// Depthwise: each input channel has one output of its own.
bool one_output_each(const Shape& weights, int64_t group) {
  return group > 1 && group == weights[0] && weights[1] == 1;
}

/// The weights of a plane packed: one of the two.
struct PackedWeights {
  kernels::Conv conv;
  kernels::Depthwise depthwise;

  PackedWeights(const Shape& shape, int64_t group, const Window& window, const float* weights) {
    const int64_t rows = shape.rank() == 4 ? shape[2] : 1, columns = shape[shape.rank() - 1];
    if (one_output_each(shape, group))
      depthwise = kernels::Depthwise(group, rows, columns, weights);
    else
      conv = kernels::Conv(
          {shape[1] * group, shape[0], group, rows, columns, window.dilates_last_axis(), window.unit_steps()}, weights);
  }

  void run(const Sizes& s, int64_t batch, const float* x, const kernels::Epilogue& epilogue,
           std::span<std::byte> scratch, float* y) const {
    const kernels::ConvAxis rows = conv_axis(s.rows), columns = conv_axis(s.columns);
    if (!depthwise.empty())
      depthwise.run(x, batch, rows, columns, epilogue, y);
    else
      conv.run(x, batch, rows, columns, epilogue, scratch, y);
  }
};

/// One for each tap of the first of three spatial axes, else one.
std::vector<PackedWeights> pack(const Shape& shape, int64_t group, const Window& window, const float* weights) {
  std::vector<PackedWeights> planes;
  if (shape.rank() < 5) {
    planes.emplace_back(shape, group, window, weights);
    return planes;
  }
  const Shape flat{shape[0], shape[1], shape[3], shape[4]};
  const int64_t plane = shape[3] * shape[4], filters = shape[0] * shape[1];
  std::vector<float> slice(static_cast<size_t>(filters * plane));
  for (int64_t tap = 0; tap < shape[2]; ++tap) {
    for (int64_t f = 0; f < filters; ++f)
      std::copy_n(weights + (f * shape[2] + tap) * plane, plane, slice.data() + f * plane);
    planes.emplace_back(flat, group, window, slice.data());
  }
  return planes;
}

class Conv : public ChannelsLastKernel {
 public:
  explicit Conv(Setup& setup)
      : window_(setup),
        kernel_(setup.node.ints_or("kernel_shape", {})),
        group_(int_of(setup.node, "group")),
        clamp_(setup.clamp) {
    require_inputs(setup, 2, 3);
    require_pads_once(setup.node);
    require_positive(kernel_, "kernel_shape");
    if (group_ < 1) invalid("The attribute group is " + std::to_string(group_) + ".");
    const Tensor* weights = setup.constant(1);
    if (weights == nullptr) return;
    check_weights(weights->dtype(), weights->shape());
    is_depthwise_ = one_output_each(weights->shape(), group_);
    if (setup.will_run) packed_ = pack(weights->shape(), group_, window_, weights->aligned().data<float>().data());
    setup.absorb(1);
  }

  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    const Sizes s = sizes(inputs);
    std::vector<int64_t> dims{s.batch, s.out_channels, s.depth.out, s.rows.out, s.columns.out};
    dims.erase(dims.begin() + 2, dims.begin() + 7 - inputs[0].shape().rank());
    return {{DType::kFloat32, Shape(std::move(dims)), Layout::kChannelsLast}};
  }

  int64_t scratch_bytes(std::span<const Input> inputs, std::span<const TensorType>) const override {
    const Sizes s = sizes(inputs);
    return s.part_bytes() +
           (is_depthwise_ ? 0 : kernels::Conv::scratch_bytes(s.weights(), conv_axis(s.rows), conv_axis(s.columns)));
  }

  int64_t macs(std::span<const Input> inputs, std::span<const TensorType> outputs) const override {
    const Sizes s = sizes(inputs);
    return outputs[0].shape.elements() * s.group_inputs() * s.depth.kernel * s.rows.kernel * s.columns.kernel;
  }

  void run(const Call& call) const override {
    const Sizes s = sizes(call.inputs);
    if (!packed_.empty()) return run_packed(packed_, s, call);
    const Input& weights = call.inputs[1];
    run_packed(pack(weights.shape(), group_, window_, weights.values<float>().data()), s, call);
  }

 private:
  void check_weights(DType dtype, const Shape& shape) const {
    if (dtype != DType::kFloat32)
      unsupported("The weights have the type " + std::string(name_of(dtype)) + "; supported here: float32.");
    if (shape.rank() < 3 || shape.rank() > 5)
      unsupported("The weights have the shape " + shape.text() + "; one to three spatial axes are supported.");
    const std::string given = "The weights have the shape " + shape.text();
    if (shape.elements() == 0) invalid(given + ", which holds no numbers.");
    if (shape[0] % group_ != 0)
      invalid(given + ", whose " + std::to_string(shape[0]) + " output channels cannot be divided into " +
              std::to_string(group_) + " groups.");
    if (!kernel_.empty() && !std::equal(kernel_.begin(), kernel_.end(), shape.begin() + 2, shape.end()))
      invalid(given + ", which does not fit the kernel_shape " + text_of(kernel_) + ".");
  }

  Sizes sizes(std::span<const Input> inputs) const {
    require_type(inputs[0], {DType::kFloat32}, "X");
    const Shape &x = inputs[0].shape(), &w = inputs[1].shape();
    check_weights(inputs[1].dtype(), w);
    if (x.rank() != w.rank() || x[1] != w[1] * group_)
      invalid("The input has the shape " + x.text() + ", which does not fit weights of shape " + w.text() + " in " +
              std::to_string(group_) + " groups.");
    if (inputs.size() > 2 && inputs[2].present() &&
        (inputs[2].elements() != w[0] || inputs[2].dtype() != DType::kFloat32))
      invalid("The bias has the shape " + inputs[2].shape().text() + "; the convolution has " + std::to_string(w[0]) +
              " output channels.");
    const std::vector<int64_t> kernel(w.begin() + 2, w.end());
    const std::vector<WindowAxis> axes = window_.place(x, kernel);
    Sizes s;
    s.batch = x[0];
    s.in_channels = x[1];
    s.out_channels = w[0];
    s.group = group_;
    s.columns = axes.back();
    if (axes.size() >= 2) s.rows = axes[axes.size() - 2];
    if (axes.size() == 3) s.depth = axes[0];
    s.has_depth = axes.size() == 3;
    s.unit_steps = window_.unit_steps();
    return s;
  }

  void run_packed(const std::vector<PackedWeights>& weights, const Sizes& s, const Call& call) const {
    kernels::Epilogue epilogue;
    if (call.inputs.size() > 2 && call.inputs[2].present()) epilogue.bias = call.inputs[2].values<float>().data();
    if (clamp_) epilogue.low = clamp_->low, epilogue.high = clamp_->high;
    const float* x = call.inputs[0].values<float>().data();
    float* y = call.outputs[0].values<float>().data();
    if (!s.has_depth) return weights[0].run(s, s.batch, x, epilogue, call.scratch, y);
    for (int64_t n = 0; n < s.batch; ++n, x += s.depth.in * s.in_plane())
      for (int64_t out = 0; out < s.depth.out; ++out, y += s.out_plane())
        sum_planes(weights, s, x, out, epilogue, call.scratch, y);
  }

  /// One plane of a sample's output: the planes of the input that its window meets, from the first on, then the
  /// epilogue.
  static void sum_planes(const std::vector<PackedWeights>& weights, const Sizes& s, const float* x, int64_t out,
                         const kernels::Epilogue& epilogue, std::span<std::byte> scratch, float* y) {
    auto* part = reinterpret_cast<float*>(scratch.data());
    const std::span<std::byte> rest = scratch.subspan(static_cast<size_t>(s.part_bytes()));
    const auto count = static_cast<size_t>(s.out_plane()), channels = static_cast<size_t>(s.out_channels);
    bool first = true;
    for (int64_t tap = 0; tap < s.depth.kernel; ++tap) {
      const int64_t at = out * s.depth.stride - s.depth.before + tap * s.depth.dilation;
      if (at < 0 || at >= s.depth.in) continue;
      weights[static_cast<size_t>(tap)].run(s, 1, x + at * s.in_plane(), {}, rest, first ? y : part);
      if (!first) kernels::arithmetic(kernels::Arithmetic::kAdd, y, true, part, true, count, {}, y);
      first = false;
    }
    if (first) std::fill_n(y, count, 0.0f);
    const kernels::Bounds bounds{epilogue.low, epilogue.high};
    if (epilogue.bias == nullptr) return kernels::clamp(y, count, bounds, y);
    for (size_t k = 0; k < count; k += channels)
      kernels::arithmetic(kernels::Arithmetic::kAdd, y + k, true, epilogue.bias, true, channels, bounds, y + k);
  }

  Window window_;
  std::vector<int64_t> kernel_;
  int64_t group_;
  std::optional<Clamp> clamp_;
  std::vector<PackedWeights> packed_;  // none when the weights are no constant
  bool is_depthwise_ = false;          // and the weights are a constant
};

}  // namespace

std::vector<Op> conv_ops() {
  return {{.domain = "", .type = "Conv", .prepare = make_kernel<Conv>, .takes_clamp = true}};
}

}  // namespace tersor::ops
