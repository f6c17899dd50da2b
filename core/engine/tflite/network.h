// SPDX-License-Identifier: Apache-2.0
// What a .tflite file holds, as values: tensors by index, operators in the order in which they run. Images lie with
// their channels last. The numbers are those of TensorFlow Lite's schema, version 3.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/graph/graph.h"
#include "core/tensor/tensor.h"
#include "core/tflite/axis_order.h"

namespace tersor::tflite {

constexpr uint32_t kSchemaVersion = 3;

enum class Code : int32_t {
  kAdd = 0,
  kAveragePool2d = 1,
  kConcatenation = 2,
  kConv2d = 3,
  kDepthwiseConv2d = 4,
  kDepthToSpace = 5,
  kDequantize = 6,
  kFloor = 8,
  kFullyConnected = 9,
  kL2Normalization = 11,
  kLogistic = 14,
  kMaxPool2d = 17,
  kMul = 18,
  kRelu = 19,
  kReluN1To1 = 20,
  kRelu6 = 21,
  kReshape = 22,
  kResizeBilinear = 23,
  kSoftmax = 25,
  kSpaceToDepth = 26,
  kTanh = 28,
  kCustom = 32,
  kPad = 34,
  kGather = 36,
  kTranspose = 39,
  kMean = 40,
  kSub = 41,
  kDiv = 42,
  kSqueeze = 43,
  kUnidirectionalSequenceLstm = 44,
  kStridedSlice = 45,
  kExp = 47,
  kSplit = 49,
  kLogSoftmax = 50,
  kCast = 53,
  kPrelu = 54,
  kMaximum = 55,
  kArgMax = 56,
  kMinimum = 57,
  kLess = 58,
  kNeg = 59,
  kPadV2 = 60,
  kGreater = 61,
  kGreaterEqual = 62,
  kLessEqual = 63,
  kSelect = 64,
  kSlice = 65,
  kSin = 66,
  kTransposeConv = 67,
  kTile = 69,
  kExpandDims = 70,
  kEqual = 71,
  kNotEqual = 72,
  kLog = 73,
  kSum = 74,
  kSqrt = 75,
  kRsqrt = 76,
  kShape = 77,
  kPow = 78,
  kArgMin = 79,
  kReduceProd = 81,
  kReduceMax = 82,
  kPack = 83,
  kLogicalOr = 84,
  kLogicalAnd = 86,
  kLogicalNot = 87,
  kUnpack = 88,
  kReduceMin = 89,
  kSquare = 92,
  kResizeNearestNeighbor = 97,
  kLeakyRelu = 98,
  kSquaredDifference = 99,
  kMirrorPad = 100,
  kAbs = 101,
  kSplitV = 102,
  kCeil = 104,
  kAddN = 106,
  kCos = 108,
  kElu = 111,
  kQuantize = 114,
  kRound = 116,
  kHardSwish = 117,
  kSelectV2 = 123,
  kBatchMatmul = 126,
  kBroadcastTo = 130,
  kGelu = 150,
};

enum Activation : int32_t {
  kNoActivation = 0,
  kReluActivation = 1,
  kReluN1To1Activation = 2,
  kRelu6Activation = 3,
  kTanhActivation = 4
};
enum Padding : int32_t { kSame = 0, kValid = 1 };

/// The options of all operators; each has those that its OperatorKind lists.
struct Options {
  int32_t activation = kNoActivation;
  int32_t padding = kSame;
  int32_t stride_w = 0, stride_h = 0, dilation_w = 1, dilation_h = 1, depth_multiplier = 0;
  int32_t filter_w = 0, filter_h = 0;
  int32_t axis = 0, batch_dims = 0, mode = 0, block_size = 0, output_type = 0;
  int32_t keep_dims = 0, keep_num_dims = 0, align_corners = 0, half_pixel_centers = 0, adj_x = 0, adj_y = 0;
  int32_t begin_mask = 0, end_mask = 0, ellipsis_mask = 0, new_axis_mask = 0, shrink_axis_mask = 0;
  int32_t time_major = 0;
  float alpha = 0, beta = 0;
  std::vector<int32_t> new_shape;
};

/// A field of an operator's table of options; exactly one of the pointers is set.
struct OptionField {
  int slot = -1;  // -1: no field
  bool is_byte = false;
  int32_t Options::*number = nullptr;
  float Options::*real = nullptr;
  std::vector<int32_t> Options::*list = nullptr;
};

/// What the schema says of an operator.
struct OperatorKind {
  Code code;
  std::string_view name;      // CONV_2D
  std::string_view resolver;  // what adds it to a MicroMutableOpResolver: Conv2D; empty: it is read and not written
  int32_t version;            // the least one that takes int8
  uint8_t options;            // number of the table of options in the union; 0: none
  OptionField fields[7] = {};
};
std::span<const OperatorKind> all_kinds();
/// Null for an operator that is not known here.
const OperatorKind* find_kind(int32_t code);
const OperatorKind& kind_of(Code code);

struct Quantization {
  std::vector<float> scale;         // empty: floats, or integers that are counts
  std::vector<int64_t> zero_point;  // as many
  int32_t dimension = 0;            // the axis of several scales
  bool operator==(const Quantization&) const = default;
};

struct NetworkTensor {
  std::string name;
  std::vector<int32_t> shape;
  DType dtype = DType::kInt8;
  Quantization quantization = {};
  std::optional<Tensor> data = {};  // of a constant
  AxisOrder order = {};             // of the axes of the value that it holds, where that is known
  bool is_variable = false;         // a state: it lives on from run to run, until the interpreter is reset

  Shape full_shape() const { return Shape(std::vector<int64_t>(shape.begin(), shape.end())); }
};

struct Operator {
  Code code;
  std::vector<int32_t> inputs = {};  // -1: absent
  std::vector<int32_t> outputs = {};
  Options options = {};
  std::string custom = {};                  // the name of an operator of somebody's own, which has the code kCustom
  std::vector<int32_t> intermediates = {};  // tensors that say scales inside it
};

struct Network {
  std::string name, description;
  std::vector<NetworkTensor> tensors;
  std::vector<Operator> operators;
  std::vector<int32_t> inputs, outputs;
};

/// Values that stand for real numbers have one of these types, beside floats.
constexpr bool is_code(DType dtype) {
  return dtype == DType::kInt8 || dtype == DType::kInt16;
}

/// A tensor of one of the signed integer types.
Tensor integers(DType dtype, const Shape& shape, std::span<const int64_t> values);

/// An operator gives integers with a scale.
bool is_quantized(const Network& network);

/// The schema's number of an element type. Error kUnsupportedModel for a type that TensorFlow Lite has not.
int8_t type_number(DType dtype);
/// kUndefined for a number that is not known here.
DType type_of_number(int8_t number);

}  // namespace tersor::tflite
