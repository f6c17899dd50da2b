// SPDX-License-Identifier: Apache-2.0
// Operators on elements, along axes, and those that move elements.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/graph/attribute_defaults.h"
#include "core/graph/clamp_bounds.h"
#include "core/ops/resize.h"
#include "core/tensor/rounding.h"
#include "core/tflite/kernels.h"
#include "core/tflite/rules.h"

namespace tersor::tflite {

namespace {

// The grids that TensorFlow Lite's kernels give their results.
Quantization tanh_grid(const Site& site) {
  return {{site.in_16_bits() ? 1.0F / 32768 : 1.0F / 128}, {0}, 0};
}

Quantization unit_grid(const Site& site) {
  return site.in_16_bits() ? tanh_grid(site) : Quantization{{1.0F / 256}, {-128}, 0};
}

Held sorted_operand(Lowering& graph, const Site& site, size_t input = 0) {
  Held held = graph.operand(site, input);
  if (!held.is_jumbled()) return held;
  const Dims& shape = graph.shape_of(site.node.inputs[input]);
  return {graph.in_axis_order(held, shape, plain_order(shape.size())), plain_order(shape.size())};
}

const Quantization& grid_of(Lowering& graph, const Held& held) {
  return graph.at(held.tensor).quantization;
}

int64_t axis_of(int64_t axis, size_t rank) {
  return axis < 0 ? axis + static_cast<int64_t>(rank) : axis;
}

Held lower_identity(Lowering& graph, const Site& site) {
  Held held = graph.operand(site, 0);
  if (site.in_integers) held.tensor = graph.requantize(held.tensor, site.grid, site.dtype, site.name);
  return held;
}

Held lower_unary(Lowering& graph, const Site& site) {
  const Held x = sorted_operand(graph, site);
  Options options;
  const auto is = [&](std::string_view type) { return site.node.op_type == type; };
  if (is("Sigmoid")) return graph.emit_fixed(site, Code::kLogistic, {x.tensor}, x.order, unit_grid(site));
  if (is("Tanh")) return graph.emit_fixed(site, Code::kTanh, {x.tensor}, x.order, tanh_grid(site));
  if (is("HardSwish")) return graph.emit(site, Code::kHardSwish, {x.tensor}, x.order);
  options.alpha = float_of(site.node, "alpha");
  return graph.emit(site, Code::kLeakyRelu, {x.tensor}, x.order, std::move(options));
}

/// A number in the grid of a tensor.
Tensor in_grid(const NetworkTensor& tensor, double value) {
  if (tensor.quantization.scale.empty()) return Tensor::of<float>(Shape{1}, {static_cast<float>(value)});
  const double code =
      round_half_even(value / tensor.quantization.scale[0]) + static_cast<double>(tensor.quantization.zero_point[0]);
  const auto lowest = static_cast<double>(lowest_of(tensor.dtype));
  return integers(tensor.dtype, Shape{1}, std::array{static_cast<int64_t>(std::clamp(code, lowest, -1 - lowest))});
}

Held lower_clamp(Lowering& graph, const Site& site) {
  const auto bounds = clamp_bounds(graph.model().graph, site.node);
  if (!bounds) graph.refuse(site, "Its bounds are no constants.");
  const Held x = sorted_operand(graph, site);
  const bool open = bounds->high >= std::numeric_limits<float>::max();
  if (bounds->low == 0 && open) return graph.emit(site, Code::kRelu, {x.tensor}, x.order);
  const NetworkTensor from = graph.at(x.tensor);
  if (bounds->low == 0 && bounds->high == 6 && !site.in_16_bits())
    return graph.emit_fixed(site, Code::kRelu6, {x.tensor}, x.order, from.quantization);
  int32_t now = x.tensor;
  const auto bound = [&](Code code, double value, const char* name) {
    NetworkTensor output{site.name + name, from.shape, from.dtype, from.quantization};
    const int32_t limit = graph.constant(site.name + name + "_bound", in_grid(from, value), from.quantization);
    now = graph.append(code, {now, limit}, std::move(output));
  };
  if (bounds->low > std::numeric_limits<float>::lowest()) bound(Code::kMaximum, bounds->low, "_low");
  if (!open) bound(Code::kMinimum, bounds->high, "_high");
  return {site.in_integers ? graph.requantize(now, site.grid, site.dtype, site.name) : now, x.order};
}

/// max(0, min(1, alpha x + beta)): a convolution with one weight, which rounds once. Its activation is the bound at 0,
/// and what the grid leaves above 1 is taken away.
Held lower_hard_sigmoid(Lowering& graph, const Site& site) {
  const float alpha = float_of(site.node, "alpha"), beta = float_of(site.node, "beta");
  if (!(alpha > 0)) graph.refuse(site, "Its alpha is not above 0.");
  const Held x = sorted_operand(graph, site);
  const NetworkTensor from = graph.at(x.tensor);
  const Dims own(from.shape.begin(), from.shape.end());
  const int64_t channels = own.empty() ? 1 : own.back();
  Site flat = site;
  flat.name += "_linear";
  int32_t now = x.tensor;
  AxisOrder order = x.order;
  const auto reshaped = [&](const Dims& dims, const std::string& name) {
    NetworkTensor output{name, {dims.begin(), dims.end()}, graph.at(now).dtype, graph.at(now).quantization};
    Options options;
    options.new_shape = output.shape;
    now = graph.append(Code::kReshape, {now, graph.numbers(dims)}, std::move(output), std::move(options));
  };
  if (own.size() != 4) {
    flat.shape = {1, 1, from.full_shape().elements() / std::max<int64_t>(1, channels), channels};
    order = plain_order(4);
    reshaped(flat.shape, site.name + "_picture");
  }
  const Shape taps{1, 1, 1, channels}, of_bias{channels};
  const auto count = static_cast<size_t>(channels);
  Options options;
  options.padding = kValid;
  options.stride_h = options.stride_w = options.depth_multiplier = 1;
  options.activation = kReluActivation;
  int32_t weight = 0, bias = 0;
  if (site.in_integers) {
    constexpr float kHighest = 127;
    const float scale = alpha / kHighest, of_sums = from.quantization.scale[0] * scale;
    const double whole = round_half_even(static_cast<double>(beta) / static_cast<double>(of_sums));
    if (std::fabs(whole) > 1e9) graph.refuse(site, "Its beta does not fit into the sums of 32 bits.");
    const std::vector<int8_t> codes(count, static_cast<int8_t>(kHighest));
    const std::vector<int64_t> sums(count, static_cast<int64_t>(whole));
    weight = graph.constant(site.name + "_weight", Tensor::of<int8_t>(taps, std::span<const int8_t>(codes)),
                            {{scale}, {0}, 3});
    bias =
        graph.constant(site.name + "_bias", integers(site.in_16_bits() ? DType::kInt64 : DType::kInt32, of_bias, sums),
                       {{of_sums}, {0}, 0});
  } else {
    const std::vector<float> slopes(count, alpha), offsets(count, beta);
    weight = graph.constant(site.name + "_weight", Tensor::of<float>(taps, std::span<const float>(slopes)));
    bias = graph.constant(site.name + "_bias", Tensor::of<float>(of_bias, std::span<const float>(offsets)));
  }
  now = graph.emit(flat, Code::kDepthwiseConv2d, {now, weight, bias}, order, std::move(options)).tensor;
  const NetworkTensor made = graph.at(now);
  const auto& grid = site.grid;
  if (!site.in_integers ||
      grid.scale[0] * (static_cast<float>(-1 - lowest_of(site.dtype) - grid.zero_point[0]) - 0.5F) > 1) {
    NetworkTensor output{site.name + "_low", made.shape, made.dtype, made.quantization};
    const int32_t one = graph.constant(site.name + "_one", in_grid(made, 1), made.quantization);
    now = graph.append(Code::kMinimum, {now, one}, std::move(output));
  }
  if (own.size() != 4) reshaped(own, site.name);
  return {now, x.order};
}

Held lower_binary(Lowering& graph, const Site& site) {
  if (site.node.inputs.size() != 2) graph.refuse(site, "It has not two operands.");
  const Dims& shape = graph.result_shape(site);
  AxisOrder order = plain_order(shape.size());
  for (const size_t input : {size_t{1}, size_t{0}}) {
    if (graph.constant_of(site.node.inputs[input]) || graph.shape_of(site.node.inputs[input]).size() != shape.size())
      continue;
    const Held held = graph.operand(site, input);
    if (!held.is_jumbled() && (input == 1 || held.order != plain_order(shape.size()))) order = held.order;
  }
  std::vector<int32_t> operands;
  for (const size_t input : {size_t{0}, size_t{1}}) operands.push_back(graph.spread_operand(site, input, order));
  Options options;
  options.activation = site.activation;
  const auto is = [&](std::string_view type) { return site.node.op_type == type; };
  if (is("Max") || is("Min")) {
    if (site.in_integers)
      for (int32_t& one : operands) one = graph.requantize(one, site.grid, site.dtype, site.name);
    return graph.emit(site, is("Max") ? Code::kMaximum : Code::kMinimum, operands, order);
  }
  const Code code = is("Add") ? Code::kAdd : is("Sub") ? Code::kSub : Code::kMul;
  return graph.emit(site, code, operands, order, std::move(options));
}

Held lower_prelu(Lowering& graph, const Site& site) {
  const Held x = sorted_operand(graph, site);
  return graph.emit(site, Code::kPrelu, {x.tensor, graph.spread_operand(site, 1, x.order)}, x.order);
}

Held lower_softmax(Lowering& graph, const Site& site) {
  const Dims& shape = graph.result_shape(site);
  const int64_t opset = graph.model().opset();
  const int64_t axis = axis_of(int_of(site.node, "axis", opset), shape.size());
  // Before 13 it was taken over all axes from this one on.
  for (size_t k = static_cast<size_t>(axis) + 1; opset < 13 && k < shape.size(); ++k)
    if (shape[k] != 1) graph.refuse(site, "It is taken over several axes.", "Convert the model to operator set 13.");
  const Held x = sorted_operand(graph, site);
  AxisOrder order = x.order;
  std::erase(order, static_cast<int>(axis));
  order.push_back(static_cast<int>(axis));
  Options options;
  options.beta = 1;
  return graph.emit_fixed(site, Code::kSoftmax, {graph.in_axis_order(x, shape, order)}, order, unit_grid(site),
                          std::move(options));
}

Held lower_reduce(Lowering& graph, const Site& site) {
  const Dims& shape = graph.shape_of(site.node.inputs[0]);
  const auto is = [&](std::string_view type) { return site.node.op_type == type; };
  const bool global = is("GlobalAveragePool") || is("GlobalMaxPool");
  Dims axes = site.node.ints_or("axes", {});
  if (const auto given = global ? std::nullopt : graph.numbers_of(site, 1)) axes = *given;
  if (axes.empty())
    for (size_t k = global ? 2 : 0; k < shape.size(); ++k) axes.push_back(static_cast<int64_t>(k));
  if (!global && site.node.int_or("noop_with_empty_axes", 0) != 0) graph.refuse(site, "It may reduce nothing.");
  Options options;
  options.keep_dims = global || int_of(site.node, "keepdims") != 0 ? 1 : 0;
  const Held x = sorted_operand(graph, site);
  std::vector<bool> reduced(shape.size());
  Dims positions;
  for (const int64_t axis : axes) {
    const int64_t counted = axis_of(axis, shape.size());
    reduced[static_cast<size_t>(counted)] = true;
    positions.push_back(position_of(x.order, static_cast<int>(counted)));
  }
  std::sort(positions.begin(), positions.end());
  AxisOrder order;
  for (const int axis : x.order) {
    if (options.keep_dims != 0) order.push_back(axis);
    if (options.keep_dims != 0 || reduced[static_cast<size_t>(axis)]) continue;
    order.push_back(static_cast<int>(std::count(reduced.begin(), reduced.begin() + axis, false)));
  }
  const bool is_mean = is("GlobalAveragePool") || is("ReduceMean");
  const std::vector<int32_t> inputs = {x.tensor, graph.numbers(positions)};
  if (is_mean) return graph.emit(site, Code::kMean, inputs, order, std::move(options));
  return graph.emit_fixed(site, is("ReduceMin") ? Code::kReduceMin : Code::kReduceMax, inputs, order, grid_of(graph, x),
                          std::move(options));
}

Held lower_arg_max(Lowering& graph, const Site& given) {
  Site site = given;
  const Dims shape = graph.shape_of(site.node.inputs[0]);
  const Dims own = graph.result_shape(site);
  const int64_t axis = axis_of(int_of(site.node, "axis"), shape.size());
  if (site.node.int_or("select_last_index", 0) != 0) graph.refuse(site, "TensorFlow Lite's ARG_MAX takes the first.");
  const int32_t x = graph.operand_in(site, 0, plain_order(shape.size()));
  site.shape = shape;
  site.shape.erase(site.shape.begin() + axis);
  site.dtype = DType::kInt32;
  Options options;
  options.output_type = type_number(DType::kInt32);
  const int32_t at = graph.constant(site.name + "_axis", Tensor::scalar<int32_t>(static_cast<int32_t>(axis)));
  const Held made = graph.emit(site, Code::kArgMax, {x, at}, plain_order(site.shape.size()), std::move(options));
  return graph.reshape(made, site.shape, own, site.name);
}

Held lower_transpose(Lowering& graph, const Site& site) {
  Held held = sorted_operand(graph, site);
  const Dims& shape = graph.shape_of(site.node.inputs[0]);
  AxisOrder reversed = plain_order(shape.size());
  std::reverse(reversed.begin(), reversed.end());
  const Dims perm = site.node.ints_or("perm", {reversed.begin(), reversed.end()});
  for (int& axis : held.order) axis = static_cast<int>(std::find(perm.begin(), perm.end(), axis) - perm.begin());
  if (site.in_integers) held.tensor = graph.requantize(held.tensor, site.grid, site.dtype, site.name);
  return held;
}

Held lower_reshape(Lowering& graph, const Site& site) {
  Held held =
      graph.reshape(graph.operand(site, 0), graph.shape_of(site.node.inputs[0]), graph.result_shape(site), site.name);
  if (site.in_integers) held.tensor = graph.requantize(held.tensor, site.grid, site.dtype, site.name);
  return held;
}

Held lower_concat(Lowering& graph, const Site& site) {
  const Dims& shape = graph.result_shape(site);
  const auto axis = static_cast<int>(axis_of(int_of(site.node, "axis", graph.model().opset()), shape.size()));
  AxisOrder order = plain_order(shape.size());
  for (size_t k = site.node.inputs.size(); k-- > 0;) {
    if (graph.constant_of(site.node.inputs[k])) continue;
    const Held held = graph.operand(site, k);
    if (!held.is_jumbled()) order = held.order;
  }
  std::vector<int32_t> parts;
  for (size_t k = 0; k < site.node.inputs.size(); ++k) {
    int32_t part = graph.spread_operand(site, k, order);
    if (site.in_integers) part = graph.requantize(part, site.grid, site.dtype, graph.at(part).name);
    parts.push_back(part);
  }
  Options options;
  options.axis = position_of(order, axis);
  constexpr size_t kMost = 10;  // inputs of one operator, in TensorFlow Lite Micro
  while (parts.size() > kMost) {
    NetworkTensor joined{site.name + "_part", graph.at(parts[0]).shape, site.dtype, site.grid};
    int32_t& size = joined.shape[static_cast<size_t>(options.axis)];
    for (size_t k = 1; k < kMost; ++k) size += graph.at(parts[k]).shape[static_cast<size_t>(options.axis)];
    const std::vector<int32_t> first(parts.begin(), parts.begin() + kMost);
    parts.erase(parts.begin() + 1, parts.begin() + kMost);
    parts[0] = graph.append(Code::kConcatenation, first, std::move(joined), options);
  }
  return graph.emit(site, Code::kConcatenation, parts, order, std::move(options));
}

/// A part of a tensor: for each axis where it begins and ends, and the step.
Held strided_slice(Lowering& graph, const Site& site, const Held& x, const Dims& begin, const Dims& end,
                   const Dims& step) {
  const auto ordered = [&](const Dims& list) { return graph.numbers(in_order(list, x.order)); };
  return graph.emit_fixed(site, Code::kStridedSlice, {x.tensor, ordered(begin), ordered(end), ordered(step)}, x.order,
                          grid_of(graph, x));
}

Held lower_slice(Lowering& graph, const Site& site) {
  const Dims& shape = graph.shape_of(site.node.inputs[0]);
  const auto starts = graph.numbers_of(site, 1), ends = graph.numbers_of(site, 2), steps = graph.numbers_of(site, 4);
  const auto named = graph.numbers_of(site, 3);
  if (!starts || !ends)
    graph.refuse(site, "It has no constant starts and ends.", "Convert the model to operator set 13.");
  Dims begin(shape.size(), 0), end = shape, step(shape.size(), 1);
  for (size_t k = 0; k < starts->size(); ++k) {
    const auto axis = static_cast<size_t>(axis_of(named ? (*named)[k] : static_cast<int64_t>(k), shape.size()));
    const int64_t size = shape[axis];
    const auto inside = [&](int64_t place) { return std::clamp<int64_t>(place < 0 ? place + size : place, 0, size); };
    begin[axis] = inside((*starts)[k]);
    end[axis] = inside((*ends)[k]);
    step[axis] = steps ? (*steps)[k] : 1;
    if (step[axis] < 1) graph.refuse(site, "It steps backwards.");
  }
  return strided_slice(graph, site, sorted_operand(graph, site), begin, end, step);
}

Held lower_split(Lowering& graph, const Site& site) {
  const Dims& shape = graph.shape_of(site.node.inputs[0]);
  const auto axis = static_cast<size_t>(axis_of(int_of(site.node, "axis"), shape.size()));
  Dims begin(shape.size(), 0), end = shape;
  for (size_t k = 0; k < site.output; ++k) begin[axis] += graph.shape_of(site.node.outputs[k])[axis];
  end[axis] = begin[axis] + graph.result_shape(site)[axis];
  return strided_slice(graph, site, sorted_operand(graph, site), begin, end, Dims(shape.size(), 1));
}

Held lower_pad(Lowering& graph, const Site& site) {
  if (string_of(site.node, "mode") != "constant") graph.refuse(site, "It pads with what is there already.");
  const Dims& shape = graph.shape_of(site.node.inputs[0]);
  Dims pads = site.node.ints_or("pads", {});
  if (const auto given = graph.numbers_of(site, 1)) pads = *given;
  Dims axes;
  if (const auto given = graph.numbers_of(site, 3)) axes = *given;
  if (axes.empty())
    for (size_t k = 0; k < shape.size(); ++k) axes.push_back(static_cast<int64_t>(k));
  double value = 0;
  if (site.node.inputs.size() > 2 && site.node.inputs[2].valid()) {
    const auto given = graph.constant_of(site.node.inputs[2]);
    if (!given) graph.refuse(site, "What it pads with is no constant.");
    value = given->tensor.to_doubles()[0];
    if (given->quantized)
      value = (value - static_cast<double>(given->quantized->zero_points[0])) * given->quantized->scales[0];
  }
  const Held x = sorted_operand(graph, site);
  std::vector<int32_t> list(2 * shape.size(), 0);
  for (size_t k = 0; k < axes.size(); ++k) {
    const auto at = static_cast<size_t>(position_of(x.order, static_cast<int>(axis_of(axes[k], shape.size()))));
    list[2 * at] = static_cast<int32_t>(pads[k]);
    list[2 * at + 1] = static_cast<int32_t>(pads[k + axes.size()]);
  }
  for (const int32_t one : list)
    if (one < 0) graph.refuse(site, "It cuts off, which is no padding in TensorFlow Lite.");
  const Shape form{static_cast<int64_t>(shape.size()), 2};
  std::vector<int32_t> inputs = {
      x.tensor, graph.constant(site.name + "_pads", Tensor::of<int32_t>(form, std::span<const int32_t>(list)))};
  const NetworkTensor from = graph.at(x.tensor);
  if (value != 0) inputs.push_back(graph.constant(site.name + "_filler", in_grid(from, value), from.quantization));
  return graph.emit_fixed(site, value != 0 ? Code::kPadV2 : Code::kPad, inputs, x.order, from.quantization);
}

Held lower_resize(Lowering& graph, const Site& site) {
  const Dims &from = graph.shape_of(site.node.inputs[0]), &to = graph.result_shape(site);
  if (from.size() != 4 || from[0] != to[0] || from[1] != to[1])
    graph.refuse(site, "TensorFlow Lite resizes the height and width of a picture alone.");
  const std::string mode = string_of(site.node, "mode");
  ops::Resampling resampling;
  resampling.coordinates = string_of(site.node, "coordinate_transformation_mode");
  resampling.nearest = string_of(site.node, "nearest_mode");
  const bool linear = mode == "linear";
  if ((mode != "nearest" && !linear) || site.node.int_or("antialias", 0) != 0)
    graph.refuse(site, "TensorFlow Lite resizes by nearest neighbours or linearly.");
  if (linear) resampling.filter = ops::Resampling::Filter::kLinear;
  Options options;
  const bool one_place = to[2] == 1 || to[3] == 1;
  const std::string& coordinates = resampling.coordinates;
  if (coordinates == "align_corners")
    options.align_corners = 1;
  else if (coordinates == "half_pixel" || (coordinates == "pytorch_half_pixel" && !one_place))
    options.half_pixel_centers = 1;
  else if (coordinates != "asymmetric")
    graph.refuse(site, "TensorFlow Lite does not place pixels by " + coordinates + ".");
  for (size_t axis = 2; axis < 4; ++axis) {
    const ops::ResampledAxis sizes{from[axis], to[axis],
                                   static_cast<double>(to[axis]) / static_cast<double>(from[axis])};
    const ops::Taps taps = ops::taps_of(resampling, sizes);
    for (int64_t out = 0; !linear && out < to[axis]; ++out)
      if (taps.places[static_cast<size_t>(out)] != nearest_place(out, from[axis], to[axis], options))
        graph.refuse(site, "Its nearest neighbours are others than TensorFlow Lite's.",
                     "Integer factors, or coordinate_transformation_mode=asymmetric with nearest_mode=floor, agree.");
  }
  const int32_t x = graph.operand_in(site, 0, channels_last(4));
  return graph.emit_fixed(site, linear ? Code::kResizeBilinear : Code::kResizeNearestNeighbor,
                          {x, graph.numbers({to[2], to[3]})}, channels_last(4), graph.at(x).quantization,
                          std::move(options));
}

Held lower_depth_space(Lowering& graph, const Site& site) {
  const bool to_space = site.node.is("DepthToSpace");
  if (to_space && string_of(site.node, "mode") != "DCR") graph.refuse(site, "TensorFlow Lite has its mode DCR alone.");
  Options options;
  options.block_size = static_cast<int32_t>(site.node.int_or("blocksize", 1));
  const int32_t x = graph.operand_in(site, 0, channels_last(4));
  return graph.emit_fixed(site, to_space ? Code::kDepthToSpace : Code::kSpaceToDepth, {x}, channels_last(4),
                          graph.at(x).quantization, std::move(options));
}

constexpr Rule kRules[] = {{"Add", lower_binary, true},
                           {"ArgMax", lower_arg_max, false, true},
                           {"AveragePool", lower_pool, true},
                           {"Clip", lower_clamp},
                           {"Concat", lower_concat},
                           {"Conv", lower_conv, true},
                           {"ConvTranspose", lower_conv_transpose, true},
                           {"DepthToSpace", lower_depth_space},
                           {"Dropout", lower_identity},
                           {"Flatten", lower_reshape},
                           {"Gemm", lower_gemm, true},
                           {"GlobalAveragePool", lower_reduce},
                           {"GlobalMaxPool", lower_reduce},
                           {"HardSigmoid", lower_hard_sigmoid},
                           {"HardSwish", lower_unary},
                           {"Identity", lower_identity},
                           {"LSTM", lower_lstm},
                           {"LeakyRelu", lower_unary},
                           {"MatMul", lower_matmul},
                           {"Max", lower_binary},
                           {"MaxPool", lower_pool, true},
                           {"Min", lower_binary},
                           {"Mul", lower_binary, true},
                           {"PRelu", lower_prelu},
                           {"Pad", lower_pad},
                           {"ReduceMax", lower_reduce},
                           {"ReduceMean", lower_reduce},
                           {"ReduceMin", lower_reduce},
                           {"Relu", lower_clamp},
                           {"Reshape", lower_reshape},
                           {"Resize", lower_resize},
                           {"Sigmoid", lower_unary},
                           {"Slice", lower_slice},
                           {"Softmax", lower_softmax},
                           {"SpaceToDepth", lower_depth_space},
                           {"Split", lower_split},
                           {"Squeeze", lower_reshape},
                           {"Sub", lower_binary, true},
                           {"Tanh", lower_unary},
                           {"Transpose", lower_transpose},
                           {"Unsqueeze", lower_reshape}};

}  // namespace

const Rule* find_rule(const Node& node) {
  const auto* found =
      std::find_if(std::begin(kRules), std::end(kRules), [&](const Rule& rule) { return node.is(rule.type); });
  return found == std::end(kRules) ? nullptr : found;
}

}  // namespace tersor::tflite
