// SPDX-License-Identifier: Apache-2.0
#include "core/graph/attribute_defaults.h"

#include <algorithm>
#include <iterator>
#include <limits>

#include "core/base/error.h"

namespace tersor {

namespace {

using namespace std::string_view_literals;

constexpr int64_t kAlways = std::numeric_limits<int64_t>::max();

struct AttributeDefault {
  std::string_view type;
  std::string_view name;
  DefaultValue value;
  int64_t before = kAlways;  // operator sets that it holds for
};

// Sorted by operator, then by attribute; of two for the same, that of older operator sets first.
constexpr AttributeDefault kDefaults[] = {
    {"Add", "broadcast", 0},
    {"AffineGrid", "align_corners", 0},
    {"And", "broadcast", 0},
    {"ArgMax", "axis", 0},
    {"ArgMax", "keepdims", 1},
    {"ArgMax", "select_last_index", 0},
    {"ArgMin", "axis", 0},
    {"ArgMin", "keepdims", 1},
    {"ArgMin", "select_last_index", 0},
    {"Attention", "is_causal", 0},
    {"Attention", "left_window_size", -1},
    {"Attention", "qk_matmul_output_mode", 0},
    {"Attention", "right_window_size", -1},
    {"Attention", "softcap", 0.0f},
    {"AveragePool", "auto_pad", "NOTSET"sv},
    {"AveragePool", "ceil_mode", 0},
    {"AveragePool", "count_include_pad", 0},
    {"BatchNormalization", "epsilon", 1e-05f},
    {"BatchNormalization", "is_test", 0},
    {"BatchNormalization", "momentum", 0.9f},
    {"BatchNormalization", "spatial", 1},
    {"BatchNormalization", "training_mode", 0},
    {"BlackmanWindow", "output_datatype", 1},
    {"BlackmanWindow", "periodic", 1},
    {"Cast", "round_mode", "up"sv},
    {"Cast", "saturate", 1},
    {"CastLike", "round_mode", "up"sv},
    {"CastLike", "saturate", 1},
    {"CausalConvWithState", "activation", "none"sv},
    {"Celu", "alpha", 1.0f},
    {"ConcatFromSequence", "new_axis", 0},
    {"Conv", "auto_pad", "NOTSET"sv},
    {"Conv", "group", 1},
    {"ConvInteger", "auto_pad", "NOTSET"sv},
    {"ConvInteger", "group", 1},
    {"ConvTranspose", "auto_pad", "NOTSET"sv},
    {"ConvTranspose", "group", 1},
    {"CumProd", "exclusive", 0},
    {"CumProd", "reverse", 0},
    {"CumSum", "exclusive", 0},
    {"CumSum", "reverse", 0},
    {"DFT", "axis", 1},
    {"DFT", "inverse", 0},
    {"DFT", "onesided", 0},
    {"DeformConv", "group", 1},
    {"DeformConv", "offset_group", 1},
    {"DepthToSpace", "mode", "DCR"sv},
    {"DequantizeLinear", "axis", 1},
    {"DequantizeLinear", "block_size", 0},
    {"DequantizeLinear", "output_dtype", 0},
    {"Div", "broadcast", 0},
    {"Dropout", "is_test", 0},
    {"Dropout", "ratio", 0.5f},
    {"Elu", "alpha", 1.0f},
    {"Equal", "broadcast", 0},
    {"EyeLike", "k", 0},
    {"Flatten", "axis", 1},
    {"GRU", "direction", "forward"sv},
    {"GRU", "layout", 0},
    {"GRU", "linear_before_reset", 0},
    {"GRU", "output_sequence", 0},
    {"Gather", "axis", 0},
    {"GatherElements", "axis", 0},
    {"GatherND", "batch_dims", 0},
    {"Gelu", "approximate", "none"sv},
    {"Gemm", "alpha", 1.0f},
    {"Gemm", "beta", 1.0f},
    {"Gemm", "broadcast", 0},
    {"Gemm", "transA", 0},
    {"Gemm", "transB", 0},
    {"GlobalLpPool", "p", 2},
    {"Greater", "broadcast", 0},
    {"GridSample", "align_corners", 0},
    {"GridSample", "mode", "linear"sv},
    {"GridSample", "padding_mode", "zeros"sv},
    {"GroupNormalization", "epsilon", 1e-05f},
    {"GroupNormalization", "stash_type", 1},
    {"HammingWindow", "output_datatype", 1},
    {"HammingWindow", "periodic", 1},
    {"HannWindow", "output_datatype", 1},
    {"HannWindow", "periodic", 1},
    {"HardSigmoid", "alpha", 0.2f},
    {"HardSigmoid", "beta", 0.5f},
    {"Hardmax", "axis", 1, 13},
    {"Hardmax", "axis", -1},
    {"ImageDecoder", "pixel_format", "RGB"sv},
    {"InstanceNormalization", "epsilon", 1e-05f},
    {"IsInf", "detect_negative", 1},
    {"IsInf", "detect_positive", 1},
    {"LRN", "alpha", 0.0001f},
    {"LRN", "beta", 0.75f},
    {"LRN", "bias", 1.0f},
    {"LSTM", "direction", "forward"sv},
    {"LSTM", "input_forget", 0},
    {"LSTM", "layout", 0},
    {"LSTM", "output_sequence", 0},
    {"LayerNormalization", "axis", -1},
    {"LayerNormalization", "epsilon", 1e-05f},
    {"LayerNormalization", "stash_type", 1},
    {"LeakyRelu", "alpha", 0.01f},
    {"Less", "broadcast", 0},
    {"LinearAttention", "chunk_size", 64},
    {"LinearAttention", "scale", 0.0f},
    {"LinearAttention", "update_rule", "gated_delta"sv},
    {"LogSoftmax", "axis", 1, 13},
    {"LogSoftmax", "axis", -1},
    {"LpNormalization", "axis", -1},
    {"LpNormalization", "p", 2},
    {"LpPool", "auto_pad", "NOTSET"sv},
    {"LpPool", "ceil_mode", 0},
    {"LpPool", "p", 2},
    {"MaxPool", "auto_pad", "NOTSET"sv},
    {"MaxPool", "ceil_mode", 0},
    {"MaxPool", "storage_order", 0},
    {"MaxRoiPool", "spatial_scale", 1.0f},
    {"MelWeightMatrix", "output_datatype", 1},
    {"Mod", "fmod", 0},
    {"Mul", "broadcast", 0},
    {"Multinomial", "dtype", 6},
    {"Multinomial", "sample_size", 1},
    {"NegativeLogLikelihoodLoss", "reduction", "mean"sv},
    {"NonMaxSuppression", "center_point_box", 0},
    {"OneHot", "axis", -1},
    {"Or", "broadcast", 0},
    {"Pad", "mode", "constant"sv},
    {"Pad", "value", 0.0f},
    {"Pow", "broadcast", 0},
    {"QLinearConv", "auto_pad", "NOTSET"sv},
    {"QLinearConv", "group", 1},
    {"QuantizeLinear", "axis", 1},
    {"QuantizeLinear", "block_size", 0},
    {"QuantizeLinear", "output_dtype", 0},
    {"QuantizeLinear", "precision", 0},
    {"QuantizeLinear", "saturate", 1},
    {"RMSNormalization", "axis", -1},
    {"RMSNormalization", "epsilon", 1e-05f},
    {"RMSNormalization", "stash_type", 1},
    {"RNN", "direction", "forward"sv},
    {"RNN", "layout", 0},
    {"RNN", "output_sequence", 0},
    {"RandomNormal", "dtype", 1},
    {"RandomNormal", "mean", 0.0f},
    {"RandomNormal", "scale", 1.0f},
    {"RandomNormalLike", "mean", 0.0f},
    {"RandomNormalLike", "scale", 1.0f},
    {"RandomUniform", "dtype", 1},
    {"RandomUniform", "high", 1.0f},
    {"RandomUniform", "low", 0.0f},
    {"RandomUniformLike", "high", 1.0f},
    {"RandomUniformLike", "low", 0.0f},
    {"Range", "stash_type", 1},
    {"ReduceL1", "keepdims", 1},
    {"ReduceL1", "noop_with_empty_axes", 0},
    {"ReduceL2", "keepdims", 1},
    {"ReduceL2", "noop_with_empty_axes", 0},
    {"ReduceLogSum", "keepdims", 1},
    {"ReduceLogSum", "noop_with_empty_axes", 0},
    {"ReduceLogSumExp", "keepdims", 1},
    {"ReduceLogSumExp", "noop_with_empty_axes", 0},
    {"ReduceMax", "keepdims", 1},
    {"ReduceMax", "noop_with_empty_axes", 0},
    {"ReduceMean", "keepdims", 1},
    {"ReduceMean", "noop_with_empty_axes", 0},
    {"ReduceMin", "keepdims", 1},
    {"ReduceMin", "noop_with_empty_axes", 0},
    {"ReduceProd", "keepdims", 1},
    {"ReduceProd", "noop_with_empty_axes", 0},
    {"ReduceSum", "keepdims", 1},
    {"ReduceSum", "noop_with_empty_axes", 0},
    {"ReduceSumSquare", "keepdims", 1},
    {"ReduceSumSquare", "noop_with_empty_axes", 0},
    {"Reshape", "allowzero", 0},
    {"Resize", "antialias", 0},
    {"Resize", "coordinate_transformation_mode", "half_pixel"sv},
    {"Resize", "cubic_coeff_a", -0.75f},
    {"Resize", "exclude_outside", 0},
    {"Resize", "extrapolation_value", 0.0f},
    {"Resize", "keep_aspect_ratio_policy", "stretch"sv},
    {"Resize", "mode", "nearest"sv},
    {"Resize", "nearest_mode", "round_prefer_floor"sv},
    {"ReverseSequence", "batch_axis", 1},
    {"ReverseSequence", "time_axis", 0},
    {"RoiAlign", "coordinate_transformation_mode", "half_pixel"sv},
    {"RoiAlign", "mode", "avg"sv},
    {"RoiAlign", "output_height", 1},
    {"RoiAlign", "output_width", 1},
    {"RoiAlign", "sampling_ratio", 0},
    {"RoiAlign", "spatial_scale", 1.0f},
    {"RotaryEmbedding", "interleaved", 0},
    {"RotaryEmbedding", "rotary_embedding_dim", 0},
    {"STFT", "onesided", 1},
    {"Scatter", "axis", 0},
    {"ScatterElements", "axis", 0},
    {"ScatterElements", "reduction", "none"sv},
    {"ScatterND", "reduction", "none"sv},
    {"Selu", "alpha", 1.6732632f},
    {"Selu", "gamma", 1.050701f},
    {"Shape", "start", 0},
    {"Shrink", "bias", 0.0f},
    {"Shrink", "lambd", 0.5f},
    {"SimplifiedLayerNormalization", "axis", -1},
    {"SimplifiedLayerNormalization", "epsilon", 1e-05f},
    {"SimplifiedLayerNormalization", "stash_type", 1},
    {"Softmax", "axis", 1, 13},
    {"Softmax", "axis", -1},
    {"SoftmaxCrossEntropyLoss", "reduction", "mean"sv},
    {"SpaceToDepth", "mode", "DCR"sv},
    {"Split", "axis", 0},
    {"SplitToSequence", "axis", 0},
    {"SplitToSequence", "keepdims", 1},
    {"StringNormalizer", "case_change_action", "NONE"sv},
    {"StringNormalizer", "is_case_sensitive", 0},
    {"Sub", "broadcast", 0},
    {"SwiGLU", "alpha", 1.0f},
    {"Swish", "alpha", 1.0f},
    {"TensorScatter", "axis", -2},
    {"TensorScatter", "mode", "linear"sv},
    {"ThresholdedRelu", "alpha", 1.0f},
    {"TopK", "axis", -1},
    {"TopK", "largest", 1},
    {"TopK", "sorted", 1},
    {"Trilu", "upper", 1},
    {"Unique", "sorted", 1},
    {"Upsample", "mode", "nearest"sv},
    {"Xor", "broadcast", 0},
};

constexpr int64_t kNewest = kAlways - 1;

DefaultValue required(const Node& node, std::string_view name, int64_t opset) {
  const auto found = default_of(node.op_type, name, opset);
  TERSOR_CHECK(found);
  return *found;
}

}  // namespace

std::optional<DefaultValue> default_of(std::string_view op_type, std::string_view name, int64_t opset) {
  const auto* at = std::lower_bound(
      std::begin(kDefaults), std::end(kDefaults), std::pair(op_type, name),
      [](const AttributeDefault& one, const auto& wanted) { return std::pair(one.type, one.name) < wanted; });
  for (; at != std::end(kDefaults) && at->type == op_type && at->name == name; ++at)
    if (opset < at->before) return at->value;
  return std::nullopt;
}

std::optional<DefaultValue> default_of(std::string_view op_type, std::string_view name) {
  return default_of(op_type, name, kNewest);
}

std::vector<std::string_view> names_with_defaults(std::string_view op_type) {
  std::vector<std::string_view> names;
  for (const AttributeDefault& one : kDefaults)
    if (one.type == op_type && (names.empty() || names.back() != one.name)) names.push_back(one.name);
  return names;
}

int64_t int_of(const Node& node, std::string_view name, int64_t opset) {
  const auto* own = node.attribute<int64_t>(name);
  return own != nullptr ? *own : std::get<int64_t>(required(node, name, opset));
}

int64_t int_of(const Node& node, std::string_view name) {
  return int_of(node, name, kNewest);
}

float float_of(const Node& node, std::string_view name) {
  const auto* own = node.attribute<float>(name);
  return own != nullptr ? *own : std::get<float>(required(node, name, kNewest));
}

std::string string_of(const Node& node, std::string_view name) {
  const auto* own = node.attribute<std::string>(name);
  return own != nullptr ? *own : std::string(std::get<std::string_view>(required(node, name, kNewest)));
}

}  // namespace tersor
