// SPDX-License-Identifier: Apache-2.0
// Conv of one or two spatial axes, channels last. One axis is computed as two, the first of length 1.
#include <algorithm>

#include "core/ops/clamp.h"
#include "core/ops/families.h"
#include "core/ops/refuse.h"
#include "core/ops/window.h"

namespace tersor::ops {

namespace {

/// All sizes of one convolution, in elements.
struct Sizes {
  int64_t batch = 0, in_channels = 0, out_channels = 0, group = 1;
  WindowAxis rows, columns;

  int64_t group_inputs() const { return in_channels / group; }
  int64_t group_outputs() const { return out_channels / group; }
  int64_t weights() const { return out_channels * rows.kernel * columns.kernel * group_inputs(); }
};

/// Weights M x C/g x kH x kW as M x kH x kW x C/g.
void pack_weights(const Shape& shape, const float* weights, float* packed) {
  const TensorType plain{DType::kFloat32, shape, Layout::kPlain};
  convert_layout(plain, weights, Layout::kChannelsLast, packed);
}

/// Every output element is bias + the sum over rows, columns and channels of its window, in that order.
void convolve(const Sizes& s, const float* x, const float* weights, const float* bias, float* y) {
  const int64_t per_group = s.group_outputs(), inputs = s.group_inputs();
  for (int64_t n = 0; n < s.batch; ++n)
    for (int64_t oy = 0; oy < s.rows.out; ++oy)
      for (int64_t ox = 0; ox < s.columns.out; ++ox)
        for (int64_t o = 0; o < s.out_channels; ++o) {
          float sum = 0;
          const float* w = weights + o * s.rows.kernel * s.columns.kernel * inputs;
          for (int64_t ky = 0; ky < s.rows.kernel; ++ky)
            for (int64_t kx = 0; kx < s.columns.kernel; ++kx, w += inputs) {
              const int64_t iy = oy * s.rows.stride - s.rows.before + ky * s.rows.dilation;
              const int64_t ix = ox * s.columns.stride - s.columns.before + kx * s.columns.dilation;
              if (iy < 0 || iy >= s.rows.in || ix < 0 || ix >= s.columns.in) continue;
              const float* from =
                  x + ((n * s.rows.in + iy) * s.columns.in + ix) * s.in_channels + o / per_group * inputs;
              for (int64_t c = 0; c < inputs; ++c) sum += from[c] * w[c];
            }
          *y++ = sum + (bias != nullptr ? bias[o] : 0.0f);
        }
}

class Conv : public Kernel {
 public:
  explicit Conv(Setup& setup)
      : window_(setup),
        kernel_(setup.node.ints_or("kernel_shape", {})),
        group_(setup.node.int_or("group", 1)),
        clamp_(setup.clamp) {
    require_inputs(setup, 2, 3);
    require_positive(kernel_, "kernel_shape");
    if (group_ < 1) invalid("The attribute group is " + std::to_string(group_) + ".");
    const Tensor* weights = setup.constant(1);
    if (weights == nullptr) return;
    check_weights(weights->dtype(), weights->shape());
    const Tensor aligned = weights->aligned();
    packed_.resize(static_cast<size_t>(weights->elements()));
    pack_weights(weights->shape(), aligned.data<float>().data(), packed_.data());
    setup.absorb(1);
  }

  std::vector<Form> forms(std::span<const Input> inputs) const override {
    std::vector<Form> forms = Kernel::forms(inputs);
    if (inputs[0].shape().rank() >= 3) forms[0].layout = Layout::kChannelsLast;
    return forms;
  }

  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    const Sizes s = sizes(inputs);
    std::vector<int64_t> dims{s.batch, s.out_channels, s.rows.out, s.columns.out};
    if (inputs[0].shape().rank() == 3) dims.erase(dims.begin() + 2);
    return {{DType::kFloat32, Shape(std::move(dims)), Layout::kChannelsLast}};
  }

  int64_t scratch_bytes(std::span<const Input> inputs, std::span<const TensorType>) const override {
    return packed_.empty() ? sizes(inputs).weights() * 4 : 0;
  }

  int64_t macs(std::span<const Input> inputs, std::span<const TensorType> outputs) const override {
    const Sizes s = sizes(inputs);
    return outputs[0].shape.elements() * s.group_inputs() * s.rows.kernel * s.columns.kernel;
  }

  void run(const Call& call) const override {
    const Sizes s = sizes(call.inputs);
    const float* weights = packed_.data();
    if (packed_.empty()) {
      auto* fresh = reinterpret_cast<float*>(call.scratch.data());
      pack_weights(call.inputs[1].shape(), call.inputs[1].values<float>().data(), fresh);
      weights = fresh;
    }
    const bool has_bias = call.inputs.size() > 2 && call.inputs[2].present();
    convolve(s, call.inputs[0].values<float>().data(), weights,
             has_bias ? call.inputs[2].values<float>().data() : nullptr, call.outputs[0].values<float>().data());
    if (clamp_)
      apply_clamp(*clamp_, DType::kFloat32, call.outputs[0].data, static_cast<size_t>(call.outputs[0].elements()));
  }

 private:
  void check_weights(DType dtype, const Shape& shape) const {
    if (dtype != DType::kFloat32)
      unsupported("The weights have the type " + std::string(name_of(dtype)) + "; supported here: float32.");
    if (shape.rank() != 3 && shape.rank() != 4)
      unsupported("The weights have the shape " + shape.text() + "; one or two spatial axes are supported.");
    bool fits = shape.elements() > 0 && shape[0] % group_ == 0;
    for (int k = 2; !kernel_.empty() && k < shape.rank(); ++k)
      fits = fits && static_cast<int>(kernel_.size()) == shape.rank() - 2 &&
             kernel_[static_cast<size_t>(k - 2)] == shape[k];
    if (!fits)
      invalid("The weights have the shape " + shape.text() + ", which does not fit the kernel_shape " +
              text_of(kernel_) + " and the group " + std::to_string(group_) + ".");
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
    Sizes s{
        .batch = x[0], .in_channels = x[1], .out_channels = w[0], .group = group_, .rows = {}, .columns = axes.back()};
    if (axes.size() == 2) s.rows = axes[0];
    return s;
  }

  Window window_;
  std::vector<int64_t> kernel_;
  int64_t group_;
  std::optional<Clamp> clamp_;
  std::vector<float> packed_;  // empty when the weights are no constant
};

}  // namespace

std::vector<Op> conv_ops() {
  return {{.domain = "",
           .type = "Conv",
           .prepare = [](Setup& setup) { return std::make_unique<Conv>(setup); },
           .takes_clamp = true}};
}

}  // namespace tersor::ops
