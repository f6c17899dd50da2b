// SPDX-License-Identifier: Apache-2.0
#include "core/graph/operators.h"

#include <algorithm>
#include <iterator>

namespace tersor {

namespace {

using enum OutputShape;
using enum OutputType;
using enum Trait;

// Sorted by name; operators and attributes as of operator set 28.
constexpr Operator kOperators[] = {
    {"Abs", 1, kSameShape, kSameType, "", kFunction},
    {"Acos", 7, kSameShape, kSameType, "", kFunction},
    {"Acosh", 9, kSameShape, kSameType, "", kFunction},
    {"Add", 1, kBroadcast, kSameType, "axis broadcast", kArithmetic},
    {"AffineGrid", 20, kOwnShape, kSameType, "align_corners"},
    {"And", 1, kBroadcast, kBool, "axis broadcast"},
    {"ArgMax", 1, kOwnShape, kInt64, "axis keepdims select_last_index"},
    {"ArgMin", 1, kOwnShape, kInt64, "axis keepdims select_last_index"},
    {"Asin", 7, kSameShape, kSameType, "", kFunction},
    {"Asinh", 9, kSameShape, kSameType, "", kFunction},
    {"Atan", 7, kSameShape, kSameType, "", kFunction},
    {"Atanh", 9, kSameShape, kSameType, "", kFunction},
    {"Attention", 23, kOwnShape, kSameType,
     "is_causal kv_num_heads left_window_size q_num_heads qk_matmul_output_mode right_window_size scale softcap "
     "softmax_precision"},
    {"AveragePool", 1, kSameRank, kSameType,
     "auto_pad ceil_mode count_include_pad dilations kernel_shape pads strides"},
    {"BatchNormalization", 1, kSameShape, kSameType, "epsilon is_test momentum spatial training_mode"},
    {"Bernoulli", 15, kSameShape, kOwnType, "dtype seed", kRandom},
    {"BitCast", 26, kOwnShape, kOwnType, "to"},
    {"BitShift", 11, kBroadcast, kSameType, "direction"},
    {"BitwiseAnd", 18, kBroadcast, kSameType},
    {"BitwiseNot", 18, kSameShape, kSameType},
    {"BitwiseOr", 18, kBroadcast, kSameType},
    {"BitwiseXor", 18, kBroadcast, kSameType},
    {"BlackmanWindow", 17, kOwnShape, kOwnType, "output_datatype periodic"},
    {"Cast", 1, kSameShape, kOwnType, "round_mode saturate to"},
    {"CastLike", 15, kSameShape, kTypeOfSecond, "round_mode saturate"},
    {"CausalConvWithState", 27, kOwnShape, kSameType, "activation"},
    {"Ceil", 1, kSameShape, kSameType, "", kFunction},
    {"Celu", 12, kSameShape, kSameType, "alpha", kActivation},
    {"CenterCropPad", 18, kOwnShape, kSameType, "axes"},
    {"Clip", 1, kSameShape, kSameType, "max min", kActivation | kClamp},
    {"Col2Im", 18, kOwnShape, kSameType, "dilations pads strides"},
    {"Compress", 9, kOwnShape, kSameType, "axis", kSelects},
    {"Concat", 1, kSameRank, kSameType, "axis"},
    {"ConcatFromSequence", 11, kOwnShape, kOwnType, "axis new_axis"},
    {"Constant", 1, kOwnShape, kOwnType,
     "sparse_value value value_float value_floats value_int value_ints value_string value_strings"},
    {"ConstantOfShape", 9, kOwnShape, kOwnType, "value"},
    {"Conv", 1, kSameRank, kSameType, "auto_pad dilations group kernel_shape pads strides", kWeighted},
    {"ConvInteger", 10, kOwnShape, kInt32, "auto_pad dilations group kernel_shape pads strides"},
    {"ConvTranspose", 1, kSameRank, kSameType,
     "auto_pad dilations group kernel_shape output_padding output_shape pads strides", kWeighted},
    {"Cos", 7, kSameShape, kSameType, "", kFunction},
    {"Cosh", 9, kSameShape, kSameType, "", kFunction},
    {"CumProd", 26, kSameShape, kSameType, "exclusive reverse"},
    {"CumSum", 11, kSameShape, kSameType, "exclusive reverse"},
    {"DFT", 17, kSameRank, kSameType, "axis inverse onesided"},
    {"DeformConv", 19, kOwnShape, kSameType, "dilations group kernel_shape offset_group pads strides"},
    {"DepthToSpace", 1, kSameRank, kSameType, "blocksize mode", kReorders},
    {"DequantizeLinear", 10, kSameShape, kOwnType, "axis block_size output_dtype"},
    {"Det", 11, kOwnShape, kSameType},
    {"Div", 1, kBroadcast, kSameType, "axis broadcast", kArithmetic},
    {"Dropout", 1, kSameShape, kThenBool, "is_test ratio seed", kView},
    {"DynamicQuantizeLinear", 11, kOwnShape, kOwnType},
    {"Einsum", 12, kOwnShape, kSameType, "equation"},
    {"Elu", 1, kSameShape, kSameType, "alpha", kActivation},
    {"Equal", 1, kBroadcast, kBool, "axis broadcast"},
    {"Erf", 9, kSameShape, kSameType, "", kFunction},
    {"Exp", 1, kSameShape, kSameType, "", kFunction},
    {"Expand", 8, kOwnShape, kSameType, "", kRepeats},
    {"EyeLike", 9, kOwnShape, kOwnType, "dtype k"},
    {"Flatten", 1, kMatrix, kSameType, "axis", kView},
    {"Floor", 1, kSameShape, kSameType, "", kFunction},
    {"GRU", 1, kOwnShape, kSameType,
     "activation_alpha activation_beta activations clip direction hidden_size layout linear_before_reset "
     "output_sequence",
     kRecurrent},
    {"Gather", 1, kOwnShape, kSameType, "axis", kSelects},
    {"GatherElements", 11, kSameRank, kSameType, "axis", kSelects},
    {"GatherND", 11, kOwnShape, kSameType, "batch_dims", kSelects},
    {"Gelu", 20, kSameShape, kSameType, "approximate", kActivation},
    {"Gemm", 1, kMatrix, kSameType, "alpha beta broadcast transA transB", kWeighted},
    {"GlobalAveragePool", 1, kPooledToOne, kSameType},
    {"GlobalLpPool", 1, kPooledToOne, kSameType, "p"},
    {"GlobalMaxPool", 1, kPooledToOne, kSameType},
    {"Greater", 1, kBroadcast, kBool, "axis broadcast"},
    {"GreaterOrEqual", 12, kBroadcast, kBool},
    {"GridSample", 16, kSameRank, kSameType, "align_corners mode padding_mode"},
    {"GroupNormalization", 18, kSameShape, kSameType, "epsilon num_groups stash_type"},
    {"HammingWindow", 17, kOwnShape, kOwnType, "output_datatype periodic"},
    {"HannWindow", 17, kOwnShape, kOwnType, "output_datatype periodic"},
    {"HardSigmoid", 1, kSameShape, kSameType, "alpha beta", kActivation},
    {"HardSwish", 14, kSameShape, kSameType, "", kActivation},
    {"Hardmax", 1, kSameShape, kSameType, "axis"},
    {"Identity", 1, kSameShape, kSameType, "", kView},
    {"If", 1, kOwnShape, kOwnType, "else_branch then_branch"},
    {"ImageDecoder", 20, kOwnShape, kOwnType, "pixel_format"},
    {"InstanceNormalization", 1, kSameShape, kSameType, "epsilon"},
    {"IsInf", 10, kSameShape, kBool, "detect_negative detect_positive"},
    {"IsNaN", 9, kSameShape, kBool},
    {"LRN", 1, kSameShape, kSameType, "alpha beta bias size"},
    {"LSTM", 1, kOwnShape, kSameType,
     "activation_alpha activation_beta activations clip direction hidden_size input_forget layout output_sequence",
     kRecurrent},
    {"LayerNormalization", 17, kSameShape, kSameType, "axis epsilon stash_type"},
    {"LeakyRelu", 1, kSameShape, kSameType, "alpha", kActivation},
    {"Less", 1, kBroadcast, kBool, "axis broadcast"},
    {"LessOrEqual", 12, kBroadcast, kBool},
    {"LinearAttention", 27, kOwnShape, kSameType, "chunk_size kv_num_heads q_num_heads scale update_rule"},
    {"Log", 1, kSameShape, kSameType, "", kFunction},
    {"LogSoftmax", 1, kSameShape, kSameType, "axis"},
    {"Loop", 1, kOwnShape, kOwnType, "body"},
    {"LpNormalization", 1, kSameShape, kSameType, "axis p"},
    {"LpPool", 1, kSameRank, kSameType, "auto_pad ceil_mode dilations kernel_shape p pads strides"},
    {"MatMul", 1, kOwnShape, kSameType, "", kWeighted},
    {"MatMulInteger", 10, kOwnShape, kInt32},
    {"Max", 1, kBroadcast, kSameType, "", kArithmetic},
    {"MaxPool", 1, kSameRank, kThenInt64, "auto_pad ceil_mode dilations kernel_shape pads storage_order strides"},
    {"MaxRoiPool", 1, kOwnShape, kSameType, "pooled_shape spatial_scale"},
    {"MaxUnpool", 9, kSameRank, kSameType, "kernel_shape pads strides"},
    {"Mean", 1, kBroadcast, kSameType},
    {"MeanVarianceNormalization", 9, kSameShape, kSameType, "axes"},
    {"MelWeightMatrix", 17, kMatrix, kOwnType, "output_datatype"},
    {"Min", 1, kBroadcast, kSameType, "", kArithmetic},
    {"Mish", 18, kSameShape, kSameType, "", kActivation},
    {"Mod", 10, kBroadcast, kSameType, "fmod"},
    {"Mul", 1, kBroadcast, kSameType, "axis broadcast", kArithmetic},
    {"Multinomial", 7, kOwnShape, kOwnType, "dtype sample_size seed", kRandom},
    {"Neg", 1, kSameShape, kSameType, "", kFunction},
    {"NegativeLogLikelihoodLoss", 12, kOwnShape, kSameType, "ignore_index reduction"},
    {"NonMaxSuppression", 10, kMatrix, kInt64, "center_point_box"},
    {"NonZero", 9, kMatrix, kInt64},
    {"Not", 1, kSameShape, kBool},
    {"OneHot", 9, kOwnShape, kTypeOfThird, "axis"},
    {"Optional", 15, kOwnShape, kOwnType, "type"},
    {"OptionalGetElement", 15, kOwnShape, kOwnType},
    {"OptionalHasElement", 15, kOwnShape, kBool},
    {"Or", 1, kBroadcast, kBool, "axis broadcast"},
    {"PRelu", 1, kSameShape, kSameType, "", kActivation},
    {"Pad", 1, kSameRank, kSameType, "mode paddings pads value"},
    {"Pow", 1, kBroadcast, kSameType, "axis broadcast", kArithmetic},
    {"QLinearConv", 10, kSameRank, kOwnType, "auto_pad dilations group kernel_shape pads strides"},
    {"QLinearMatMul", 10, kOwnShape, kOwnType},
    {"QuantizeLinear", 10, kSameShape, kOwnType, "axis block_size output_dtype precision saturate"},
    {"RMSNormalization", 23, kSameShape, kTypeOfSecond, "axis epsilon stash_type"},
    {"RNN", 1, kOwnShape, kSameType,
     "activation_alpha activation_beta activations clip direction hidden_size layout output_sequence", kRecurrent},
    {"RandomNormal", 1, kOwnShape, kOwnType, "dtype mean scale seed shape", kRandom},
    {"RandomNormalLike", 1, kOwnShape, kOwnType, "dtype mean scale seed", kRandom},
    {"RandomUniform", 1, kOwnShape, kOwnType, "dtype high low seed shape", kRandom},
    {"RandomUniformLike", 1, kOwnShape, kOwnType, "dtype high low seed", kRandom},
    {"Range", 11, kVector, kSameType, "stash_type"},
    {"Reciprocal", 1, kSameShape, kSameType, "", kFunction},
    {"ReduceL1", 1, kOwnShape, kSameType, "axes keepdims noop_with_empty_axes", kReduces},
    {"ReduceL2", 1, kOwnShape, kSameType, "axes keepdims noop_with_empty_axes", kReduces},
    {"ReduceLogSum", 1, kOwnShape, kSameType, "axes keepdims noop_with_empty_axes", kReduces},
    {"ReduceLogSumExp", 1, kOwnShape, kSameType, "axes keepdims noop_with_empty_axes", kReduces},
    {"ReduceMax", 1, kOwnShape, kSameType, "axes keepdims noop_with_empty_axes", kReduces},
    {"ReduceMean", 1, kOwnShape, kSameType, "axes keepdims noop_with_empty_axes", kReduces},
    {"ReduceMin", 1, kOwnShape, kSameType, "axes keepdims noop_with_empty_axes", kReduces},
    {"ReduceProd", 1, kOwnShape, kSameType, "axes keepdims noop_with_empty_axes", kReduces},
    {"ReduceSum", 1, kOwnShape, kSameType, "axes keepdims noop_with_empty_axes", kReduces},
    {"ReduceSumSquare", 1, kOwnShape, kSameType, "axes keepdims noop_with_empty_axes", kReduces},
    {"RegexFullMatch", 20, kOwnShape, kBool, "pattern"},
    {"Relu", 1, kSameShape, kSameType, "", kActivation | kClamp},
    {"Reshape", 1, kOwnShape, kSameType, "allowzero shape", kView},
    {"Resize", 10, kSameRank, kSameType,
     "antialias axes coordinate_transformation_mode cubic_coeff_a exclude_outside extrapolation_value "
     "keep_aspect_ratio_policy mode nearest_mode"},
    {"ReverseSequence", 10, kSameShape, kSameType, "batch_axis time_axis"},
    {"RoiAlign", 10, kOwnShape, kSameType,
     "coordinate_transformation_mode mode output_height output_width sampling_ratio spatial_scale"},
    {"RotaryEmbedding", 23, kSameShape, kSameType, "interleaved num_heads rotary_embedding_dim"},
    {"Round", 11, kSameShape, kSameType, "", kFunction},
    {"STFT", 17, kFourAxes, kSameType, "onesided"},
    {"Scan", 8, kOwnShape, kOwnType,
     "body directions num_scan_inputs scan_input_axes scan_input_directions scan_output_axes scan_output_directions"},
    {"Scatter", 9, kSameShape, kSameType, "axis", kNone, 11},
    {"ScatterElements", 11, kSameShape, kSameType, "axis reduction"},
    {"ScatterND", 11, kSameShape, kSameType, "reduction"},
    {"Selu", 1, kSameShape, kSameType, "alpha gamma", kActivation},
    {"SequenceAt", 11, kOwnShape, kOwnType},
    {"SequenceConstruct", 11, kOwnShape, kOwnType},
    {"SequenceEmpty", 11, kOwnShape, kOwnType, "dtype"},
    {"SequenceErase", 11, kOwnShape, kSameType},
    {"SequenceInsert", 11, kOwnShape, kSameType},
    {"SequenceLength", 11, kOwnShape, kInt64},
    {"SequenceMap", 17, kOwnShape, kOwnType, "body"},
    {"Shape", 1, kVector, kInt64, "end start"},
    {"Shrink", 9, kSameShape, kSameType, "bias lambd", kFunction},
    {"Sigmoid", 1, kSameShape, kSameType, "", kActivation},
    {"Sign", 9, kSameShape, kSameType, "", kFunction},
    // ONNX Runtime's own RMSNormalization, which its optimizer and exporters write without a domain.
    {"SimplifiedLayerNormalization", 1, kSameShape, kTypeOfSecond, "axis epsilon stash_type"},
    {"Sin", 7, kSameShape, kSameType, "", kFunction},
    {"Sinh", 9, kSameShape, kSameType, "", kFunction},
    {"Size", 1, kScalar, kInt64},
    {"Slice", 1, kSameRank, kSameType, "axes ends starts", kSelects},
    {"Softmax", 1, kSameShape, kSameType, "axis"},
    {"SoftmaxCrossEntropyLoss", 12, kOwnShape, kSameType, "ignore_index reduction"},
    {"Softplus", 1, kSameShape, kSameType, "", kActivation},
    {"Softsign", 1, kSameShape, kSameType, "", kActivation},
    {"SpaceToDepth", 1, kSameRank, kSameType, "blocksize mode", kReorders},
    {"Split", 1, kSameRank, kSameType, "axis num_outputs split", kSelects},
    {"SplitToSequence", 11, kOwnShape, kOwnType, "axis keepdims"},
    {"Sqrt", 1, kSameShape, kSameType, "", kFunction},
    {"Squeeze", 1, kOwnShape, kSameType, "axes", kView},
    {"StringConcat", 20, kOwnShape, kSameType},
    {"StringNormalizer", 10, kOwnShape, kSameType, "case_change_action is_case_sensitive locale stopwords"},
    {"StringSplit", 20, kOwnShape, kThenInt64, "delimiter maxsplit"},
    {"Sub", 1, kBroadcast, kSameType, "axis broadcast", kArithmetic},
    {"Sum", 1, kBroadcast, kSameType},
    {"SwiGLU", 28, kOwnShape, kSameType, "alpha"},
    {"Swish", 24, kSameShape, kSameType, "alpha", kActivation},
    {"Tan", 7, kSameShape, kSameType, "", kFunction},
    {"Tanh", 1, kSameShape, kSameType, "", kActivation},
    {"TensorScatter", 24, kSameShape, kSameType, "axis mode"},
    {"TfIdfVectorizer", 9, kOwnShape, kOwnType,
     "max_gram_length max_skip_count min_gram_length mode ngram_counts ngram_indexes pool_int64s pool_strings weights"},
    {"ThresholdedRelu", 10, kSameShape, kSameType, "alpha", kActivation},
    {"Tile", 1, kSameRank, kSameType, "", kRepeats},
    {"TopK", 1, kSameRank, kThenInt64, "axis k largest sorted"},
    {"Transpose", 1, kSameRank, kSameType, "perm", kReorders},
    {"Trilu", 14, kSameShape, kSameType, "upper"},
    {"Unique", 11, kOwnShape, kThenInt64, "axis sorted"},
    {"Unsqueeze", 1, kOwnShape, kSameType, "axes", kView},
    {"Upsample", 1, kSameRank, kSameType, "height_scale mode scales width_scale", kNone, 10},
    {"Where", 9, kBroadcast, kTypeOfSecond},
    {"Xor", 1, kBroadcast, kBool, "axis broadcast"},
};

constexpr std::string_view kDomains[] = {"ai.onnx.ml",    "ai.onnx.preview.training", "ai.onnx.training",
                                         "com.microsoft", "com.microsoft.nchwc",      "tflite"};

}  // namespace

const Operator* find_operator(std::string_view name) {
  const auto* at = std::lower_bound(std::begin(kOperators), std::end(kOperators), name,
                                    [](const Operator& one, std::string_view wanted) { return one.name < wanted; });
  return at != std::end(kOperators) && at->name == name ? at : nullptr;
}

bool has_trait(std::string_view name, Trait any) {
  const Operator* found = find_operator(name);
  return found != nullptr && shares(found->traits, any);
}

bool has_trait(const Node& node, Trait any) {
  return node.domain.empty() && has_trait(node.op_type, any);
}

bool is_known_operator(std::string_view domain, std::string_view op_type) {
  if (domain.empty()) return find_operator(op_type) != nullptr;
  return std::find(std::begin(kDomains), std::end(kDomains), domain) != std::end(kDomains);
}

std::vector<std::string> operator_names() {
  std::vector<std::string> names;
  for (const Operator& one : kOperators) names.emplace_back(one.name);
  return names;
}

bool is_in_opset(std::string_view op_type, int64_t version) {
  const Operator* found = find_operator(op_type);
  return found != nullptr && version >= found->since && (found->removed == 0 || version < found->removed);
}

}  // namespace tersor
