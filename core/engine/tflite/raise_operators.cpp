// SPDX-License-Identifier: Apache-2.0
// How each operator of TensorFlow Lite is said in ONNX's.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "core/base/error.h"
#include "core/tflite/raising.h"
#include "core/tflite/rules.h"

namespace tersor::tflite {

namespace {

using Numbers = std::vector<int64_t>;

[[noreturn]] void refuse(const std::string& message) {
  throw Error(ErrorCode::kUnsupportedModel, message, {}, "Export the model as ONNX, or without this operator.");
}

/// An axis of the file's order with channels first.
int64_t axis_in_first(int64_t axis) {
  constexpr std::array<int64_t, 4> kPlaces{0, 2, 3, 1};
  return kPlaces[static_cast<size_t>(axis)];
}

int64_t from_front(int64_t axis, int rank) {
  const int64_t place = axis < 0 ? axis + rank : axis;
  if (place < 0 || place >= rank) refuse("Its axis " + std::to_string(axis) + " is out of range.");
  return place;
}

struct Window {
  Numbers kernel, strides, dilations;
};

/// {top, left, bottom, right}; SAME puts the odd row at the end (spec/tflite 4.3).
Numbers pads_of(const Options& options, const Dims& input, const Window& window) {
  Numbers pads(4, 0);
  if (options.padding != kSame) return pads;
  for (size_t axis = 0; axis < 2; ++axis) {
    const int64_t size = input[axis + 1], stride = window.strides[axis];
    const int64_t reach = (window.kernel[axis] - 1) * window.dilations[axis] + 1;
    const int64_t total = std::max<int64_t>(((size + stride - 1) / stride - 1) * stride + reach - size, 0);
    pads[axis] = total / 2;
    pads[axis + 2] = total - total / 2;
  }
  return pads;
}

Numbers strides_of(const Options& options) {
  if (options.stride_h <= 0 || options.stride_w <= 0) refuse("Its strides are not positive.");
  return {options.stride_h, options.stride_w};
}

void expect_pictures(const Raising& graph, int32_t tensor) {
  if (graph.rank(tensor) != 4) refuse("Its input has not four axes.");
}

ValueId bias_of(Raising& graph, size_t input) {
  return graph.initializer(graph.at(graph.in(input)).name, graph.floats(input, "Its bias"));
}

void raise_conv(Raising& graph, bool depthwise) {
  const Options& options = graph.op().options;
  const int32_t input = graph.in(0);
  expect_pictures(graph, input);
  const Tensor weight = graph.floats(1, "Its weight");
  const Dims& shape = weight.shape().dims();
  if (shape.size() != 4 || options.dilation_h <= 0 || options.dilation_w <= 0) refuse("Its weight has not four axes.");
  const Window window{{shape[1], shape[2]}, strides_of(options), {options.dilation_h, options.dilation_w}};
  const int64_t channels = graph.dims(input)[3];
  const int64_t groups = depthwise ? channels : channels / std::max<int64_t>(1, shape[3]);
  if (groups < 1 || (depthwise ? shape[0] != 1 || shape[3] % groups != 0 : groups * shape[3] != channels))
    refuse("Its weight does not fit the " + std::to_string(channels) + " channels of its input.");
  std::vector<ValueId> inputs{
      graph.first(input),
      graph.initializer(graph.at(graph.in(1)).name,
                        rearranged(weight, depthwise ? AxisOrder{3, 0, 1, 2} : AxisOrder{0, 3, 1, 2}))};
  if (graph.has(2)) inputs.push_back(bias_of(graph, 2));
  graph.give_activated(graph.node("Conv", inputs,
                                  {{"kernel_shape", window.kernel},
                                   {"strides", window.strides},
                                   {"dilations", window.dilations},
                                   {"pads", pads_of(options, graph.dims(input), window)},
                                   {"group", groups}}),
                       true);
}

/// The output's size is that of the file; what the strides leave over is padded or cut as the forward convolution's
/// SAME.
void raise_conv_transpose(Raising& graph, size_t data, size_t bias) {
  const Options& options = graph.op().options;
  const int32_t input = graph.in(data);
  expect_pictures(graph, input);
  const Tensor weight = graph.floats(1, "Its weight");
  const Dims &shape = weight.shape().dims(), from = graph.dims(input), to = graph.dims(graph.out());
  const Numbers strides = strides_of(options);
  if (shape.size() != 4 || to.size() != 4) refuse("Its weight has not four axes.");
  Numbers pads(4, 0), added(2, 0);
  for (size_t axis = 0; axis < 2; ++axis) {
    const int64_t whole = (from[axis + 1] - 1) * strides[axis] + shape[axis + 1], total = whole - to[axis + 1];
    if (options.padding == kSame) pads[axis] = std::max<int64_t>(total, 0) / 2;
    pads[axis + 2] = std::max<int64_t>(total - pads[axis], 0);
    added[axis] = std::max<int64_t>(-total, 0);
  }
  std::vector<ValueId> inputs{graph.first(input),
                              graph.initializer(graph.at(graph.in(1)).name, rearranged(weight, {3, 0, 1, 2}))};
  if (graph.has(bias)) inputs.push_back(bias_of(graph, bias));
  graph.give_activated(graph.node("ConvTranspose", inputs,
                                  {{"kernel_shape", Numbers{shape[1], shape[2]}},
                                   {"strides", strides},
                                   {"pads", pads},
                                   {"output_padding", added}}),
                       true);
}

void raise_pool(Raising& graph, const char* type) {
  const Options& options = graph.op().options;
  expect_pictures(graph, graph.in(0));
  if (options.filter_h <= 0 || options.filter_w <= 0) refuse("Its window has no size.");
  const Window window{{options.filter_h, options.filter_w}, strides_of(options), {1, 1}};
  graph.give_activated(graph.node(type, {graph.first(graph.in(0))},
                                  {{"kernel_shape", window.kernel},
                                   {"strides", window.strides},
                                   {"pads", pads_of(options, graph.dims(graph.in(0)), window)}}),
                       true);
}

void raise_fully_connected(Raising& graph) {
  const int32_t input = graph.in(0);
  const Dims weight = graph.dims(graph.in(1)), from = graph.dims(input), to = graph.dims(graph.out());
  if (weight.size() != 2) refuse("Its weight has not two axes.");
  const int64_t rows =
      std::accumulate(from.begin(), from.end(), int64_t{1}, std::multiplies<>()) / std::max<int64_t>(1, weight[1]);
  ValueId value = graph.plain(input);
  if (from.size() != 2) value = graph.node("Reshape", {value, graph.list({rows, weight[1]})});
  std::vector<ValueId> inputs{value, graph.constant(graph.in(1)) != nullptr
                                         ? graph.initializer(graph.at(graph.in(1)).name, graph.floats(1, "Its weight"))
                                         : graph.plain(graph.in(1))};
  if (graph.has(2)) inputs.push_back(bias_of(graph, 2));
  value = graph.node("Gemm", inputs, {{"transB", int64_t{1}}});
  if (to.size() != 2) value = graph.node("Reshape", {value, graph.list(to)});
  graph.give_activated(value, false);
}

/// Of what is worked on place by place.
void raise_unary(Raising& graph, const std::string& type, NodeAttributes attributes = {}) {
  const bool in_first = graph.is_first(graph.in(0));
  graph.give(0, graph.node(type, {graph.form(graph.in(0), in_first)}, std::move(attributes)), in_first);
}

/// Whether operands can meet with channels first: all of rank 4, single numbers, or constants along the channels.
bool meet_in_first(const Raising& graph) {
  bool any = false;
  for (const int32_t input : graph.op().inputs) {
    const Dims dims = graph.dims(input);
    const bool is_single = std::all_of(dims.begin(), dims.end(), [](int64_t dim) { return dim == 1; });
    const bool along_channels = dims.size() == 1 && graph.constant(input) != nullptr;
    if (dims.size() != 4 && !along_channels && !(is_single && graph.constant(input) != nullptr)) return false;
    any = any || graph.is_first(input);
  }
  return any && graph.rank(graph.out()) == 4;
}

ValueId operand(Raising& graph, int32_t tensor, bool in_first) {
  const Dims dims = graph.dims(tensor);
  if (!in_first || dims.size() == 4) return graph.form(tensor, in_first);
  const Tensor* data = graph.constant(tensor);
  const int64_t count = data->elements();
  return count == 1 ? graph.plain(tensor)
                    : graph.initializer(graph.at(tensor).name, data->reshaped(Shape{count, 1, 1}));
}

ValueId both(Raising& graph, const std::string& type, bool in_first) {
  std::vector<ValueId> inputs;
  for (const int32_t input : graph.op().inputs) inputs.push_back(operand(graph, input, in_first));
  return graph.node(type, inputs);
}

void raise_binary(Raising& graph, const std::string& type) {
  const bool in_first = meet_in_first(graph);
  graph.give_activated(both(graph, type, in_first), in_first);
}

void raise_reduce(Raising& graph, const std::string& type) {
  const int32_t input = graph.in(0);
  const int rank = graph.rank(input);
  Numbers axes;
  for (const int64_t axis : graph.numbers(1, "Its list of axes")) axes.push_back(from_front(axis, rank));
  std::sort(axes.begin(), axes.end());
  const bool keep = graph.op().options.keep_dims != 0;
  // Without the spatial axes what is left lies alike in both forms.
  const bool spatial = axes == Numbers{1, 2} || axes == Numbers{1, 2, 3};
  const bool in_first = graph.is_first(input) && (keep || spatial);
  if (in_first)
    for (int64_t& axis : axes) axis = axis_in_first(axis);
  std::sort(axes.begin(), axes.end());
  const int64_t keeps = keep ? 1 : 0;
  const ValueId value = graph.form(input, in_first);
  graph.give(0,
             type == "ReduceSum" ? graph.node(type, {value, graph.list(axes)}, {{"keepdims", keeps}})
                                 : graph.node(type, {value}, {{"axes", axes}, {"keepdims", keeps}}),
             in_first && keep);
}

void raise_reshape(Raising& graph) {
  const int32_t input = graph.in(0);
  const Dims from = graph.dims(input);
  // One place: the channels lie alike in both forms.
  const bool in_first = graph.is_first(input) && from[1] == 1 && from[2] == 1;
  graph.give(0, graph.node("Reshape", {graph.form(input, in_first), graph.list(graph.dims(graph.out()))}), false);
}

void raise_along_axis(Raising& graph, const std::string& type, NodeAttributes attributes = {}) {
  const int32_t input = graph.in(0);
  const bool in_first = graph.is_first(input);
  attributes.emplace_back("axis", in_first ? int64_t{1} : int64_t{graph.rank(input) - 1});
  graph.give(0, graph.node(type, {graph.form(input, in_first)}, std::move(attributes)), in_first);
}

void raise_softmax(Raising& graph) {
  const float beta = graph.op().options.beta;
  if (beta == 1) return raise_along_axis(graph, "Softmax");
  const ValueId scaled = graph.node("Mul", {graph.plain(graph.in(0)), graph.number(beta)});
  graph.give(0, graph.node("Softmax", {scaled}, {{"axis", int64_t{graph.rank(graph.in(0)) - 1}}}), false);
}

void raise_prelu(Raising& graph) {
  const Tensor alpha = graph.floats(1, "Its slope");
  const bool in_first = graph.is_first(graph.in(0));
  const Dims& dims = alpha.shape().dims();
  Tensor slope = alpha;
  if (in_first && dims.size() == 3) slope = rearranged(alpha, {2, 0, 1});
  if (in_first && dims.size() == 1) slope = alpha.reshaped(Shape{dims[0], 1, 1});
  if (in_first && dims.size() == 4) slope = rearranged(alpha, {0, 3, 1, 2});
  graph.give(0,
             graph.node("PRelu", {graph.form(graph.in(0), in_first),
                                  graph.initializer(graph.at(graph.in(1)).name, std::move(slope))}),
             in_first);
}

void raise_pad(Raising& graph, bool mirror) {
  const int32_t input = graph.in(0);
  const size_t rank = graph.dims(input).size();
  const Numbers given = graph.numbers(1, "Its list of paddings");
  if (given.size() != 2 * rank) refuse("It has not two paddings for each axis.");
  if (mirror && graph.op().options.mode != 0) refuse("Its mode SYMMETRIC has no counterpart in ONNX.");
  const bool in_first = graph.is_first(input);
  Numbers pads(2 * rank);
  for (size_t axis = 0; axis < rank; ++axis) {
    const size_t place = in_first ? static_cast<size_t>(axis_in_first(static_cast<int64_t>(axis))) : axis;
    pads[place] = given[2 * axis];
    pads[place + rank] = given[2 * axis + 1];
  }
  std::vector<ValueId> inputs{graph.form(input, in_first), graph.list(pads)};
  if (graph.has(2))
    inputs.push_back(graph.initializer("filler", graph.floats(2, "What it fills with").reshaped(Shape{})));
  graph.give(0, graph.node("Pad", inputs, {{"mode", std::string(mirror ? "reflect" : "constant")}}), in_first);
}

void raise_concatenation(Raising& graph) {
  const auto& inputs = graph.op().inputs;
  const bool in_first = std::any_of(inputs.begin(), inputs.end(), [&](int32_t one) { return graph.is_first(one); });
  const int64_t axis = from_front(graph.op().options.axis, graph.rank(graph.in(0)));
  std::vector<ValueId> parts;
  for (const int32_t input : inputs) parts.push_back(graph.form(input, in_first));
  graph.give_activated(graph.node("Concat", parts, {{"axis", in_first ? axis_in_first(axis) : axis}}), in_first);
}

void raise_resize(Raising& graph, bool bilinear) {
  const Options& options = graph.op().options;
  expect_pictures(graph, graph.in(0));
  const Dims to = graph.dims(graph.out());
  const bool half = options.half_pixel_centers != 0, align = options.align_corners != 0;
  NodeAttributes attributes{{"mode", std::string(bilinear ? "linear" : "nearest")},
                            {"coordinate_transformation_mode", std::string(align  ? "align_corners"
                                                                           : half ? "half_pixel"
                                                                                  : "asymmetric")}};
  // The nearest place is floor((i + 0.5) * scale), or floor(i * scale), or rounded half up.
  if (!bilinear) attributes.emplace_back("nearest_mode", std::string(half || align ? "round_prefer_ceil" : "floor"));
  const ValueId none;
  graph.give(0,
             graph.node("Resize", {graph.first(graph.in(0)), none, none, graph.list({to[0], to[3], to[1], to[2]})},
                        std::move(attributes)),
             true);
}

struct Cut {
  Numbers starts, ends, axes, steps;
};

void give_cut(Raising& graph, Cut cut, const Numbers& dropped) {
  const bool in_first = graph.is_first(graph.in(0)) && dropped.empty();
  if (in_first)
    for (int64_t& axis : cut.axes) axis = axis_in_first(axis);
  ValueId value = graph.form(graph.in(0), in_first);
  value = graph.node(
      "Slice", {value, graph.list(cut.starts), graph.list(cut.ends), graph.list(cut.axes), graph.list(cut.steps)});
  if (!dropped.empty()) value = graph.node("Reshape", {value, graph.list(graph.dims(graph.out()))});
  graph.give(0, value, in_first);
}

void raise_strided_slice(Raising& graph) {
  const Options& options = graph.op().options;
  if (options.ellipsis_mask != 0 || options.new_axis_mask != 0) refuse("Its masks of ellipsis or new axes are set.");
  const Numbers begin = graph.numbers(1, "Where it begins"), end = graph.numbers(2, "Where it ends"),
                steps = graph.numbers(3, "Its list of steps");
  const size_t count = begin.size();
  if (end.size() != count || steps.size() != count || count > graph.dims(graph.in(0)).size())
    refuse("Its lists of begins, ends and steps have different lengths.");
  Cut cut;
  Numbers dropped;
  constexpr int64_t kFar = std::numeric_limits<int64_t>::max();
  for (size_t axis = 0; axis < count; ++axis) {
    const int bit = 1 << axis;
    const bool shrinks = (options.shrink_axis_mask & bit) != 0, back = steps[axis] < 0;
    int64_t from = begin[axis], to = end[axis];
    if (shrinks) to = from == -1 ? kFar : from + 1;
    if (!shrinks && (options.begin_mask & bit) != 0) from = back ? kFar : 0;
    if (!shrinks && (options.end_mask & bit) != 0) to = back ? -kFar : kFar;
    cut.starts.push_back(from);
    cut.ends.push_back(to);
    cut.axes.push_back(static_cast<int64_t>(axis));
    cut.steps.push_back(shrinks ? 1 : steps[axis]);
    if (shrinks) dropped.push_back(static_cast<int64_t>(axis));
  }
  give_cut(graph, std::move(cut), dropped);
}

void raise_slice(Raising& graph) {
  const Numbers begin = graph.numbers(1, "Where it begins"), size = graph.numbers(2, "Its size");
  if (begin.size() != size.size() || begin.size() != graph.dims(graph.in(0)).size())
    refuse("Its lists of begins and sizes do not fit its input.");
  Cut cut;
  for (size_t axis = 0; axis < begin.size(); ++axis) {
    cut.starts.push_back(begin[axis]);
    cut.ends.push_back(size[axis] == -1 ? std::numeric_limits<int64_t>::max() : begin[axis] + size[axis]);
    cut.axes.push_back(static_cast<int64_t>(axis));
    cut.steps.push_back(1);
  }
  give_cut(graph, std::move(cut), {});
}

/// SPLIT, SPLIT_V and UNPACK: the parts along an axis, whose sizes are those of the outputs; UNPACK drops the axis.
void raise_split(Raising& graph, int32_t input, int64_t asked, bool drops) {
  const int rank = graph.rank(input);
  const int64_t axis = from_front(asked, rank);
  const bool in_first = graph.is_first(input) && !drops;
  const size_t count = graph.op().outputs.size();
  Numbers sizes;
  for (size_t k = 0; k < count; ++k) sizes.push_back(drops ? 1 : graph.dims(graph.out(k))[static_cast<size_t>(axis)]);
  const auto parts = graph.nodes("Split", {graph.form(input, in_first), graph.list(sizes)}, count,
                                 {{"axis", in_first ? axis_in_first(axis) : axis}}, graph.at(graph.out()).name);
  for (size_t k = 0; k < count; ++k)
    graph.give(k, drops ? graph.node("Reshape", {parts[k], graph.list(graph.dims(graph.out(k)))}) : parts[k], in_first);
}

void raise_pack(Raising& graph) {
  const Dims to = graph.dims(graph.out());
  const int64_t axis = from_front(graph.op().options.axis, static_cast<int>(to.size()));
  std::vector<ValueId> parts;
  for (const int32_t input : graph.op().inputs)
    parts.push_back(graph.node("Unsqueeze", {graph.plain(input), graph.list({axis})}));
  graph.give(0, graph.node("Concat", parts, {{"axis", axis}}), false);
}

void raise_gather(Raising& graph) {
  const int64_t axis = from_front(graph.op().options.axis, graph.rank(graph.in(0)));
  if (graph.op().options.batch_dims != 0) refuse("Its batch_dims is not 0.");
  graph.give(0, graph.node("Gather", {graph.plain(graph.in(0)), graph.plain(graph.in(1))}, {{"axis", axis}}), false);
}

void raise_batch_matmul(Raising& graph) {
  const auto side = [&](size_t input, bool adjoint) {
    const int rank = graph.rank(graph.in(input));
    if (rank < 2) refuse("An input of a product has less than two axes.");
    if (!adjoint) return graph.plain(graph.in(input));
    Numbers perm(static_cast<size_t>(rank));
    std::iota(perm.begin(), perm.end(), 0);
    std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
    return graph.node("Transpose", {graph.plain(graph.in(input))}, {{"perm", perm}});
  };
  const ValueId a = side(0, graph.op().options.adj_x != 0), b = side(1, graph.op().options.adj_y != 0);
  graph.give(0, graph.node("MatMul", {a, b}), false);
}

void raise_blocks(Raising& graph, const char* type) {
  expect_pictures(graph, graph.in(0));
  graph.give(0, graph.node(type, {graph.first(graph.in(0))}, {{"blocksize", int64_t{graph.op().options.block_size}}}),
             true);
}

void raise_arg(Raising& graph, const char* type) {
  const int64_t axis = from_front(graph.axis(1), graph.rank(graph.in(0)));
  ValueId value = graph.node(type, {graph.plain(graph.in(0))}, {{"axis", axis}, {"keepdims", int64_t{0}}});
  const DType type_out = graph.at(graph.out()).dtype;
  if (type_out != DType::kInt64) value = graph.node("Cast", {value}, {{"to", static_cast<int64_t>(type_out)}});
  graph.give(0, value, false);
}

void raise_transpose(Raising& graph) {
  const Numbers perm = graph.numbers(1, "Its order of axes");
  graph.give(0, graph.node("Transpose", {graph.plain(graph.in(0))}, {{"perm", perm}}), false);
}

/// After a function of each place.
void raise_after(Raising& graph, const std::string& type, const std::string& then) {
  const bool in_first = graph.is_first(graph.in(0));
  const ValueId value = graph.node(type, {graph.form(graph.in(0), in_first)});
  graph.give(0, graph.node(then, {value}), in_first);
}

void raise_square(Raising& graph, bool of_difference) {
  const bool in_first = of_difference ? meet_in_first(graph) : graph.is_first(graph.in(0));
  const ValueId value = of_difference ? both(graph, "Sub", in_first) : graph.form(graph.in(0), in_first);
  graph.give(0, graph.node("Mul", {value, value}), in_first);
}

void raise_not_equal(Raising& graph) {
  const bool in_first = meet_in_first(graph);
  graph.give(0, graph.node("Not", {both(graph, "Equal", in_first)}), in_first);
}

void raise_hard_swish(Raising& graph) {
  const bool in_first = graph.is_first(graph.in(0));
  const ValueId value = graph.form(graph.in(0), in_first);
  const ValueId gate = graph.node("HardSigmoid", {value}, {{"alpha", 1.0f / 6}, {"beta", 0.5f}});
  graph.give(0, graph.node("Mul", {value, gate}), in_first);
}

/// x / 2 * (1 + erf(x / sqrt(2))); the approximation by tanh is within 1e-3 of it.
void raise_gelu(Raising& graph) {
  const bool in_first = graph.is_first(graph.in(0));
  const ValueId value = graph.form(graph.in(0), in_first);
  const ValueId erf = graph.node("Erf", {graph.node("Mul", {value, graph.number(0.70710678F)})});
  const ValueId gate = graph.node("Mul", {graph.node("Add", {erf, graph.number(1)}), graph.number(0.5F)});
  graph.give(0, graph.node("Mul", {value, gate}), in_first);
}

void raise_clip(Raising& graph, float low, float high) {
  const bool in_first = graph.is_first(graph.in(0));
  graph.give(0, graph.node("Clip", {graph.form(graph.in(0), in_first), graph.number(low), graph.number(high)}),
             in_first);
}

void raise_shape(Raising& graph) {
  const Dims dims = graph.dims(graph.in(0));
  const Shape shape{static_cast<int64_t>(dims.size())};
  if (graph.at(graph.out()).dtype == DType::kInt64)
    return graph.take_constant(0, Tensor::of<int64_t>(shape, std::span<const int64_t>(dims)));
  const std::vector<int32_t> narrow(dims.begin(), dims.end());
  graph.take_constant(0, Tensor::of<int32_t>(shape, std::span<const int32_t>(narrow)));
}

void raise_dequantize(Raising& graph) {
  const Tensor* data = graph.constant(graph.in(0));
  const NetworkTensor& tensor = graph.at(graph.in(0));
  const auto& [scale, zero_point, dimension] = tensor.quantization;
  const bool is_half = tensor.dtype == DType::kFloat16;
  if (data == nullptr || (!is_half && (scale.empty() || scale.size() != zero_point.size())))
    graph.refuse_quantized(tensor);
  if (is_half) return graph.take_constant(0, *data);
  QuantizationNode grid;
  grid.scales = scale, grid.zero_points = zero_point, grid.axis = dimension;
  graph.take_constant(0, floats_of({*data, grid}));
}

void raise_cast(Raising& graph) {
  const bool in_first = graph.is_first(graph.in(0));
  graph.give(0,
             graph.node("Cast", {graph.form(graph.in(0), in_first)},
                        {{"to", static_cast<int64_t>(graph.at(graph.out()).dtype)}}),
             in_first);
}

void raise_tile(Raising& graph, const char* type) {
  graph.give(0, graph.node(type, {graph.plain(graph.in(0)), graph.list(graph.numbers(1, "Its list of counts"))}),
             false);
}

void raise_where(Raising& graph) {
  graph.give(0, graph.node("Where", {graph.plain(graph.in(0)), graph.plain(graph.in(1)), graph.plain(graph.in(2))}),
             false);
}

/// MediaPipe's: a transposed convolution with a bias, whose options are TensorFlow Lite's in their order in memory.
void raise_custom(Raising& graph) {
  if (graph.op().custom != "Convolution2DTransposeBias")
    refuse("It is an operator of somebody's own, of which nothing is known here.");
  raise_conv_transpose(graph, 0, 2);
}

}  // namespace

void raise_operator(Raising& graph) {
  const Options& options = graph.op().options;
  switch (graph.op().code) {
    case Code::kAdd:
      return raise_binary(graph, "Add");
    case Code::kSub:
      return raise_binary(graph, "Sub");
    case Code::kMul:
      return raise_binary(graph, "Mul");
    case Code::kDiv:
      return raise_binary(graph, "Div");
    case Code::kMaximum:
      return raise_binary(graph, "Max");
    case Code::kMinimum:
      return raise_binary(graph, "Min");
    case Code::kPow:
      return raise_binary(graph, "Pow");
    case Code::kAddN:
      return raise_binary(graph, "Sum");
    case Code::kSquaredDifference:
      return raise_square(graph, true);
    case Code::kSquare:
      return raise_square(graph, false);
    case Code::kLess:
      return raise_binary(graph, "Less");
    case Code::kLessEqual:
      return raise_binary(graph, "LessOrEqual");
    case Code::kGreater:
      return raise_binary(graph, "Greater");
    case Code::kGreaterEqual:
      return raise_binary(graph, "GreaterOrEqual");
    case Code::kEqual:
      return raise_binary(graph, "Equal");
    case Code::kNotEqual:
      return raise_not_equal(graph);
    case Code::kLogicalAnd:
      return raise_binary(graph, "And");
    case Code::kLogicalOr:
      return raise_binary(graph, "Or");
    case Code::kConv2d:
      return raise_conv(graph, false);
    case Code::kDepthwiseConv2d:
      return raise_conv(graph, true);
    case Code::kTransposeConv:
      return raise_conv_transpose(graph, 2, 3);
    case Code::kCustom:
      return raise_custom(graph);
    case Code::kFullyConnected:
      return raise_fully_connected(graph);
    case Code::kAveragePool2d:
      return raise_pool(graph, "AveragePool");
    case Code::kMaxPool2d:
      return raise_pool(graph, "MaxPool");
    case Code::kMean:
      return raise_reduce(graph, "ReduceMean");
    case Code::kSum:
      return raise_reduce(graph, "ReduceSum");
    case Code::kReduceMax:
      return raise_reduce(graph, "ReduceMax");
    case Code::kReduceMin:
      return raise_reduce(graph, "ReduceMin");
    case Code::kReduceProd:
      return raise_reduce(graph, "ReduceProd");
    case Code::kReshape:
    case Code::kSqueeze:
    case Code::kExpandDims:
      return raise_reshape(graph);
    case Code::kShape:
      return raise_shape(graph);
    case Code::kSoftmax:
      return raise_softmax(graph);
    case Code::kLogSoftmax:
      return raise_along_axis(graph, "LogSoftmax");
    case Code::kL2Normalization:
      return raise_along_axis(graph, "LpNormalization", {{"p", int64_t{2}}});
    case Code::kLogistic:
      return raise_unary(graph, "Sigmoid");
    case Code::kTanh:
      return raise_unary(graph, "Tanh");
    case Code::kRelu:
      return raise_unary(graph, "Relu");
    case Code::kRelu6:
      return raise_clip(graph, 0, 6);
    case Code::kReluN1To1:
      return raise_clip(graph, -1, 1);
    case Code::kLeakyRelu:
      return raise_unary(graph, "LeakyRelu", {{"alpha", options.alpha}});
    case Code::kElu:
      return raise_unary(graph, "Elu");
    case Code::kHardSwish:
      return raise_hard_swish(graph);
    case Code::kGelu:
      return raise_gelu(graph);
    case Code::kExp:
      return raise_unary(graph, "Exp");
    case Code::kLog:
      return raise_unary(graph, "Log");
    case Code::kSqrt:
      return raise_unary(graph, "Sqrt");
    case Code::kRsqrt:
      return raise_after(graph, "Sqrt", "Reciprocal");
    case Code::kNeg:
      return raise_unary(graph, "Neg");
    case Code::kAbs:
      return raise_unary(graph, "Abs");
    case Code::kSin:
      return raise_unary(graph, "Sin");
    case Code::kCos:
      return raise_unary(graph, "Cos");
    case Code::kFloor:
      return raise_unary(graph, "Floor");
    case Code::kCeil:
      return raise_unary(graph, "Ceil");
    case Code::kRound:
      return raise_unary(graph, "Round");
    case Code::kLogicalNot:
      return raise_unary(graph, "Not");
    case Code::kPrelu:
      return raise_prelu(graph);
    case Code::kPad:
    case Code::kPadV2:
      return raise_pad(graph, false);
    case Code::kMirrorPad:
      return raise_pad(graph, true);
    case Code::kConcatenation:
      return raise_concatenation(graph);
    case Code::kPack:
      return raise_pack(graph);
    case Code::kUnpack:
      return raise_split(graph, graph.in(0), options.axis, true);
    case Code::kSplit:
      return raise_split(graph, graph.in(1), graph.axis(0), false);
    case Code::kSplitV:
      return raise_split(graph, graph.in(0), graph.axis(2), false);
    case Code::kStridedSlice:
      return raise_strided_slice(graph);
    case Code::kSlice:
      return raise_slice(graph);
    case Code::kGather:
      return raise_gather(graph);
    case Code::kTranspose:
      return raise_transpose(graph);
    case Code::kBatchMatmul:
      return raise_batch_matmul(graph);
    case Code::kResizeBilinear:
      return raise_resize(graph, true);
    case Code::kResizeNearestNeighbor:
      return raise_resize(graph, false);
    case Code::kDepthToSpace:
      return raise_blocks(graph, "DepthToSpace");
    case Code::kSpaceToDepth:
      return raise_blocks(graph, "SpaceToDepth");
    case Code::kArgMax:
      return raise_arg(graph, "ArgMax");
    case Code::kArgMin:
      return raise_arg(graph, "ArgMin");
    case Code::kCast:
      return raise_cast(graph);
    case Code::kTile:
      return raise_tile(graph, "Tile");
    case Code::kBroadcastTo:
      return raise_tile(graph, "Expand");
    case Code::kSelect:
    case Code::kSelectV2:
      return raise_where(graph);
    case Code::kDequantize:
      return raise_dequantize(graph);
    case Code::kQuantize:
      graph.refuse_quantized(graph.at(graph.out()));
    case Code::kUnidirectionalSequenceLstm:
      break;
  }
  refuse("It has no counterpart here.");
}

}  // namespace tersor::tflite
