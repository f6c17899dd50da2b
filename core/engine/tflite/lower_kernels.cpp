// SPDX-License-Identifier: Apache-2.0
// Operators that multiply by a weight, and those that slide a window.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/graph/attribute_defaults.h"
#include "core/ops/window.h"
#include "core/tensor/rounding.h"
#include "core/tflite/rules.h"

namespace tersor::tflite {

namespace {

using ops::WindowAxis;

struct Weight {
  Tensor data;
  Quantization grid = {};  // empty: floats
};

/// The weight with its axes in that order.
Weight weight_of(Lowering& graph, const Site& site, size_t input, const AxisOrder& order) {
  const auto found = graph.constant_of(site.node.inputs[input]);
  if (!found) graph.refuse(site, "Its weight is no constant; TensorFlow Lite's kernels need one.");
  const auto is_zero = [](int64_t point) { return point == 0; };
  const bool is_int8 = found->quantized && found->tensor.dtype() == DType::kInt8 &&
                       std::all_of(found->quantized->zero_points.begin(), found->quantized->zero_points.end(), is_zero);
  if (!site.in_integers && !(is_int8 && graph.keeps_codes())) return {rearranged(floats_of(*found), order)};
  if (!is_int8)
    graph.refuse(site, "Its weight is not in int8 with zero points of 0.",
                 "Quantize for the platform tflite-micro or tflite.");
  Weight weight{rearranged(found->tensor, order), {found->quantized->scales, found->quantized->zero_points, 0}};
  const auto rank = static_cast<int64_t>(order.size());
  const int64_t axis = found->quantized->axis;
  if (weight.grid.scale.size() > 1)
    weight.grid.dimension = position_of(order, static_cast<int>(axis < 0 ? axis + rank : axis));
  return weight;
}

/// The constant, as the operator reads it.
int32_t stored(Lowering& graph, const Site& site, const Weight& weight) {
  const std::string name = site.name + "_weight";
  const int32_t made = graph.constant(name, weight.data, weight.grid);
  if (site.in_integers || weight.grid.scale.empty()) return made;
  return graph.append(Code::kDequantize, {made}, {name + "_floats", graph.at(made).shape, DType::kFloat32});
}

/// The sums that 32 bits have to hold: of 255 steps times each weight, and the bias.
void check_sums(Lowering& graph, const Site& site, const Weight& weight, std::span<const int64_t> bias) {
  const auto codes = weight.data.data<int8_t>();
  const auto channels = bias.size();
  const Dims& dims = weight.data.shape().dims();
  const bool channels_at_end = dims.size() == 4 && dims[0] == 1 && static_cast<size_t>(dims[3]) == channels;
  const size_t of_channel = codes.size() / channels;
  for (size_t o = 0; o < channels; ++o) {
    int64_t sum = std::abs(bias[o]);
    for (size_t k = 0; k < of_channel; ++k)
      sum += 255 * std::abs(static_cast<int>(codes[channels_at_end ? k * channels + o : o * of_channel + k]));
    if (sum > std::numeric_limits<int32_t>::max())
      graph.refuse(site, "The sums of output channel " + std::to_string(o) + " may pass 32 bits.");
  }
}

/// The bias as int32 (int64 beside int16) with the scale of the sums, float32(s_x * s_w), zeros where the node has
/// none; as floats where the site computes in floats.
int32_t bias_of(Lowering& graph, const Site& site, size_t input, const Quantization& x, const Weight& weight,
                int64_t channels) {
  const bool is_there = input < site.node.inputs.size() && site.node.inputs[input].valid();
  const auto found = is_there ? graph.constant_of(site.node.inputs[input]) : std::nullopt;
  if (is_there && !found) graph.refuse(site, "Its bias is no constant.");
  const int64_t given = found ? found->tensor.elements() : 0;
  if (found && given != 1 && given != channels) graph.refuse(site, "Its bias has no value for each output channel.");
  const std::string name = site.name + "_bias";
  const auto count = static_cast<size_t>(channels);
  const auto place = [&](size_t o) { return given == 1 ? 0 : o; };
  if (!site.in_integers) {
    std::vector<float> bias(count);
    if (found) {
      const Tensor floats = floats_of({found->tensor.reshaped(Shape{given}), found->quantized});
      for (size_t o = 0; o < count; ++o) bias[o] = floats.data<float>()[place(o)];
    }
    return graph.constant(name, Tensor::of<float>(Shape{channels}, std::span<const float>(bias)));
  }
  Quantization grid{{}, std::vector<int64_t>(weight.grid.scale.size(), 0), 0};
  for (const float scale : weight.grid.scale) grid.scale.push_back(x.scale[0] * scale);
  const std::vector<double> values = found ? found->tensor.to_doubles() : std::vector<double>(1, 0.0);
  const DType dtype = site.in_16_bits() ? DType::kInt64 : DType::kInt32;
  const double most = site.in_16_bits() ? 0x1p40 : std::numeric_limits<int32_t>::max();
  std::vector<int64_t> bias(count);
  for (size_t o = 0; o < count && found; ++o) {
    const float scale = grid.scale[grid.scale.size() == 1 ? 0 : o];
    double value = values[place(o)];
    if (found->quantized) {
      const auto& scales = found->quantized->scales;
      const float own = scales[scales.size() == 1 ? 0 : o];
      if (own != scale) value = round_half_even(value * own / scale);
    } else {
      value = round_half_even(value / scale);
    }
    if (std::fabs(value) > most)
      graph.refuse(site, "Its bias of output channel " + std::to_string(o) + " does not fit into its integers.");
    bias[o] = static_cast<int64_t>(value);
  }
  if (!site.in_16_bits()) check_sums(graph, site, weight, bias);
  return graph.constant(name, integers(dtype, Shape{channels}, bias), std::move(grid));
}

/// Zeros that the window reads behind the input.
int64_t read_after(const WindowAxis& axis) {
  return std::max<int64_t>(0, (axis.out - 1) * axis.stride + axis.extent() - axis.in - axis.before);
}

/// TensorFlow puts half of what is missing before, and the rest behind.
bool is_same(const WindowAxis& axis) {
  const int64_t total = std::max<int64_t>(0, (axis.out - 1) * axis.stride + axis.extent() - axis.in);
  return axis.out == (axis.in + axis.stride - 1) / axis.stride && axis.before == total / 2 &&
         read_after(axis) == total - axis.before;
}

bool is_valid(const WindowAxis& axis) {
  return axis.before == 0 && read_after(axis) == 0;
}

struct PaddedInput {
  int32_t tensor;
  Padding padding;
};

/// What maxima skip is the lowest number; sums take zeros. `counted`: SAME would leave the padding out of an average.
PaddedInput pad_picture(Lowering& graph, const Site& site, int32_t input, const std::vector<WindowAxis>& axes,
                        bool for_maxima, bool counted = false) {
  if (std::all_of(axes.begin(), axes.end(), is_valid)) return {input, kValid};
  if (!counted && std::all_of(axes.begin(), axes.end(), is_same)) return {input, kSame};
  const NetworkTensor from = graph.at(input);
  NetworkTensor output{site.name + "_padded", from.shape, from.dtype, from.quantization};
  std::vector<int32_t> pads(8, 0);
  for (size_t k = 0; k < 2; ++k) {
    pads[2 * k + 2] = static_cast<int32_t>(axes[k].before);
    pads[2 * k + 3] = static_cast<int32_t>(read_after(axes[k]));
    output.shape[k + 1] += pads[2 * k + 2] + pads[2 * k + 3];
  }
  std::vector<int32_t> inputs = {
      input, graph.constant(site.name + "_pads", Tensor::of<int32_t>(Shape{4, 2}, std::span<const int32_t>(pads)))};
  if (for_maxima) {
    const Tensor lowest = from.dtype == DType::kFloat32
                              ? Tensor::of<float>(Shape{1}, {std::numeric_limits<float>::lowest()})
                              : integers(from.dtype, Shape{1}, std::array<int64_t, 1>{lowest_of(from.dtype)});
    inputs.push_back(graph.constant(site.name + "_filler", lowest, from.quantization));
  }
  return {graph.append(for_maxima ? Code::kPadV2 : Code::kPad, std::move(inputs), std::move(output)), kValid};
}

/// A picture of two spatial axes; a line becomes one of height 1.
struct Picture {
  int32_t tensor;
  Dims shape;
};

Dims as_picture(Dims shape) {
  if (shape.size() == 3) shape.insert(shape.begin() + 2, 1);
  return shape;
}

Picture picture_of(Lowering& graph, const Site& site, size_t input) {
  const Dims& own = graph.shape_of(site.node.inputs[input]);
  if (own.size() != 3 && own.size() != 4)
    graph.refuse(site, "Its input has " + std::to_string(own.size()) + " axes; TensorFlow Lite takes pictures of 4.");
  const Dims wide = as_picture(own);
  const Held held = graph.reshape(graph.operand(site, input), own, wide, site.name + "_picture");
  return {graph.in_axis_order(held, wide, channels_last(4)), wide};
}

/// The site of an operator whose output is a picture, where the node's may be a line.
Site as_picture_site(Lowering& graph, const Site& site) {
  Site wide = site;
  wide.shape = as_picture(graph.result_shape(site));
  return wide;
}

Held from_picture(Lowering& graph, const Site& site, const Held& made) {
  const Dims& own = graph.result_shape(site);
  return graph.reshape(made, as_picture(own), own, site.name);
}

std::vector<WindowAxis> axes_of(Lowering& graph, const Site& site, const Dims& shape, Dims kernel) {
  ops::Setup setup(site.node, graph.model().opset(), {});
  std::vector<WindowAxis> axes = ops::Window(setup).place(Shape(shape), kernel);
  if (axes.size() == 1) axes.insert(axes.begin(), WindowAxis{});
  return axes;
}

void set_steps(Options& options, const std::vector<WindowAxis>& axes) {
  options.stride_h = static_cast<int32_t>(axes[0].stride);
  options.stride_w = static_cast<int32_t>(axes[1].stride);
}

}  // namespace

Tensor floats_of(const ConstantValue& value) {
  if (!value.quantized) return value.tensor;
  const auto& scales = value.quantized->scales;
  const Dims& dims = value.tensor.shape().dims();
  const auto axis = static_cast<size_t>(std::max<int64_t>(0, value.quantized->axis));
  int64_t inner = 1;
  for (size_t k = axis + 1; k < dims.size(); ++k) inner *= dims[k];
  std::vector<float> floats;
  const std::vector<int64_t> codes = value.tensor.to_int64s();
  for (size_t k = 0; k < codes.size(); ++k) {
    const size_t at = scales.size() == 1
                          ? 0
                          : static_cast<size_t>(static_cast<int64_t>(k) / inner % static_cast<int64_t>(scales.size()));
    floats.push_back(scales[at] * static_cast<float>(codes[k] - value.quantized->zero_points[at]));
  }
  return Tensor::of<float>(value.tensor.shape(), std::span<const float>(floats));
}

Held lower_conv(Lowering& graph, const Site& site) {
  const Dims& shape = graph.shape_of(site.node.inputs[0]);
  const Dims& weights = graph.shape_of(site.node.inputs[1]);
  const Picture x = picture_of(graph, site, 0);
  const auto axes = axes_of(graph, site, shape, Dims(weights.begin() + 2, weights.end()));
  const int64_t groups = int_of(site.node, "group"), channels = weights[0];
  const bool depthwise = groups > 1 && groups == shape[1];
  AxisOrder order = depthwise ? AxisOrder{1, 2, 0} : AxisOrder{0, 2, 1};
  if (weights.size() == 4) order = depthwise ? AxisOrder{1, 2, 3, 0} : AxisOrder{0, 2, 3, 1};
  Weight weight = weight_of(graph, site, 1, order);
  if (weights.size() == 3) {
    Dims dims = weight.data.shape().dims();
    dims.insert(dims.begin() + 1, 1);
    weight.data = weight.data.reshaped(Shape(dims));
    if (weight.grid.dimension > 0) ++weight.grid.dimension;
  }
  const Quantization grid = graph.at(x.tensor).quantization;
  const int32_t bias = bias_of(graph, site, 2, grid, weight, channels);
  const PaddedInput padded = pad_picture(graph, site, x.tensor, axes, false);
  Options options;
  options.padding = padded.padding;
  options.activation = site.activation;
  options.dilation_h = static_cast<int32_t>(axes[0].dilation);
  options.dilation_w = static_cast<int32_t>(axes[1].dilation);
  options.depth_multiplier = depthwise ? static_cast<int32_t>(channels / groups) : 0;
  set_steps(options, axes);
  const int32_t w = stored(graph, site, weight);
  const Held made = graph.emit(as_picture_site(graph, site), depthwise ? Code::kDepthwiseConv2d : Code::kConv2d,
                               {padded.tensor, w, bias}, channels_last(4), std::move(options));
  return from_picture(graph, site, made);
}

namespace {

/// One axis of a transposed convolution: places that its windows reach before the output's first are cut off.
struct BackAxis {
  int64_t in = 1, out = 1, kernel = 1, stride = 1, before = 0;

  int64_t full() const { return (in - 1) * stride + kernel; }
  /// TensorFlow cuts off as much as the convolution of the output would pad before.
  bool is_same() const { return (out + stride - 1) / stride == in && before == std::max<int64_t>(0, full() - out) / 2; }
  /// With `uncut` places: some behind the last window are zeros before the bias.
  bool fits(int64_t uncut) const { return uncut >= full() && uncut < full() + stride; }
};

BackAxis back_axis(Lowering& graph, const Site& site, const Dims& x, const Dims& w, const Dims& y, size_t k) {
  const size_t spatial = w.size() - 2;
  const auto number = [&](const char* name, int64_t otherwise) {
    const Dims list = site.node.ints_or(name, {});
    return k < list.size() ? list[k] : otherwise;
  };
  if (number("dilations", 1) != 1) graph.refuse(site, "TensorFlow Lite's TRANSPOSE_CONV has no dilation.");
  BackAxis axis{x[k + 2], y[k + 2], w[k + 2], number("strides", 1), 0};
  const ops::AutoPad pad = ops::auto_pad_of(site.node);
  const bool same = pad == ops::AutoPad::kSameUpper || pad == ops::AutoPad::kSameLower;
  const Dims pads = site.node.ints_or("pads", {});
  if (same || site.node.attributes.contains("output_shape")) {
    const int64_t cut = std::max<int64_t>(0, axis.full() + number("output_padding", 0) - axis.out);
    axis.before = pad == ops::AutoPad::kSameUpper ? cut / 2 : cut - cut / 2;
  } else if (pads.size() == 2 * spatial) {
    axis.before = pads[k];
  }
  return axis;
}

}  // namespace

Held lower_conv_transpose(Lowering& graph, const Site& site) {
  const Dims &shape = graph.shape_of(site.node.inputs[0]), &weights = graph.shape_of(site.node.inputs[1]);
  if (int_of(site.node, "group") != 1) graph.refuse(site, "TensorFlow Lite's TRANSPOSE_CONV has no groups.");
  const Picture x = picture_of(graph, site, 0);
  std::vector<BackAxis> axes;
  for (size_t k = 0; k + 2 < weights.size(); ++k)
    axes.push_back(back_axis(graph, site, shape, weights, graph.result_shape(site), k));
  if (axes.size() == 1) axes.insert(axes.begin(), BackAxis{});
  Weight weight = weight_of(graph, site, 1, weights.size() == 4 ? AxisOrder{1, 2, 3, 0} : AxisOrder{1, 2, 0});
  if (weights.size() == 3) {
    Dims dims = weight.data.shape().dims();
    dims.insert(dims.begin() + 1, 1);
    weight.data = weight.data.reshaped(Shape(dims));
  }
  const int32_t bias = bias_of(graph, site, 2, graph.at(x.tensor).quantization, weight, weights[1]);
  Options options;
  options.activation = site.activation;
  options.stride_h = static_cast<int32_t>(axes[0].stride);
  options.stride_w = static_cast<int32_t>(axes[1].stride);
  const bool same = axes[0].is_same() && axes[1].is_same();
  options.padding = same ? kSame : kValid;
  Site uncut = as_picture_site(graph, site);
  Dims begin(4, 0), end = in_order(uncut.shape, channels_last(4));
  for (size_t k = 0; k < 2 && !same; ++k) {
    begin[k + 1] = axes[k].before;
    end[k + 1] = uncut.shape[k + 2] + axes[k].before;
    uncut.shape[k + 2] = std::max(end[k + 1], axes[k].full());
    if (!axes[k].fits(uncut.shape[k + 2]))
      graph.refuse(site, "Its output reaches further than its windows and a stride.");
  }
  const Dims full = in_order(uncut.shape, channels_last(4));
  const bool is_cut = end != full || begin != Dims(4, 0);
  if (is_cut) uncut.name += "_uncut";
  const int32_t w = stored(graph, site, weight);
  Held made = graph.emit(uncut, Code::kTransposeConv, {graph.numbers(full), w, x.tensor, bias}, channels_last(4),
                         std::move(options));
  if (is_cut)
    made = graph.emit(as_picture_site(graph, site), Code::kStridedSlice,
                      {made.tensor, graph.numbers(begin), graph.numbers(end), graph.numbers(Dims(4, 1))},
                      channels_last(4));
  return from_picture(graph, site, made);
}

Held lower_pool(Lowering& graph, const Site& site) {
  const bool is_max = site.node.is("MaxPool");
  const Picture x = picture_of(graph, site, 0);
  const auto axes = axes_of(graph, site, graph.shape_of(site.node.inputs[0]), site.node.ints_or("kernel_shape", {}));
  if (site.output > 0) graph.refuse(site, "TensorFlow Lite's MAX_POOL_2D gives no indices.");
  for (const WindowAxis& axis : axes)
    if (axis.dilation != 1) graph.refuse(site, "TensorFlow Lite's pools have no dilation.");
  const auto is_padded = [](const WindowAxis& axis) { return axis.before > 0 || read_after(axis) > 0; };
  const bool counts_padding = site.node.int_or("count_include_pad", 0) != 0;
  if (!is_max && std::any_of(axes.begin(), axes.end(), is_padded)) {
    const bool same = std::all_of(axes.begin(), axes.end(), is_same);
    const auto beyond = [](const WindowAxis& axis) { return read_after(axis) > axis.after; };
    if (counts_padding ? std::any_of(axes.begin(), axes.end(), beyond) : !same)
      graph.refuse(site, "Its padding is not as TensorFlow Lite pads averages.",
                   "Pads that are counted, or those of SAME_UPPER, can be written.");
  }
  const PaddedInput padded = pad_picture(graph, site, x.tensor, axes, is_max, counts_padding && !is_max);
  Options options;
  options.padding = padded.padding;
  options.activation = site.activation;
  options.filter_h = static_cast<int32_t>(axes[0].kernel);
  options.filter_w = static_cast<int32_t>(axes[1].kernel);
  set_steps(options, axes);
  const Held made =
      graph.emit_fixed(as_picture_site(graph, site), is_max ? Code::kMaxPool2d : Code::kAveragePool2d, {padded.tensor},
                       channels_last(4), graph.at(x.tensor).quantization, std::move(options));
  return from_picture(graph, site, made);
}

namespace {

/// Elements of the rows that lie in another order than the value's: the columns of the weight follow them.
std::optional<AxisOrder> order_of_rows(const Held& held, const Dims& shape) {
  if (!held.is_jumbled() || shape.size() != 2 || held.before.empty() || held.before[0] != shape[0] ||
      held.before_order[0] != 0)
    return std::nullopt;
  return held.before_order;
}

Held fully_connected(Lowering& graph, const Site& site, bool transposed) {
  const Dims& shape = graph.shape_of(site.node.inputs[0]);
  const Held held = graph.operand(site, 0);
  Weight weight = weight_of(graph, site, 1, transposed ? AxisOrder{0, 1} : AxisOrder{1, 0});
  const Shape own = weight.data.shape();
  int32_t x = 0;
  if (const auto rows = order_of_rows(held, shape)) {
    Dims dims = held.before;
    dims[0] = own[0];
    weight.data = rearranged(weight.data.reshaped(Shape(dims)), *rows).reshaped(own);
    const NetworkTensor from = graph.at(held.tensor);
    NetworkTensor output{site.name + "_rows", {shape.begin(), shape.end()}, from.dtype, from.quantization};
    Options options;
    options.new_shape = output.shape;
    x = graph.append(Code::kReshape, {held.tensor, graph.numbers(shape)}, std::move(output), std::move(options));
  } else {
    x = graph.in_axis_order(held, shape, plain_order(shape.size()));
  }
  const Quantization grid = graph.at(x).quantization;
  const int32_t bias = bias_of(graph, site, 2, grid, weight, own[0]);
  Options options;
  options.activation = site.activation;
  options.keep_num_dims = shape.size() == 2 ? 0 : 1;
  const int32_t w = stored(graph, site, weight);
  return graph.emit(site, Code::kFullyConnected, {x, w, bias}, plain_order(shape.size()), std::move(options));
}

}  // namespace

Held lower_gemm(Lowering& graph, const Site& site) {
  if (int_of(site.node, "transA") != 0)
    graph.refuse(site, "TensorFlow Lite has no Gemm of a transposed first operand.");
  const bool scaled = float_of(site.node, "alpha") != 1 ||
                      (site.node.inputs.size() > 2 && site.node.inputs[2].valid() && float_of(site.node, "beta") != 1);
  if (scaled) graph.refuse(site, "Its alpha or beta is not 1.");
  return fully_connected(graph, site, int_of(site.node, "transB") != 0);
}

Held lower_matmul(Lowering& graph, const Site& site) {
  const Dims &a = graph.shape_of(site.node.inputs[0]), &b = graph.shape_of(site.node.inputs[1]);
  if (b.size() == 2 && graph.constant_of(site.node.inputs[1])) return fully_connected(graph, site, false);
  const size_t rank = graph.result_shape(site).size();
  if (a.size() < 2 || b.size() < 2 || rank > 4) graph.refuse(site, "Its operands have an unusual number of axes.");
  const int32_t left = graph.spread_operand(site, 0, plain_order(rank));
  const int32_t right = graph.spread_operand(site, 1, plain_order(rank));
  return graph.emit(site, Code::kBatchMatmul, {left, right}, plain_order(rank));
}

}  // namespace tersor::tflite
