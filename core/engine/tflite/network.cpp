// SPDX-License-Identifier: Apache-2.0
#include "core/tflite/network.h"

#include <algorithm>
#include <utility>

#include "core/base/error.h"

namespace tersor::tflite {

namespace {

using O = Options;

constexpr OptionField byte(int slot, int32_t O::*number) {
  return {slot, true, number};
}
constexpr OptionField number(int slot, int32_t O::*number) {
  return {slot, false, number};
}
constexpr OptionField real(int slot, float O::*real) {
  return {slot, false, nullptr, real};
}
constexpr OptionField list(int slot, std::vector<int32_t> O::*list) {
  return {slot, false, nullptr, nullptr, list};
}

/// Of float files; files that are written here do not have it.
constexpr OperatorKind read_only(Code code, std::string_view name, OptionField first = {}, OptionField second = {}) {
  return {code, name, {}, 0, 0, {first, second}};
}

constexpr OperatorKind kKinds[] = {
    {Code::kAdd, "ADD", "Add", 2, 11, {byte(0, &O::activation)}},
    {Code::kAveragePool2d,
     "AVERAGE_POOL_2D",
     "AveragePool2D",
     2,
     5,
     {byte(0, &O::padding), number(1, &O::stride_w), number(2, &O::stride_h), number(3, &O::filter_w),
      number(4, &O::filter_h), byte(5, &O::activation)}},
    {Code::kConcatenation, "CONCATENATION", "Concatenation", 2, 10, {number(0, &O::axis), byte(1, &O::activation)}},
    {Code::kConv2d,
     "CONV_2D",
     "Conv2D",
     3,
     1,
     {byte(0, &O::padding), number(1, &O::stride_w), number(2, &O::stride_h), byte(3, &O::activation),
      number(4, &O::dilation_w), number(5, &O::dilation_h)}},
    {Code::kDepthwiseConv2d,
     "DEPTHWISE_CONV_2D",
     "DepthwiseConv2D",
     3,
     2,
     {byte(0, &O::padding), number(1, &O::stride_w), number(2, &O::stride_h), number(3, &O::depth_multiplier),
      byte(4, &O::activation), number(5, &O::dilation_w), number(6, &O::dilation_h)}},
    {Code::kDepthToSpace, "DEPTH_TO_SPACE", "DepthToSpace", 1, 94, {number(0, &O::block_size)}},
    {Code::kDequantize, "DEQUANTIZE", "Dequantize", 2, 38},
    {Code::kFullyConnected,
     "FULLY_CONNECTED",
     "FullyConnected",
     4,
     8,
     {byte(0, &O::activation), byte(2, &O::keep_num_dims)}},
    {Code::kLogistic, "LOGISTIC", "Logistic", 2, 0},
    {Code::kMaxPool2d,
     "MAX_POOL_2D",
     "MaxPool2D",
     2,
     5,
     {byte(0, &O::padding), number(1, &O::stride_w), number(2, &O::stride_h), number(3, &O::filter_w),
      number(4, &O::filter_h), byte(5, &O::activation)}},
    {Code::kMul, "MUL", "Mul", 2, 21, {byte(0, &O::activation)}},
    {Code::kRelu, "RELU", "Relu", 2, 0},
    {Code::kRelu6, "RELU6", "Relu6", 2, 0},
    {Code::kReshape, "RESHAPE", "Reshape", 1, 17, {list(0, &O::new_shape)}},
    {Code::kResizeBilinear,
     "RESIZE_BILINEAR",
     "ResizeBilinear",
     3,
     15,
     {byte(2, &O::align_corners), byte(3, &O::half_pixel_centers)}},
    {Code::kSoftmax, "SOFTMAX", "Softmax", 2, 9, {real(0, &O::beta)}},
    {Code::kSpaceToDepth, "SPACE_TO_DEPTH", "SpaceToDepth", 2, 19, {number(0, &O::block_size)}},
    {Code::kTanh, "TANH", "Tanh", 2, 0},
    {Code::kPad, "PAD", "Pad", 2, 22},
    {Code::kTranspose, "TRANSPOSE", "Transpose", 2, 26},
    {Code::kMean, "MEAN", "Mean", 2, 27, {byte(0, &O::keep_dims)}},
    {Code::kSub, "SUB", "Sub", 2, 28, {byte(0, &O::activation)}},
    {Code::kStridedSlice,
     "STRIDED_SLICE",
     "StridedSlice",
     2,
     32,
     {number(0, &O::begin_mask), number(1, &O::end_mask), number(2, &O::ellipsis_mask), number(3, &O::new_axis_mask),
      number(4, &O::shrink_axis_mask)}},
    {Code::kPrelu, "PRELU", "Prelu", 1, 0},
    {Code::kMaximum, "MAXIMUM", "Maximum", 2, 39},
    {Code::kArgMax, "ARG_MAX", "ArgMax", 2, 40, {byte(0, &O::output_type)}},
    {Code::kMinimum, "MINIMUM", "Minimum", 2, 39},
    {Code::kPadV2, "PADV2", "PadV2", 2, 43},
    {Code::kTransposeConv,
     "TRANSPOSE_CONV",
     "TransposeConv",
     4,
     49,
     {byte(0, &O::padding), number(1, &O::stride_w), number(2, &O::stride_h), byte(3, &O::activation)}},
    {Code::kReduceMax, "REDUCE_MAX", "ReduceMax", 2, 27, {byte(0, &O::keep_dims)}},
    {Code::kReduceMin, "REDUCE_MIN", "ReduceMin", 2, 27, {byte(0, &O::keep_dims)}},
    {Code::kResizeNearestNeighbor,
     "RESIZE_NEAREST_NEIGHBOR",
     "ResizeNearestNeighbor",
     3,
     74,
     {byte(0, &O::align_corners), byte(1, &O::half_pixel_centers)}},
    {Code::kLeakyRelu, "LEAKY_RELU", "LeakyRelu", 2, 75, {real(0, &O::alpha)}},
    {Code::kQuantize, "QUANTIZE", "Quantize", 1, 89},
    {Code::kHardSwish, "HARD_SWISH", "HardSwish", 1, 91},
    {Code::kUnidirectionalSequenceLstm,
     "UNIDIRECTIONAL_SEQUENCE_LSTM",
     "UnidirectionalSequenceLSTM",
     3,
     71,
     {byte(0, &O::activation), real(1, &O::alpha), byte(3, &O::time_major)}},
    {Code::kBatchMatmul, "BATCH_MATMUL", "BatchMatMul", 2, 101, {byte(0, &O::adj_x), byte(1, &O::adj_y)}},
    read_only(Code::kFloor, "FLOOR"),
    read_only(Code::kReluN1To1, "RELU_N1_TO_1"),
    read_only(Code::kExp, "EXP"),
    read_only(Code::kLogSoftmax, "LOG_SOFTMAX"),
    read_only(Code::kCast, "CAST"),
    read_only(Code::kLess, "LESS"),
    read_only(Code::kNeg, "NEG"),
    read_only(Code::kGreater, "GREATER"),
    read_only(Code::kGreaterEqual, "GREATER_EQUAL"),
    read_only(Code::kLessEqual, "LESS_EQUAL"),
    read_only(Code::kSelect, "SELECT"),
    read_only(Code::kSlice, "SLICE"),
    read_only(Code::kSin, "SIN"),
    read_only(Code::kTile, "TILE"),
    read_only(Code::kExpandDims, "EXPAND_DIMS"),
    read_only(Code::kEqual, "EQUAL"),
    read_only(Code::kNotEqual, "NOT_EQUAL"),
    read_only(Code::kLog, "LOG"),
    read_only(Code::kSqrt, "SQRT"),
    read_only(Code::kRsqrt, "RSQRT"),
    read_only(Code::kShape, "SHAPE"),
    read_only(Code::kPow, "POW"),
    read_only(Code::kLogicalOr, "LOGICAL_OR"),
    read_only(Code::kLogicalAnd, "LOGICAL_AND"),
    read_only(Code::kLogicalNot, "LOGICAL_NOT"),
    read_only(Code::kSquaredDifference, "SQUARED_DIFFERENCE"),
    read_only(Code::kAbs, "ABS"),
    read_only(Code::kSplit, "SPLIT"),
    read_only(Code::kSplitV, "SPLIT_V"),
    read_only(Code::kCeil, "CEIL"),
    read_only(Code::kAddN, "ADD_N"),
    read_only(Code::kCos, "COS"),
    read_only(Code::kElu, "ELU"),
    read_only(Code::kRound, "ROUND"),
    read_only(Code::kSelectV2, "SELECT_V2"),
    read_only(Code::kBroadcastTo, "BROADCAST_TO"),
    read_only(Code::kGelu, "GELU"),
    read_only(Code::kSquare, "SQUARE"),
    read_only(Code::kSqueeze, "SQUEEZE"),
    read_only(Code::kCustom, "CUSTOM"),
    read_only(Code::kL2Normalization, "L2_NORMALIZATION", byte(0, &O::activation)),
    read_only(Code::kGather, "GATHER", number(0, &O::axis), number(1, &O::batch_dims)),
    read_only(Code::kDiv, "DIV", byte(0, &O::activation)),
    read_only(Code::kSum, "SUM", byte(0, &O::keep_dims)),
    read_only(Code::kReduceProd, "REDUCE_PROD", byte(0, &O::keep_dims)),
    read_only(Code::kArgMin, "ARG_MIN"),
    read_only(Code::kPack, "PACK", number(1, &O::axis)),
    read_only(Code::kUnpack, "UNPACK", number(1, &O::axis)),
    read_only(Code::kMirrorPad, "MIRROR_PAD", byte(0, &O::mode)),
};

constexpr std::pair<DType, int8_t> kTypes[] = {{DType::kFloat32, 0}, {DType::kFloat16, 1}, {DType::kInt32, 2},
                                               {DType::kUint8, 3},   {DType::kInt64, 4},   {DType::kBool, 6},
                                               {DType::kInt16, 7},   {DType::kInt8, 9}};

}  // namespace

std::span<const OperatorKind> all_kinds() {
  return kKinds;
}

const OperatorKind* find_kind(int32_t code) {
  const auto* found = std::find_if(std::begin(kKinds), std::end(kKinds),
                                   [&](const OperatorKind& kind) { return static_cast<int32_t>(kind.code) == code; });
  return found == std::end(kKinds) ? nullptr : found;
}

const OperatorKind& kind_of(Code code) {
  const OperatorKind* found = find_kind(static_cast<int32_t>(code));
  TERSOR_CHECK(found != nullptr);
  return *found;
}

bool is_quantized(const Network& network) {
  for (const Operator& op : network.operators)
    for (const int32_t output : op.outputs) {
      const NetworkTensor& tensor = network.tensors[static_cast<size_t>(output)];
      if (is_integer(tensor.dtype) && !tensor.quantization.scale.empty()) return true;
    }
  return false;
}

Tensor integers(DType dtype, const Shape& shape, std::span<const int64_t> values) {
  const auto as = [&](auto type) {
    const std::vector<decltype(type)> narrow(values.begin(), values.end());
    return Tensor::of<decltype(type)>(shape, std::span<const decltype(type)>(narrow));
  };
  switch (dtype) {
    case DType::kInt8:
      return as(int8_t{});
    case DType::kInt16:
      return as(int16_t{});
    case DType::kInt32:
      return as(int32_t{});
    default:
      return as(int64_t{});
  }
}

int8_t type_number(DType dtype) {
  for (const auto& [type, number] : kTypes)
    if (type == dtype) return number;
  throw Error(ErrorCode::kUnsupportedModel,
              "TensorFlow Lite has no tensors of the type " + std::string(name_of(dtype)) + ".");
}

DType type_of_number(int8_t number) {
  for (const auto& [type, known] : kTypes)
    if (known == number) return type;
  return DType::kUndefined;
}

}  // namespace tersor::tflite
