// SPDX-License-Identifier: Apache-2.0
// QLinearConv in one and two spatial dimensions, channels last.
#include "core/simulate/integer_conv.h"
#include "core/simulate/operator_parts.h"
#include "core/simulate/requantize.h"
#include "core/simulate/window.h"

namespace tersor::simulate {

namespace {

using ops::Call;
using ops::Input;
using ops::TensorType;

class QLinearConv : public ops::Kernel {
 public:
  explicit QLinearConv(ops::Setup& setup)
      : x_(grid_at(setup, 1)),
        y_(grid_at(setup, 6)),
        window_(setup.node, constant_at(setup, 3, "weight").shape().rank() - 2),
        geometry_(geometry_of(setup)),
        conv_(geometry_, weight_numbers(*setup.constant(3), constant_at(setup, 5, "weight's zero point"))),
        multipliers_(requantize_multipliers(x_.scale, scales_at(setup, 4), y_.scale)) {
    rank_ = setup.constant(3)->shape().rank();
    if (setup.has_input(8)) {
      const Tensor bias = constant_at(setup, 8, "bias").aligned();
      bias_.assign(bias.data<int32_t>().begin(), bias.data<int32_t>().end());
    }
    for (size_t k = 1; k < setup.node.inputs.size(); ++k) setup.absorb(k);
  }

  std::vector<ops::Form> forms(std::span<const Input> inputs) const override {
    std::vector<ops::Form> forms = Kernel::forms(inputs);
    forms[0] = {ops::Layout::kChannelsLast, rank_};
    return forms;
  }

  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    check_type(inputs[0], x_);
    const Shape& shape = inputs[0].shape();
    if (shape.rank() != rank_ || shape[1] != geometry_.in_channels)
      throw Error(ErrorCode::kInvalidModel, "The input of shape " + shape.text() + " does not fit a convolution of " +
                                                std::to_string(geometry_.in_channels) + " channels.");
    const ConvGeometry g = padded(shape);
    const auto [in_h, in_w] = spatial(shape);
    std::vector<int64_t> dims = {shape[0], geometry_.out_channels};
    if (rank_ == 4) dims.push_back(g.out_h(in_h));
    dims.push_back(g.out_w(in_w));
    for (int64_t dim : dims)
      if (dim < 0)
        throw Error(ErrorCode::kInvalidModel,
                    "The window is larger than the padded input of shape " + shape.text() + ".");
    return {{dtype_of_grid(y_), Shape(dims), ops::Layout::kChannelsLast}};
  }

  int64_t scratch_bytes(std::span<const Input> inputs, std::span<const TensorType> outputs) const override {
    return static_cast<int64_t>(sums_of_one(outputs[0].shape) * sizeof(int32_t) +
                                padded_of_one(inputs[0].shape()) * sizeof(int16_t));
  }

  int64_t macs(std::span<const Input>, std::span<const TensorType> outputs) const override {
    return outputs[0].shape.elements() * geometry_.in_channels / geometry_.groups * geometry_.kernel_h *
           geometry_.kernel_w;
  }

  void run(const Call& call) const override {
    const Shape& shape = call.inputs[0].shape();
    const ConvGeometry g = padded(shape);
    const auto [in_h, in_w] = spatial(shape);
    const size_t count = sums_of_one(call.outputs[0].shape());
    const std::span<int32_t> sums(reinterpret_cast<int32_t*>(call.scratch.data()), count);
    const std::span<int16_t> scratch(reinterpret_cast<int16_t*>(call.scratch.data() + count * sizeof(int32_t)),
                                     padded_of_one(shape));
    const auto x = raw_bytes(call.inputs[0]);
    const auto y = raw_bytes(call.outputs[0]);
    const size_t in_one = shape[0] == 0 ? 0 : x.size() / static_cast<size_t>(shape[0]);
    for (int64_t n = 0; n < shape[0]; ++n) {
      const auto at = static_cast<size_t>(n);
      conv_.run(g, x.subspan(at * in_one, in_one), x_.is_signed, x_.zero_point, in_h, in_w, scratch, sums);
      add_bias(sums);
      requantize(sums, multipliers_, static_cast<size_t>(g.out_channels), y.subspan(at * count, count), y_);
    }
  }

 private:
  static ConvGeometry geometry_of(const ops::Setup& setup) {
    const Shape& w = setup.constant(3)->shape();
    if (w.rank() != 3 && w.rank() != 4)
      throw Error(ErrorCode::kUnsupportedModel,
                  "An integer convolution has one or two spatial axes; the weight is " + w.text() + ".");
    const Window window(setup.node, w.rank() - 2);
    ConvGeometry g;
    g.groups = setup.node.int_or("group", 1);
    g.out_channels = w[0];
    if (g.groups < 1 || g.out_channels % g.groups != 0)
      throw Error(ErrorCode::kInvalidModel, "The " + std::to_string(w[0]) + " output channels do not divide into " +
                                                std::to_string(g.groups) + " groups.");
    g.in_channels = w[1] * g.groups;
    g.kernel_h = w.rank() == 4 ? w[2] : 1;
    g.kernel_w = w[w.rank() - 1];
    g.stride_h = window.strides.front();
    g.stride_w = window.strides.back();
    g.dilation_h = window.dilations.front();
    g.dilation_w = window.dilations.back();
    if (w.rank() == 3) g.stride_h = g.dilation_h = 1;
    return g;
  }

  std::pair<int64_t, int64_t> spatial(const Shape& shape) const {
    return {rank_ == 4 ? shape[2] : 1, shape[rank_ - 1]};
  }

  ConvGeometry padded(const Shape& shape) const {
    ConvGeometry g = geometry_;
    const auto [in_h, in_w] = spatial(shape);
    std::vector<int64_t> kernel = {g.kernel_w}, sizes = {in_w};
    if (rank_ == 4) kernel.insert(kernel.begin(), g.kernel_h), sizes.insert(sizes.begin(), in_h);
    const std::vector<int64_t> pads = window_.pads_for(sizes, kernel);
    const size_t axes = sizes.size();
    g.pad_left = pads[axes - 1];
    g.pad_right = pads[2 * axes - 1];
    if (rank_ == 4) g.pad_top = pads[0], g.pad_bottom = pads[2];
    return g;
  }

  size_t padded_of_one(const Shape& shape) const {
    const auto [in_h, in_w] = spatial(shape);
    return padded(shape).scratch_elements(in_h, in_w);
  }
  static size_t sums_of_one(const Shape& out) { return static_cast<size_t>(out.elements(1, out.rank())); }

  void add_bias(std::span<int32_t> sums) const {
    if (bias_.empty()) return;
    for (size_t row = 0; row < sums.size(); row += bias_.size())
      for (size_t c = 0; c < bias_.size(); ++c)
        sums[row + c] = static_cast<int32_t>(static_cast<uint32_t>(sums[row + c]) + static_cast<uint32_t>(bias_[c]));
  }

  Grid x_, y_;
  Window window_;
  ConvGeometry geometry_;
  IntegerConv conv_;
  std::vector<float> multipliers_;
  std::vector<int32_t> bias_;
  int rank_ = 4;
};

}  // namespace

std::unique_ptr<const ops::Kernel> prepare_qlinear_conv(ops::Setup& setup, Profile) {
  return std::make_unique<QLinearConv>(setup);
}

}  // namespace tersor::simulate
