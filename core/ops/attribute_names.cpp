// SPDX-License-Identifier: Apache-2.0
#include "core/ops/attribute_names.h"

#include <algorithm>
#include <map>

#include "core/base/names.h"
#include "core/ops/refuse.h"

namespace tersor::ops {

namespace {

/// Operators of ONNX that have the same attributes, and those: of all operator sets together. Others have none.
constexpr struct {
  const char* types;
  const char* names;
} kAttributes[] = {
    {"Add And Div Equal Greater Less Mul Or Pow Sub Xor", "axis broadcast"},
    {"AffineGrid", "align_corners"},
    {"ArgMax ArgMin", "axis keepdims select_last_index"},
    {"Attention",
     "is_causal kv_num_heads left_window_size q_num_heads qk_matmul_output_mode right_window_size scale softcap "
     "softmax_precision"},
    {"AveragePool", "auto_pad ceil_mode count_include_pad dilations kernel_shape pads strides"},
    {"BatchNormalization", "epsilon is_test momentum spatial training_mode"},
    {"BitShift", "direction"},
    {"BlackmanWindow HammingWindow HannWindow", "output_datatype periodic"},
    {"Cast", "round_mode saturate to"},
    {"CastLike", "round_mode saturate"},
    {"CausalConvWithState", "activation"},
    {"Celu Elu LeakyRelu SwiGLU Swish ThresholdedRelu", "alpha"},
    {"CenterCropPad MeanVarianceNormalization Squeeze Unsqueeze", "axes"},
    {"Clip", "max min"},
    {"Col2Im", "dilations pads strides"},
    {"Compress Concat Flatten Gather GatherElements Hardmax LogSoftmax OneHot Scatter Softmax", "axis"},
    {"Constant", "sparse_value value value_float value_floats value_int value_ints value_string value_strings"},
    {"ConstantOfShape", "value"},
    {"Conv ConvInteger QLinearConv", "auto_pad dilations group kernel_shape pads strides"},
    {"ConvTranspose", "auto_pad dilations group kernel_shape output_padding output_shape pads strides"},
    {"CumProd CumSum", "exclusive reverse"},
    {"DFT", "axis inverse onesided"},
    {"DeformConv", "dilations group kernel_shape offset_group pads strides"},
    {"DepthToSpace SpaceToDepth", "blocksize mode"},
    {"DequantizeLinear", "axis block_size output_dtype"},
    {"Dropout", "is_test ratio seed"},
    {"Einsum", "equation"},
    {"EyeLike", "dtype k"},
    {"GRU",
     "activation_alpha activation_beta activations clip direction hidden_size layout linear_before_reset "
     "output_sequence"},
    {"GatherND", "batch_dims"},
    {"Gelu", "approximate"},
    {"Gemm", "alpha beta broadcast transA transB"},
    {"GlobalLpPool", "p"},
    {"GridSample", "align_corners mode padding_mode"},
    {"GroupNormalization", "epsilon num_groups stash_type"},
    {"HardSigmoid", "alpha beta"},
    {"If", "else_branch then_branch"},
    {"InstanceNormalization", "epsilon"},
    {"IsInf", "detect_negative detect_positive"},
    {"LRN", "alpha beta bias size"},
    {"LSTM",
     "activation_alpha activation_beta activations clip direction hidden_size input_forget layout output_sequence"},
    {"LayerNormalization RMSNormalization", "axis epsilon stash_type"},
    {"LinearAttention", "chunk_size kv_num_heads q_num_heads scale update_rule"},
    {"Loop", "body"},
    {"LpNormalization", "axis p"},
    {"LpPool", "auto_pad ceil_mode dilations kernel_shape p pads strides"},
    {"MaxPool", "auto_pad ceil_mode dilations kernel_shape pads storage_order strides"},
    {"MaxRoiPool", "pooled_shape spatial_scale"},
    {"MaxUnpool", "kernel_shape pads strides"},
    {"MelWeightMatrix", "output_datatype"},
    {"Mod", "fmod"},
    {"NonMaxSuppression", "center_point_box"},
    {"Pad", "mode paddings pads value"},
    {"QuantizeLinear", "axis block_size output_dtype precision saturate"},
    {"RNN", "activation_alpha activation_beta activations clip direction hidden_size layout output_sequence"},
    {"Range", "stash_type"},
    {"ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum "
     "ReduceSumSquare",
     "axes keepdims noop_with_empty_axes"},
    {"Reshape", "allowzero shape"},
    {"Resize",
     "antialias axes coordinate_transformation_mode cubic_coeff_a exclude_outside extrapolation_value "
     "keep_aspect_ratio_policy mode nearest_mode"},
    {"ReverseSequence", "batch_axis time_axis"},
    {"RoiAlign", "coordinate_transformation_mode mode output_height output_width sampling_ratio spatial_scale"},
    {"RotaryEmbedding", "interleaved num_heads rotary_embedding_dim"},
    {"STFT", "onesided"},
    {"Scan",
     "body directions num_scan_inputs scan_input_axes scan_input_directions scan_output_axes scan_output_directions"},
    {"ScatterElements", "axis reduction"},
    {"ScatterND", "reduction"},
    {"Selu", "alpha gamma"},
    {"Shape", "end start"},
    {"Shrink", "bias lambd"},
    {"Slice", "axes ends starts"},
    {"Split", "axis num_outputs split"},
    {"TensorScatter", "axis mode"},
    {"TopK", "axis k largest sorted"},
    {"Transpose", "perm"},
    {"Trilu", "upper"},
    {"Unique", "axis sorted"},
    {"Upsample", "height_scale mode scales width_scale"},
};

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  for (size_t from = 0; from < text.size();) {
    const size_t end = std::min(text.find(' ', from), text.size());
    words.emplace_back(text.substr(from, end - from));
    from = end + 1;
  }
  return words;
}

const std::vector<std::string>& names_for(std::string_view type) {
  static const auto table = [] {
    std::map<std::string, std::vector<std::string>, std::less<>> by_type;
    for (const auto& [types, names] : kAttributes)
      for (const std::string& one : words_of(types)) by_type[one] = words_of(names);
    return by_type;
  }();
  static const std::vector<std::string> none;
  const auto found = table.find(type);
  return found == table.end() ? none : found->second;
}

}  // namespace

bool has_attribute(std::string_view domain, std::string_view type, std::string_view name) {
  // The first, of operator set 1, says nothing; runtimes keep notes of their own under names like the second.
  if (!domain.empty() || name == "consumed_inputs" || name.substr(0, 2) == "__") return true;
  const std::vector<std::string>& names = names_for(type);
  return std::find(names.begin(), names.end(), name) != names.end();
}

void require_known_attributes(const Node& node) {
  for (const auto& [name, value] : node.attributes) {
    if (has_attribute(node.domain, node.op_type, name)) continue;
    const std::vector<std::string>& names = names_for(node.op_type);
    invalid("There is no attribute \"" + name + "\" of " + node.op_type + " in ONNX.",
            suggestion(name, names) + (names.empty() ? "It has none." : "It has " + joined(names) + "."));
  }
}

}  // namespace tersor::ops
