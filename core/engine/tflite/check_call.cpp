// SPDX-License-Identifier: Apache-2.0
#include "core/tflite/check_call.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "core/base/error.h"
#include "core/tflite/lstm.h"

namespace tersor::tflite {

namespace {

using Sizes = std::vector<int32_t>;

void need(bool met, const char* otherwise) {
  if (!met) throw Error(ErrorCode::kInvalidModel, otherwise);
}

constexpr const char* kShapes = "The shapes of its inputs and output do not fit each other.";

const Sizes& sizes_of(const Argument& argument) {
  return argument.tensor->shape;
}

int64_t count_of(const Sizes& sizes) {
  return Shape(std::vector<int64_t>(sizes.begin(), sizes.end())).elements();
}

/// Codes of 16 bits have the zero point 0.
void need_code(int64_t zero_point, DType dtype) {
  need(dtype == DType::kInt8 ? zero_point >= -128 && zero_point <= 127 : zero_point == 0,
       "A zero point is none of the codes, or not the 0 of int16.");
}

void need_codes(const KernelCall& call, size_t k, DType dtype) {
  need(call.has(k), "It lacks an input.");
  need(is_code(dtype) && call.in(k).tensor->dtype == dtype && call.in(k).value->dtype() == dtype,
       "An input is not of the integers that it has to be of.");
  const Quantization& grid = call.in(k).tensor->quantization;
  need(!grid.scale.empty() && grid.zero_point.size() == grid.scale.size(), "An input of integers has no scale.");
  need_code(grid.zero_point[0], dtype);
}

DType first_type(const KernelCall& call) {
  return call.in(0).tensor->dtype;
}

/// Whole numbers that the operator reads itself.
std::vector<int64_t> need_numbers(const KernelCall& call, size_t k) {
  need(call.has(k), "It lacks an input.");
  need(call.in(k).value->dtype() == DType::kInt32, "An input that has to be int32 is not.");
  return call.in(k).value->to_int64s();
}

void need_picture(const KernelCall& call) {
  const Sizes &x = sizes_of(call.in(0)), &y = call.output.shape;
  need(x.size() == 4 && y.size() == 4 && x[0] == y[0] && count_of(x) > 0, kShapes);
}

void need_steps(const KernelCall& call) {
  const Options& options = call.op.options;
  constexpr int32_t kMost = 1 << 16;
  for (const int32_t step : {options.stride_h, options.stride_w, options.dilation_h, options.dilation_w})
    need(step >= 1 && step <= kMost, "A stride or dilation is not above 0.");
}

/// Weights and bias of operators with output channels.
void need_weights(const KernelCall& call, int32_t channels, size_t bias = 2) {
  need_codes(call, 1, DType::kInt8);
  const size_t scales = call.in(1).tensor->quantization.scale.size();
  need(scales == 1 || scales == static_cast<size_t>(channels), "Its weight has not one scale for each output channel.");
  if (!call.has(bias)) return;
  const DType dtype = call.in(bias).value->dtype();
  const bool wide = call.output.dtype == DType::kInt16;
  // Two kernels on int16 read every bias as int64.
  const bool only_wide = wide && (call.op.code == Code::kDepthwiseConv2d || call.op.code == Code::kTransposeConv);
  need(((dtype == DType::kInt32 && !only_wide) || (dtype == DType::kInt64 && wide)) &&
           call.in(bias).value->elements() == channels,
       "Its bias is not int32, or int64 beside int16, with a value for each output channel.");
}

void check_convolution(const KernelCall& call, bool depthwise) {
  need_picture(call);
  need_steps(call);
  need_codes(call, 1, DType::kInt8);
  const Sizes &x = sizes_of(call.in(0)), &w = sizes_of(call.in(1));
  const int32_t channels = call.output.shape[3];
  need(w.size() == 4 && count_of(w) > 0 && channels > 0, kShapes);
  if (depthwise)
    need(w[0] == 1 && w[3] == channels && channels % x[3] == 0, kShapes);
  else
    need(w[0] == channels && x[3] % w[3] == 0 && channels % (x[3] / w[3]) == 0, kShapes);
  need_weights(call, channels);
}

void check_transposed_convolution(const KernelCall& call) {
  need_numbers(call, 0);
  need_codes(call, 1, DType::kInt8);
  need_codes(call, 2, call.output.dtype);
  need_steps(call);
  const Sizes &x = sizes_of(call.in(2)), &w = sizes_of(call.in(1)), &y = call.output.shape;
  need(x.size() == 4 && w.size() == 4 && y.size() == 4 && x[0] == y[0] && w[0] == y[3] && w[3] == x[3] &&
           count_of(x) > 0 && count_of(w) > 0,
       kShapes);
  need_weights(call, y[3], 3);
}

void check_pairs(const KernelCall& call) {
  for (const size_t k : {size_t{0}, size_t{1}}) {
    need_codes(call, k, first_type(call));
    const Sizes &from = sizes_of(call.in(k)), &to = call.output.shape;
    need(from.size() <= to.size(), kShapes);
    for (size_t back = 1; back <= from.size(); ++back) {
      const int32_t size = from[from.size() - back];
      need(size == 1 || size == to[to.size() - back], kShapes);
    }
  }
}

void check_matrices(const KernelCall& call) {
  need_codes(call, 1, first_type(call));
  const Sizes &a = sizes_of(call.in(0)), &b = sizes_of(call.in(1)), &y = call.output.shape;
  need(a.size() >= 2 && b.size() >= 2 && a.size() <= y.size() && b.size() <= y.size(), kShapes);
  const auto back = [](const Sizes& sizes, size_t k) { return sizes[sizes.size() - k]; };
  const bool swap_a = call.op.options.adj_x != 0, swap_b = call.op.options.adj_y != 0;
  need(back(a, swap_a ? 1 : 2) == back(y, 2) && back(b, swap_b ? 2 : 1) == back(y, 1) &&
           back(a, swap_a ? 2 : 1) == back(b, swap_b ? 1 : 2),
       kShapes);
  for (const Sizes* one : {&a, &b})
    for (size_t k = 3; k <= one->size(); ++k) need(back(*one, k) == 1 || back(*one, k) == back(y, k), kShapes);
}

void check_reduction(const KernelCall& call) {
  const Sizes& x = sizes_of(call.in(0));
  const auto rank = static_cast<int64_t>(x.size());
  std::vector<bool> reduced(x.size());
  for (const int64_t axis : need_numbers(call, 1)) {
    need(axis >= -rank && axis < rank, "An axis is out of range.");
    reduced[static_cast<size_t>(axis < 0 ? axis + rank : axis)] = true;
  }
  int64_t kept = 1;
  for (size_t k = 0; k < x.size(); ++k) kept *= reduced[k] ? 1 : x[k];
  need(count_of(x) > 0 && kept == count_of(call.output.shape), kShapes);
}

void check_transpose(const KernelCall& call) {
  const Sizes &x = sizes_of(call.in(0)), &y = call.output.shape;
  const std::vector<int64_t> perm = need_numbers(call, 1);
  need(perm.size() == x.size() && y.size() == x.size(), kShapes);
  std::vector<bool> seen(x.size());
  for (size_t k = 0; k < perm.size(); ++k) {
    need(perm[k] >= 0 && perm[k] < static_cast<int64_t>(x.size()) && !seen[static_cast<size_t>(perm[k])] &&
             x[static_cast<size_t>(perm[k])] == y[k],
         "It is given no permutation of its axes.");
    seen[static_cast<size_t>(perm[k])] = true;
  }
}

void check_slice(const KernelCall& call) {
  const Options& options = call.op.options;
  const Sizes &x = sizes_of(call.in(0)), &y = call.output.shape;
  need(options.ellipsis_mask == 0 && options.new_axis_mask == 0, "Its masks for new axes are not read here.");
  const std::vector<int64_t> begin = need_numbers(call, 1), step = need_numbers(call, 3);
  need(begin.size() == x.size() && step.size() == x.size() && x.size() < 32, kShapes);
  size_t out = 0;
  for (size_t k = 0; k < x.size(); ++k) {
    int64_t first = begin[k] < 0 ? begin[k] + x[k] : begin[k];
    if ((options.begin_mask >> k & 1) != 0) first = 0;
    first = std::clamp<int64_t>(first, 0, x[k]);
    int64_t last = first;
    if ((options.shrink_axis_mask >> k & 1) == 0) {
      need(out < y.size() && step[k] >= 1, "It steps backwards, or its output has too few axes.");
      if (y[out] == 0) last = -1;
      if (y[out] > 0) last = first + (y[out] - 1) * step[k];
      ++out;
    }
    need(last < x[k], kShapes);
  }
  need(out == y.size(), kShapes);
}

void check_concatenation(const KernelCall& call) {
  const Sizes& y = call.output.shape;
  const auto rank = static_cast<int32_t>(y.size());
  const int32_t axis = call.op.options.axis < 0 ? call.op.options.axis + rank : call.op.options.axis;
  need(axis >= 0 && axis < rank, "Its axis is out of range.");
  int64_t along = 0;
  for (size_t k = 0; k < call.inputs.size(); ++k) {
    need_codes(call, k, first_type(call));
    Sizes part = sizes_of(call.in(k));
    need(part.size() == y.size(), kShapes);
    along += part[static_cast<size_t>(axis)];
    part[static_cast<size_t>(axis)] = y[static_cast<size_t>(axis)];
    need(part == y, kShapes);
  }
  need(along == y[static_cast<size_t>(axis)] && count_of(y) > 0, kShapes);
}

void check_blocks(const KernelCall& call, bool to_space) {
  need_picture(call);
  const int64_t block = call.op.options.block_size;
  const Sizes &wide = to_space ? call.output.shape : sizes_of(call.in(0)),
              &deep = to_space ? sizes_of(call.in(0)) : call.output.shape;
  need(block >= 1 && block < (1 << 15) && wide[1] == deep[1] * block && wide[2] == deep[2] * block &&
           deep[3] == wide[3] * block * block,
       kShapes);
}

void check_arg_max(const KernelCall& call) {
  const Sizes& x = sizes_of(call.in(0));
  const std::vector<int64_t> axis = need_numbers(call, 1);
  const auto rank = static_cast<int64_t>(x.size());
  need(axis.size() == 1 && axis[0] >= -rank && axis[0] < rank && count_of(x) > 0, "Its axis is out of range.");
  const int64_t along = x[static_cast<size_t>(axis[0] < 0 ? axis[0] + rank : axis[0])];
  need(count_of(call.output.shape) * along == count_of(x), kShapes);
}

void check_lstm(const KernelCall& call) {
  const Sizes &x = sizes_of(call.in(0)), &y = call.output.shape;
  need(x.size() == 3 && y.size() == 3 && x[0] == y[0] && x[1] == y[1] && count_of(x) > 0 && count_of(y) > 0, kShapes);
  need(call.op.options.activation == kTanhActivation, "Its activation is not TANH.");
  for (size_t k = 0; k < call.inputs.size(); ++k) {
    const bool has_to_be = k < 9 || (k >= kLstmState && k <= kLstmCell), may_be = k >= 12 && k < 16;
    need(call.has(k) == has_to_be || may_be, "Peepholes, projections and normalization are not run here.");
  }
  need(call.has(kLstmState) && call.has(kLstmCell), "It has no state.");
  for (size_t gate = 0; gate < kLstmGates; ++gate) {
    for (const auto& [first, depth] : {std::pair{kLstmWeights, x[2]}, {kLstmStateWeights, y[2]}}) {
      need_codes(call, first + gate, DType::kInt8);
      need(sizes_of(call.in(first + gate)) == Sizes{y[2], depth}, kShapes);
      need(call.in(first + gate).tensor->quantization.scale.size() == 1, "A weight has several scales.");
    }
    if (const size_t bias = kLstmBiases + gate; call.has(bias))
      need(call.in(bias).value->dtype() == DType::kInt32 && call.in(bias).value->elements() == y[2],
           "A bias is not int32 with a value for each unit.");
  }
  need(call.in(kLstmState).tensor->quantization == call.output.quantization &&
           call.output.quantization.scale.size() == 1,
       "Its output has not the scale of its state.");
  int exponent = 0;
  const Quantization& cell = call.in(kLstmCell).tensor->quantization;
  need(cell.scale.size() == 1 && std::frexp(cell.scale[0], &exponent) == 0.5F && exponent <= 1 && exponent > -24,
       "The scale of its cell is no power of two up to 1.");
  need(!(call.op.options.alpha < 0), "It clips below 0.");
}

}  // namespace

void check_call(const KernelCall& call) {
  need(call.has(0), "It lacks an input.");
  const Code code = call.op.code;
  const bool of_floats = code == Code::kQuantize && call.in(0).tensor->dtype == DType::kFloat32;
  if (!of_floats && code != Code::kReshape && code != Code::kTransposeConv) need_codes(call, 0, first_type(call));
  const Quantization& grid = call.output.quantization;
  need(!is_code(call.output.dtype) || code == Code::kReshape || !grid.scale.empty(),
       "Its output of integers has no scale.");
  if (is_code(call.output.dtype) && !grid.zero_point.empty()) need_code(grid.zero_point[0], call.output.dtype);
  const bool gives_any_code = code == Code::kQuantize || code == Code::kTransposeConv;
  const DType made = code == Code::kDequantize                      ? DType::kFloat32
                     : code == Code::kArgMax                        ? DType::kInt32
                     : code == Code::kReshape                       ? call.in(0).value->dtype()
                     : gives_any_code && is_code(call.output.dtype) ? call.output.dtype
                     : code == Code::kTransposeConv                 ? DType::kInt8
                                                                    : first_type(call);
  need(call.output.dtype == made, "Its output has a type that its kernel does not give.");
  const Sizes &x = sizes_of(call.in(0)), &y = call.output.shape;
  switch (code) {
    case Code::kConv2d:
    case Code::kDepthwiseConv2d:
      return check_convolution(call, code == Code::kDepthwiseConv2d);
    case Code::kTransposeConv:
      return check_transposed_convolution(call);
    case Code::kFullyConnected: {
      need_codes(call, 1, DType::kInt8);
      const Sizes& w = sizes_of(call.in(1));
      need(w.size() == 2 && count_of(w) > 0 && count_of(x) % w[1] == 0 && count_of(y) == count_of(x) / w[1] * w[0],
           kShapes);
      return need_weights(call, w[0]);
    }
    case Code::kBatchMatmul:
      return check_matrices(call);
    case Code::kAveragePool2d:
    case Code::kMaxPool2d:
      need_steps(call);
      need(call.op.options.filter_h >= 1 && call.op.options.filter_w >= 1, "Its window is empty.");
      need_picture(call);
      return need(x[3] == y[3], kShapes);
    case Code::kAdd:
    case Code::kSub:
    case Code::kMul:
    case Code::kMaximum:
    case Code::kMinimum:
    case Code::kPrelu:
      return check_pairs(call);
    case Code::kMean:
    case Code::kReduceMax:
    case Code::kReduceMin:
      return check_reduction(call);
    case Code::kResizeBilinear:
    case Code::kResizeNearestNeighbor:
      need_picture(call);
      return need(x[3] == y[3], kShapes);
    case Code::kPadV2:
      need_codes(call, 2, first_type(call));
      need(call.in(2).value->elements() == 1, "It pads with more than one value.");
      [[fallthrough]];
    case Code::kPad:
      return need(x.size() == y.size() && need_numbers(call, 1).size() == 2 * x.size(), kShapes);
    case Code::kTranspose:
      return check_transpose(call);
    case Code::kStridedSlice:
      return check_slice(call);
    case Code::kConcatenation:
      return check_concatenation(call);
    case Code::kDepthToSpace:
    case Code::kSpaceToDepth:
      return check_blocks(call, code == Code::kDepthToSpace);
    case Code::kArgMax:
      return check_arg_max(call);
    case Code::kUnidirectionalSequenceLstm:
      return check_lstm(call);
    case Code::kSoftmax:
      need(!x.empty() && x.back() > 0 && x.back() < (1 << 16), kShapes);
      [[fallthrough]];
    default:
      return need(count_of(x) == count_of(y), kShapes);
  }
}

}  // namespace tersor::tflite
