// SPDX-License-Identifier: Apache-2.0
// QLinearConv and ConvInteger in one and two spatial dimensions, channels last.
#include "core/ops/refuse.h"
#include "core/simulate/integer_conv.h"
#include "core/simulate/operator_parts.h"
#include "core/simulate/requantize.h"
#include "core/simulate/window.h"

namespace tersor::simulate {

namespace {

/// Where a convolution finds its inputs.
struct Places {
  size_t x = 0, w = 1, x_scale = kNoInput, x_zero = kNoInput, w_scale = kNoInput, w_zero = kNoInput, y_scale = kNoInput,
         y_zero = kNoInput, bias = kNoInput;
};

ConvGeometry geometry_of(const ops::Setup& setup, const Shape& w) {
  if (w.rank() != 3 && w.rank() != 4)
    ops::unsupported("An integer convolution has one or two spatial axes here; the weight is " + w.text() + ".");
  if (w.elements() == 0) ops::invalid("The weight has the shape " + w.text() + ", which holds no numbers.");
  const Window window(setup.node, w.rank() - 2);
  ConvGeometry g;
  g.groups = setup.node.int_or("group", 1);
  g.out_channels = w[0];
  if (g.groups < 1 || g.out_channels % g.groups != 0)
    ops::invalid("The " + std::to_string(w[0]) + " output channels do not divide into " + std::to_string(g.groups) +
                 " groups.");
  g.in_channels = w[1] * g.groups;
  g.kernel_h = w.rank() == 4 ? w[2] : 1;
  g.kernel_w = w[w.rank() - 1];
  if (!window.kernel.empty() && !std::equal(window.kernel.begin(), window.kernel.end(), w.begin() + 2))
    ops::invalid("The attribute kernel_shape is " + ops::text_of(window.kernel) + "; the weight is " + w.text() + ".");
  g.stride_h = window.strides.front();
  g.stride_w = window.strides.back();
  g.dilation_h = window.dilations.front();
  g.dilation_w = window.dilations.back();
  if (w.rank() == 3) g.stride_h = g.dilation_h = 1;
  return g;
}

const Tensor& weight_of(const ops::Setup& setup, size_t k) {
  const Tensor& weight = constant_at(setup, k, "weight");
  if (!is_code(weight.dtype()))
    ops::unsupported("The weight is " + std::string(name_of(weight.dtype())) + ", not an 8-bit type.");
  return weight;
}

IntegerConv conv_of(const ops::Setup& setup, const Places& places, const ConvGeometry& geometry, Pairs pairs) {
  const Tensor weight = weight_of(setup, places.w).aligned();
  std::vector<int32_t> zero_points;
  if (setup.has_input(places.w_zero)) {
    const Tensor& zero = constant_at(setup, places.w_zero, "weight's zero point");
    if (zero.dtype() != weight.dtype())
      ops::invalid("The weight's zero point is " + std::string(name_of(zero.dtype())) + "; the weight is " +
                   std::string(name_of(weight.dtype())) + ".");
    zero_points = numbers_of(zero);
  }
  if (zero_points.size() > 1 && static_cast<int64_t>(zero_points.size()) != geometry.out_channels)
    ops::invalid("The weight has " + std::to_string(zero_points.size()) + " zero points for " +
                 std::to_string(geometry.out_channels) + " output channels.");
  const IntegerConv::Codes codes{{reinterpret_cast<const uint8_t*>(weight.bytes().data()), weight.bytes().size()},
                                 weight.dtype() == DType::kInt8,
                                 zero_points};
  return IntegerConv(geometry, codes, pairs);
}

class QuantizedConv : public ops::Kernel {
 public:
  QuantizedConv(ops::Setup& setup, const Places& places, Profile profile)
      : places_(places),
        pairs_(pairs_of(setup.node, profile)),
        rank_(weight_of(setup, places.w).shape().rank()),
        geometry_(geometry_of(setup, setup.constant(places.w)->shape())),
        window_(setup.node, rank_ - 2),
        conv_(conv_of(setup, places, geometry_, pairs_)) {
    if (setup.node.int_or("channels_last", 0) != 0)
      ops::unsupported("The attribute channels_last is 1.", "Give the model as it was before the runtime rewrote it.");
    for (size_t k : {places.x_scale, places.w_scale, places.y_scale})
      if (const Tensor* scale = setup.constant(k)) check_scales(*scale);
    setup.absorb(places.w);
  }

  std::vector<ops::Form> forms(std::span<const Input> inputs) const override {
    std::vector<ops::Form> forms = Kernel::forms(inputs);
    forms[places_.x] = {ops::Layout::kChannelsLast, rank_};
    return forms;
  }

  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    const Input& x = inputs[places_.x];
    ops::require_type(x, {DType::kUint8, DType::kInt8}, "x");
    const Shape& shape = x.shape();
    if (shape.rank() != rank_ || shape[1] != geometry_.in_channels)
      ops::invalid("The input of shape " + shape.text() + " does not fit a convolution of " +
                   std::to_string(geometry_.in_channels) + " channels.");
    check_parameters(inputs);
    const ConvGeometry g = padded(shape);
    const auto [in_h, in_w] = spatial(shape);
    if (!g.fits(in_h, in_w)) ops::invalid("The window is larger than the padded input of shape " + shape.text() + ".");
    std::vector<int64_t> dims = {shape[0], geometry_.out_channels};
    if (rank_ == 4) dims.push_back(g.out_h(in_h));
    dims.push_back(g.out_w(in_w));
    std::vector<TensorType> types = {{output_type(inputs), Shape(dims), ops::Layout::kChannelsLast}};
    if (pairs_ != Pairs::kExact) types.push_back(saturation_type());
    return types;
  }

  int64_t scratch_bytes(std::span<const Input> inputs, std::span<const TensorType>) const override {
    const Shape& x = inputs[places_.x].shape();
    return static_cast<int64_t>(sums_at_once(x) * sizeof(int32_t) + padded_of_one(x) * sizeof(int16_t));
  }

  int64_t macs(std::span<const Input>, std::span<const TensorType> outputs) const override {
    return outputs[0].shape.elements() * geometry_.in_channels / geometry_.groups * geometry_.kernel_h *
           geometry_.kernel_w;
  }

  void run(const Call& call) const override {
    const Input& input = call.inputs[places_.x];
    const Shape& shape = input.shape();
    const ConvGeometry g = padded(shape);
    const auto [in_h, in_w] = spatial(shape);
    const size_t at_once = sums_at_once(shape);
    const std::span<int32_t> sums(reinterpret_cast<int32_t*>(call.scratch.data()), at_once);
    const std::span<int16_t> scratch(reinterpret_cast<int16_t*>(call.scratch.data() + at_once * sizeof(int32_t)),
                                     padded_of_one(shape));
    const auto x = raw_bytes(input);
    const IntegerConv::Picture picture{in_h, in_w, input.dtype() == DType::kInt8,
                                       first_code(call.inputs, places_.x_zero)};
    const std::optional<Finish> finish = finish_of(call.inputs);
    std::span<const int32_t> bias;
    if (has(call.inputs, places_.bias)) bias = call.inputs[places_.bias].values<int32_t>();
    const size_t in_one = shape[0] == 0 ? 0 : x.size() / static_cast<size_t>(shape[0]);
    const Shape& out = call.outputs[0].shape();
    const auto out_one = static_cast<size_t>(out.elements(1, out.rank()));
    int64_t saturated = 0;
    for (size_t n = 0; n < static_cast<size_t>(shape[0]); ++n)
      saturated +=
          conv_.run(g, x.subspan(n * in_one, in_one), picture, bias, scratch, sums,
                    [&](int64_t first, std::span<const int32_t> some) {
                      const size_t at = n * out_one + static_cast<size_t>(first * g.out_channels);
                      if (finish)
                        requantize(some, finish->multipliers, static_cast<size_t>(g.out_channels),
                                   raw_bytes(call.outputs[0]).subspan(at, some.size()), finish->y);
                      else
                        std::copy(some.begin(), some.end(), call.outputs[0].values<int32_t>().subspan(at).begin());
                    });
    give_saturation(call, saturated);
  }

 private:
  struct Finish {
    std::vector<float> multipliers;
    Grid y;
  };

  /// Int32 sums where nothing says how to quantize them.
  DType output_type(std::span<const Input> inputs) const {
    if (places_.y_scale == kNoInput) return DType::kInt32;
    return has(inputs, places_.y_zero) ? inputs[places_.y_zero].dtype() : inputs[places_.x].dtype();
  }

  void check_parameters(std::span<const Input> inputs) const {
    check_parameter(inputs, places_.x_scale, {DType::kFloat32}, 1, "scale of x");
    check_parameter(inputs, places_.x_zero, {inputs[places_.x].dtype()}, 1, "zero point of x");
    check_parameter(inputs, places_.w_scale, {DType::kFloat32}, geometry_.out_channels, "scale of the weight");
    check_parameter(inputs, places_.y_scale, {DType::kFloat32}, 1, "scale of the output");
    check_parameter(inputs, places_.y_zero, {DType::kUint8, DType::kInt8}, 1, "zero point of the output");
    check_parameter(inputs, places_.bias, {DType::kInt32}, geometry_.out_channels, "bias");
  }

  std::optional<Finish> finish_of(std::span<const Input> inputs) const {
    if (places_.y_scale == kNoInput) return std::nullopt;
    const Grid y{scales_of(inputs, places_.y_scale)[0], first_code(inputs, places_.y_zero),
                 output_type(inputs) == DType::kInt8};
    return Finish{
        requantize_multipliers(scales_of(inputs, places_.x_scale)[0], scales_of(inputs, places_.w_scale), y.scale), y};
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
  size_t sums_at_once(const Shape& shape) const {
    const auto [in_h, in_w] = spatial(shape);
    return padded(shape).sum_elements(in_h, in_w);
  }

  Places places_;
  Pairs pairs_;
  int rank_;
  ConvGeometry geometry_;
  Window window_;
  IntegerConv conv_;
};

}  // namespace

std::unique_ptr<const ops::Kernel> prepare_qlinear_conv(ops::Setup& setup, Profile profile) {
  ops::require_inputs(setup, 8, 9);
  ops::require_pads_once(setup.node);
  Places places;
  places.x_scale = 1, places.x_zero = 2, places.w = 3, places.w_scale = 4, places.w_zero = 5;
  places.y_scale = 6, places.y_zero = 7, places.bias = 8;
  return std::make_unique<QuantizedConv>(setup, places, profile);
}

std::unique_ptr<const ops::Kernel> prepare_conv_integer(ops::Setup& setup, Profile) {
  ops::require_inputs(setup, 2, 4);
  ops::require_pads_once(setup.node);
  Places places;
  places.x_zero = 2, places.w_zero = 3;
  // On x64 without VNNI this operator's kernel adds exactly.
  return std::make_unique<QuantizedConv>(setup, places, Profile::kX64);
}

}  // namespace tersor::simulate
