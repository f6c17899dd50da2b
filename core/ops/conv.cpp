// SPDX-License-Identifier: Apache-2.0
// Conv of one or two spatial axes, channels last. One axis is computed as two, the first of length 1.
#include <algorithm>

#include "core/kernels/conv.h"
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
  kernels::ConvWeights weights() const {
    const auto unit = [](const WindowAxis& axis) { return axis.stride == 1 && axis.dilation == 1; };
    return {in_channels,
            out_channels,
            group,
            rows.kernel,
            columns.kernel,
            columns.dilation > 1,
            unit(rows) && unit(columns)};
  }
};

kernels::ConvAxis axis_of(const WindowAxis& axis) {
  return {.in = axis.in,
          .out = axis.out,
          .kernel = axis.kernel,
          .stride = axis.stride,
          .dilation = axis.dilation,
          .before = axis.before};
}

/// The weights packed: one of the two, depthwise where each input channel has one output of its own.
struct PackedWeights {
  kernels::Conv conv;
  kernels::Depthwise depthwise;

  PackedWeights(const Shape& shape, int64_t group, const Window& window, const float* weights) {
    const int64_t rows = shape.rank() == 4 ? shape[2] : 1, columns = shape[shape.rank() - 1];
    if (group > 1 && group == shape[0] && shape[1] == 1)
      depthwise = kernels::Depthwise(group, rows, columns, weights);
    else
      conv = kernels::Conv(
          {shape[1] * group, shape[0], group, rows, columns, window.dilates_last_axis(), window.unit_steps()}, weights);
  }
};

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
    packed_.emplace(weights->shape(), group_, window_, weights->aligned().data<float>().data());
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
    const Sizes s = sizes(inputs);
    return packed_ && !packed_->depthwise.empty()
               ? 0
               : kernels::Conv::scratch_bytes(s.weights(), axis_of(s.rows), axis_of(s.columns));
  }

  int64_t macs(std::span<const Input> inputs, std::span<const TensorType> outputs) const override {
    const Sizes s = sizes(inputs);
    return outputs[0].shape.elements() * s.group_inputs() * s.rows.kernel * s.columns.kernel;
  }

  void run(const Call& call) const override {
    const Sizes s = sizes(call.inputs);
    if (packed_) return run_packed(*packed_, s, call);
    const Input& weights = call.inputs[1];
    run_packed(PackedWeights(weights.shape(), group_, window_, weights.values<float>().data()), s, call);
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

  void run_packed(const PackedWeights& weights, const Sizes& s, const Call& call) const {
    kernels::Epilogue epilogue;
    if (call.inputs.size() > 2 && call.inputs[2].present()) epilogue.bias = call.inputs[2].values<float>().data();
    if (clamp_) epilogue.low = clamp_->low, epilogue.high = clamp_->high;
    const float* x = call.inputs[0].values<float>().data();
    float* y = call.outputs[0].values<float>().data();
    const kernels::ConvAxis rows = axis_of(s.rows), columns = axis_of(s.columns);
    if (!weights.depthwise.empty())
      weights.depthwise.run(x, s.batch, rows, columns, epilogue, y);
    else
      weights.conv.run(x, s.batch, rows, columns, epilogue, call.scratch, y);
  }

  Window window_;
  std::vector<int64_t> kernel_;
  int64_t group_;
  std::optional<Clamp> clamp_;
  std::optional<PackedWeights> packed_;  // none when the weights are no constant
};

}  // namespace

std::vector<Op> conv_ops() {
  return {{.domain = "",
           .type = "Conv",
           .prepare = [](Setup& setup) { return std::make_unique<Conv>(setup); },
           .takes_clamp = true}};
}

}  // namespace tersor::ops
