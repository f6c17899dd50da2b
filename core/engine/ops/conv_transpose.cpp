// SPDX-License-Identifier: Apache-2.0
// ConvTranspose of one to three spatial axes, channels last: the products of an input place with every tap are one row
// of a matrix product; they are added to the output places that they reach, input place after input place.
#include <algorithm>

#include "core/graph/attribute_defaults.h"
#include "core/kernels/gemm.h"
#include "core/ops/clamp.h"
#include "core/ops/families.h"
#include "core/ops/layouts.h"
#include "core/ops/refuse.h"
#include "core/ops/window.h"

namespace tersor::ops {

namespace {

struct Sizes {
  int64_t batch = 0, in_channels = 0, out_channels = 0, group = 1;
  WindowAxis depth, rows, columns;  // `in` and `out` as seen from the node: `out` is the larger one

  int64_t group_inputs() const { return in_channels / group; }
  int64_t group_outputs() const { return out_channels / group; }
  int64_t taps() const { return depth.kernel * rows.kernel * columns.kernel; }
  int64_t places() const { return depth.out * rows.out * columns.out; }
};

/// Input places whose products are held at a time.
constexpr int64_t kTogether = 64;

/// Weights C x M/g x kernel as C x kernel x M/g.
std::vector<float> turned(const Shape& shape, const float* weights) {
  std::vector<float> result(static_cast<size_t>(shape.elements()));
  std::vector<int> order{0};
  for (int axis = 2; axis < shape.rank(); ++axis) order.push_back(axis);
  order.push_back(1);
  permute(weights, shape.dims(), order, sizeof(float), result.data());
  return result;
}

/// Weights in the form that the products take: panels where all channels are one group.
struct Weights {
  kernels::Panels panels;
  std::vector<float> turned;

  Weights() = default;
  Weights(const Shape& shape, const float* values, int64_t group) : turned(ops::turned(shape, values)) {
    if (group != 1) return;
    panels = kernels::pack_matrix(turned.data(), shape[0], shape.elements() / shape[0], false);
    turned = {};
  }
  bool empty() const { return panels.empty() && turned.empty(); }
};

/// products[place][tap][output channel] for `count` input places from `x` on.
void multiply(const Sizes& s, const Weights& weights, const float* x, int64_t count, float* products) {
  if (!weights.panels.empty()) return kernels::gemm(x, count, weights.panels, {}, products);
  const int64_t inputs = s.group_inputs(), outputs = s.group_outputs(), taps = s.taps();
  std::fill_n(products, count * taps * s.out_channels, 0.0f);
  for (int64_t place = 0; place < count; ++place, x += s.in_channels)
    for (int64_t c = 0; c < s.in_channels; ++c) {
      const float* w = weights.turned.data() + c * taps * outputs;
      float* to = products + place * taps * s.out_channels + c / inputs * outputs;
      for (int64_t tap = 0; tap < taps; ++tap, w += outputs, to += s.out_channels)
        for (int64_t o = 0; o < outputs; ++o) to[o] += x[c] * w[o];
    }
}

/// Calls visit(tap, output place along the axis) for the taps of input place `in` that reach the output.
template <class Visit>
void for_each_target(const WindowAxis& axis, int64_t in, Visit visit) {
  for (int64_t k = 0; k < axis.kernel; ++k) {
    const int64_t at = in * axis.stride - axis.before + k * axis.dilation;
    if (at >= 0 && at < axis.out) visit(k, at);
  }
}

/// Adds the products of the input places (iz, iy, first ... first + count) to one sample's output.
void scatter(const Sizes& s, const float* products, int64_t iz, int64_t iy, int64_t first, int64_t count, float* y) {
  const int64_t channels = s.out_channels;
  for_each_target(s.depth, iz, [&](int64_t kz, int64_t oz) {
    for_each_target(s.rows, iy, [&](int64_t ky, int64_t oy) {
      float* line = y + (oz * s.rows.out + oy) * s.columns.out * channels;
      const float* from = products + (kz * s.rows.kernel + ky) * s.columns.kernel * channels;
      for (int64_t ix = first; ix < first + count; ++ix, from += s.taps() * channels)
        for_each_target(s.columns, ix, [&](int64_t kx, int64_t ox) {
          for (int64_t o = 0; o < channels; ++o) line[ox * channels + o] += from[kx * channels + o];
        });
    });
  });
}

void convolve(const Sizes& s, const float* x, const Weights& weights, const float* bias, float* products, float* y) {
  for (int64_t n = 0; n < s.batch; ++n, y += s.places() * s.out_channels) {
    std::fill_n(y, s.places() * s.out_channels, 0.0f);
    for (int64_t iz = 0; iz < s.depth.in; ++iz)
      for (int64_t iy = 0; iy < s.rows.in; ++iy)
        for (int64_t first = 0; first < s.columns.in; first += kTogether) {
          const int64_t count = std::min(kTogether, s.columns.in - first);
          multiply(s, weights, x, count, products);
          scatter(s, products, iz, iy, first, count, y);
          x += count * s.in_channels;
        }
    for (int64_t place = 0; bias != nullptr && place < s.places(); ++place)
      for (int64_t o = 0; o < s.out_channels; ++o) y[place * s.out_channels + o] += bias[o];
  }
}

class ConvTranspose : public ChannelsLastKernel {
 public:
  explicit ConvTranspose(Setup& setup)
      : kernel_(setup.node.ints_or("kernel_shape", {})),
        strides_(setup.node.ints_or("strides", {})),
        dilations_(setup.node.ints_or("dilations", {})),
        pads_(setup.node.ints_or("pads", {})),
        output_padding_(setup.node.ints_or("output_padding", {})),
        output_shape_(setup.node.ints_or("output_shape", {})),
        auto_pad_(auto_pad_of(setup.node)),
        group_(int_of(setup.node, "group")),
        clamp_(setup.clamp) {
    require_inputs(setup, 2, 3);
    require_pads_once(setup.node);
    require_positive(kernel_, "kernel_shape");
    require_positive(strides_, "strides");
    require_positive(dilations_, "dilations");
    for (const auto* list : {&pads_, &output_padding_, &output_shape_})
      for (const int64_t number : *list)
        if (number < 0 || number > int64_t{1} << 31)
          invalid("An attribute is " + text_of(*list) + "; it must not be negative.");
    if (group_ < 1) invalid("The attribute group is " + std::to_string(group_) + ".");
    const Tensor* weights = setup.constant(1);
    if (weights == nullptr || weights->dtype() != DType::kFloat32 || weights->elements() == 0 ||
        weights->shape().rank() < 3 || weights->shape().rank() > 5)
      return;  // infer() says what is wrong
    if (setup.will_run && weights->shape()[0] % group_ == 0)
      weights_ = Weights(weights->shape(), weights->aligned().data<float>().data(), group_);
    setup.absorb(1);
  }

  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    const Sizes s = sizes(inputs);
    std::vector<int64_t> dims{s.batch, s.out_channels, s.depth.out, s.rows.out, s.columns.out};
    dims.erase(dims.begin() + 2, dims.begin() + 7 - inputs[0].shape().rank());
    return {{DType::kFloat32, Shape(std::move(dims)), Layout::kChannelsLast}};
  }

  int64_t macs(std::span<const Input> inputs, std::span<const TensorType>) const override {
    const Sizes s = sizes(inputs);
    return inputs[0].elements() * s.group_outputs() * s.depth.kernel * s.rows.kernel * s.columns.kernel;
  }

  int64_t scratch_bytes(std::span<const Input> inputs, std::span<const TensorType>) const override {
    const Sizes s = sizes(inputs);
    return std::min(kTogether, s.columns.in) * s.taps() * s.out_channels * 4;
  }

  void run(const Call& call) const override {
    const Sizes s = sizes(call.inputs);
    const bool has_bias = call.inputs.size() > 2 && call.inputs[2].present();
    const Weights fresh =
        weights_.empty() ? Weights(call.inputs[1].shape(), call.inputs[1].values<float>().data(), group_) : Weights();
    convolve(s, call.inputs[0].values<float>().data(), weights_.empty() ? fresh : weights_,
             has_bias ? call.inputs[2].values<float>().data() : nullptr, reinterpret_cast<float*>(call.scratch.data()),
             call.outputs[0].values<float>().data());
    if (clamp_)
      apply_clamp(*clamp_, DType::kFloat32, call.outputs[0].data, static_cast<size_t>(call.outputs[0].elements()));
  }

 private:
  Sizes sizes(std::span<const Input> inputs) const {
    require_type(inputs[0], {DType::kFloat32}, "X");
    require_type(inputs[1], {DType::kFloat32}, "W");
    const Shape &x = inputs[0].shape(), &w = inputs[1].shape();
    if (w.rank() < 3 || w.rank() > 5)
      unsupported("The weights have the shape " + w.text() + "; one to three spatial axes are supported.");
    const auto spatial = static_cast<size_t>(w.rank() - 2);
    bool fits = x.rank() == w.rank() && x[1] == w[0] && w.elements() > 0 && w[0] % group_ == 0;
    for (const auto* list : {&kernel_, &strides_, &dilations_, &output_padding_})
      fits = fits && (list->empty() || list->size() == spatial);
    fits = fits && (pads_.empty() || pads_.size() == 2 * spatial);
    for (size_t k = 0; fits && k < kernel_.size(); ++k) fits = kernel_[k] == w[static_cast<int>(k) + 2];
    if (!fits)
      invalid("The input has the shape " + x.text() + ", which does not fit weights of shape " + w.text() + " in " +
              std::to_string(group_) + " groups, or an attribute does not fit them.");
    Sizes s;
    s.batch = x[0];
    s.in_channels = x[1];
    s.out_channels = w[1] * group_;
    s.group = group_;
    if (inputs.size() > 2 && inputs[2].present() &&
        (inputs[2].elements() != s.out_channels || inputs[2].dtype() != DType::kFloat32))
      invalid("The bias has the shape " + inputs[2].shape().text() + "; there are " + std::to_string(s.out_channels) +
              " output channels.");
    WindowAxis* const axes[] = {&s.columns, &s.rows, &s.depth};  // the last first
    for (size_t k = 0; k < spatial; ++k) *axes[spatial - 1 - k] = axis(x, w, k, spatial);
    return s;
  }

  WindowAxis axis(const Shape& x, const Shape& w, size_t k, size_t spatial) const {
    WindowAxis axis;
    axis.in = x[static_cast<int>(k) + 2];
    axis.kernel = w[static_cast<int>(k) + 2];
    axis.stride = strides_.empty() ? 1 : strides_[k];
    axis.dilation = dilations_.empty() ? 1 : dilations_[k];
    if (axis.in < 1) invalid("The input has the shape " + x.text() + ": an empty picture.");
    const int64_t more = output_padding_.empty() ? 0 : output_padding_[k];
    const int64_t full = axis.stride * (axis.in - 1) + axis.extent() + more;
    const bool same = auto_pad_ == AutoPad::kSameUpper || auto_pad_ == AutoPad::kSameLower;
    if (!output_shape_.empty() || same) {
      // The last numbers of output_shape are the spatial ones; some exporters put batch and channels first.
      if (!output_shape_.empty() && output_shape_.size() < spatial)
        invalid("The attribute output_shape is " + text_of(output_shape_) + ".");
      axis.out = output_shape_.empty() ? axis.in * axis.stride : output_shape_[output_shape_.size() - spatial + k];
      const int64_t pad = std::max<int64_t>(0, full - axis.out);
      axis.before = auto_pad_ == AutoPad::kSameUpper ? pad / 2 : pad - pad / 2;
    } else {
      const int64_t before = pads_.empty() ? 0 : pads_[k], after = pads_.empty() ? 0 : pads_[k + spatial];
      axis.before = before;
      axis.out = full - before - after;
    }
    if (axis.out < 1 || axis.out > full + (int64_t{1} << 32))
      invalid("The output would have " + std::to_string(axis.out) + " places along a spatial axis.");
    return axis;
  }

  std::vector<int64_t> kernel_, strides_, dilations_, pads_, output_padding_, output_shape_;
  AutoPad auto_pad_;
  int64_t group_;
  std::optional<Clamp> clamp_;
  Weights weights_;  // empty when the weights are no constant
};

}  // namespace

std::vector<Op> conv_transpose_ops() {
  return {{.domain = "", .type = "ConvTranspose", .prepare = make_kernel<ConvTranspose>, .takes_clamp = true}};
}

}  // namespace tersor::ops
