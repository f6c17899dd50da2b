// SPDX-License-Identifier: Apache-2.0
// DeformConv (Dai and others, 2017; Zhu and others, 2018): a convolution of two spatial axes whose taps are moved by
// learned offsets, read between pixels, and weighted by a mask. Taps are collected into a matrix that is multiplied
// with the weights.
#include <cmath>

#include "core/graph/attribute_defaults.h"
#include "core/kernels/gemm.h"
#include "core/ops/families.h"
#include "core/ops/refuse.h"
#include "core/ops/window.h"

namespace tersor::ops {

namespace {

/// The picture between its pixels; zero outside.
float value_at(const float* x, int64_t height, int64_t width, double row, double column) {
  if (!(row > -1 && row < static_cast<double>(height) && column > -1 && column < static_cast<double>(width))) return 0;
  const double top = std::floor(row), left = std::floor(column), dy = row - top, dx = column - left;
  const auto pixel = [&](double i, double j) {
    const auto r = static_cast<int64_t>(i), c = static_cast<int64_t>(j);
    return r < 0 || r >= height || c < 0 || c >= width ? 0.0 : static_cast<double>(x[r * width + c]);
  };
  return static_cast<float>((1 - dy) * ((1 - dx) * pixel(top, left) + dx * pixel(top, left + 1)) +
                            dy * ((1 - dx) * pixel(top + 1, left) + dx * pixel(top + 1, left + 1)));
}

class DeformConv : public Kernel {
 public:
  explicit DeformConv(const Setup& setup)
      : window_(setup),
        kernel_(setup.node.ints_or("kernel_shape", {})),
        group_(int_of(setup.node, "group")),
        offset_group_(int_of(setup.node, "offset_group")) {
    require_inputs(setup, 3, 5);
    if (group_ < 1 || offset_group_ < 1)
      invalid("The attributes group and offset_group are " + std::to_string(group_) + " and " +
              std::to_string(offset_group_) + "; they must be 1 or more.");
  }

  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    const Sizes s = sizes(inputs);
    return {{DType::kFloat32, Shape{s.batch, s.out_channels, s.rows.out, s.columns.out}, Layout::kPlain}};
  }

  int64_t scratch_bytes(std::span<const Input> inputs, std::span<const TensorType>) const override {
    const Sizes s = sizes(inputs);
    return s.places() * (s.depth() + s.out_channels / group_) * 4;
  }

  int64_t macs(std::span<const Input> inputs, std::span<const TensorType> outputs) const override {
    return outputs[0].shape.elements() * sizes(inputs).depth();
  }

  void run(const Call& call) const override {
    const Sizes s = sizes(call.inputs);
    const int64_t outputs = s.out_channels / group_;
    float* taps = reinterpret_cast<float*>(call.scratch.data());
    float* products = taps + s.places() * s.depth();
    const bool has_bias = call.inputs.size() > 3 && call.inputs[3].present();
    for (int64_t g = 0; g < group_; ++g) {
      const float* weights = call.inputs[1].values<float>().data() + g * outputs * s.depth();
      const kernels::Panels panels = kernels::pack_matrix(weights, s.depth(), outputs, true);
      kernels::Epilogue epilogue;
      if (has_bias) epilogue.bias = call.inputs[3].values<float>().data() + g * outputs;
      for (int64_t n = 0; n < s.batch; ++n) {
        collect(call, s, n, g, taps);
        kernels::gemm(taps, s.places(), panels, epilogue, products);
        float* y = call.outputs[0].values<float>().data() + (n * s.out_channels + g * outputs) * s.places();
        for (int64_t o = 0; o < outputs; ++o)
          for (int64_t place = 0; place < s.places(); ++place)
            y[o * s.places() + place] = products[place * outputs + o];
      }
    }
  }

 private:
  struct Sizes {
    int64_t batch = 0, in_channels = 0, out_channels = 0, group_inputs = 0;
    WindowAxis rows, columns;

    int64_t places() const { return rows.out * columns.out; }
    int64_t taps() const { return rows.kernel * columns.kernel; }
    int64_t depth() const { return group_inputs * taps(); }
  };

  /// The taps of one sample and group: a row per output place, channel by channel.
  void collect(const Call& call, const Sizes& s, int64_t n, int64_t g, float* to) const {
    const int64_t per_offset_group = s.in_channels / offset_group_, pixels = s.rows.in * s.columns.in;
    const bool masked = call.inputs.size() > 4 && call.inputs[4].present();
    const float* offsets = call.inputs[2].values<float>().data() + n * offset_group_ * s.taps() * 2 * s.places();
    const float* mask =
        masked ? call.inputs[4].values<float>().data() + n * offset_group_ * s.taps() * s.places() : nullptr;
    for (int64_t place = 0; place < s.places(); ++place)
      for (int64_t k = 0; k < s.group_inputs; ++k) {
        const int64_t c = g * s.group_inputs + k, og = c / per_offset_group;
        const float* x = call.inputs[0].values<float>().data() + (n * s.in_channels + c) * pixels;
        for (int64_t tap = 0; tap < s.taps(); ++tap, ++to) {
          const float* offset = offsets + ((og * s.taps() + tap) * 2) * s.places() + place;
          const int64_t row =
              place / s.columns.out * s.rows.stride - s.rows.before + tap / s.columns.kernel * s.rows.dilation;
          const int64_t column =
              place % s.columns.out * s.columns.stride - s.columns.before + tap % s.columns.kernel * s.columns.dilation;
          *to = value_at(x, s.rows.in, s.columns.in, static_cast<double>(row) + static_cast<double>(offset[0]),
                         static_cast<double>(column) + static_cast<double>(offset[s.places()]));
          if (masked) *to *= mask[(og * s.taps() + tap) * s.places() + place];
        }
      }
  }

  Sizes sizes(std::span<const Input> inputs) const {
    static constexpr const char* kNames[] = {"X", "W", "offset", "B", "mask"};
    for (size_t k = 0; k < inputs.size(); ++k)
      if (inputs[k].present()) require_type(inputs[k], {DType::kFloat32}, kNames[k]);
    const Shape &x = inputs[0].shape(), &w = inputs[1].shape();
    if (x.rank() != 4) unsupported("The input has the shape " + x.text() + "; two spatial axes are supported.");
    bool fits =
        w.rank() == 4 && w.elements() > 0 && x[1] == w[1] * group_ && w[0] % group_ == 0 && x[1] % offset_group_ == 0;
    fits = fits && (kernel_.empty() || (kernel_.size() == 2 && kernel_[0] == w[2] && kernel_[1] == w[3]));
    if (!fits)
      invalid("The input has the shape " + x.text() + ", which does not fit weights of shape " + w.text() + " in " +
              std::to_string(group_) + " groups, or an attribute does not fit them.");
    const int64_t window[2] = {w[2], w[3]};
    const std::vector<WindowAxis> axes = window_.place(x, window);
    const Sizes s{x[0], x[1], w[0], w[1], axes[0], axes[1]};
    const auto expect = [&](size_t k, const Shape& shape) {
      if (k < inputs.size() && inputs[k].present() && !(inputs[k].shape() == shape))
        invalid("The input " + std::string(kNames[k]) + " has the shape " + inputs[k].shape().text() + "; it must be " +
                shape.text() + ".");
    };
    expect(2, Shape{x[0], offset_group_ * s.taps() * 2, s.rows.out, s.columns.out});
    expect(3, Shape{w[0]});
    expect(4, Shape{x[0], offset_group_ * s.taps(), s.rows.out, s.columns.out});
    return s;
  }

  Window window_;
  std::vector<int64_t> kernel_;
  int64_t group_, offset_group_;
};

}  // namespace

std::vector<Op> deform_conv_ops() {
  return {{.domain = "", .type = "DeformConv", .since = 19, .prepare = make_kernel<DeformConv>}};
}

}  // namespace tersor::ops
