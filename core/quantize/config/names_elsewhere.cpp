// SPDX-License-Identifier: Apache-2.0
#include "core/config/names_elsewhere.h"

#include <utility>

namespace tersor::config {

namespace {

// MCT 2 moved bits, quantizers and per-channel into its target platforms; ONNX Runtime keeps them among its arguments
// and extra_options.
constexpr NamesElsewhere kNames[] = {
    {"activation_threshold_method", "activation_error_method", "calibrate_method"},
    {"weights_threshold_method", "weights_error_method", ""},
    {"activation_quantization_method", "activation_quantization_method", "ActivationSymmetric"},
    {"weights_quantization_method", "weights_quantization_method", "WeightSymmetric"},
    {"activation_n_bits", "activation_n_bits", "activation_type"},
    {"weights_n_bits", "weights_n_bits", "weight_type"},
    {"relu_unbound_correction", "relu_bound_to_power_of_2", ""},
    {"weights_bias_correction", "weights_bias_correction", ""},
    {"weights_per_channel_threshold", "weights_per_channel_threshold", "per_channel"},
    {"input_scaling", "input_scaling", ""},
    {"enable_weights_quantization", "enable_weights_quantization", ""},
    {"enable_activation_quantization", "enable_activation_quantization", ""},
    {"shift_negative_activation_correction", "shift_negative_activation_correction", ""},
    {"activation_channel_equalization", "activation_channel_equalization", "SmoothQuant"},
    {"z_threshold", "z_threshold", "calibrate_method=Percentile"},
    {"min_threshold", "min_threshold", "MinimumRealRange"},
    {"l_p_value", "l_p_value", ""},
    {"percentile", "", "CalibPercentile"},
    {"accuracy_level", "", "accuracy_level"},
    {"ignored_scope", "", "nodes_to_exclude"},
    {"shift_negative_ratio", "shift_negative_ratio", ""},
    {"shift_negative_threshold_recalculation", "shift_negative_threshold_recalculation", ""},
    {"shift_negative_params_search", "shift_negative_params_search", ""},
    {"weights_second_moment_correction", "weights_second_moment_correction", ""},
    {"activation_bias_correction", "activation_bias_correction", ""},
    {"activation_bias_correction_threshold", "activation_bias_correction_threshold", ""},
    {"softmax_shift", "softmax_shift", ""},
    {"linear_collapsing", "linear_collapsing", ""},
    {"residual_collapsing", "residual_collapsing", ""},
    {"concat_threshold_update", "concat_threshold_update", ""},
    {"custom_tpc_opset_to_layer", "custom_tpc_opset_to_layer", ""},
    {"target_resource_utilization", "target_resource_utilization", ""},
    {"mixed_precision_config", "mixed_precision_config", ""},
    {"gradient_ptq_config", "gptq_config", ""},
};

// Further names, of these and other tools: NNCF, TensorFlow Lite, Neural Compressor, Optimum.
constexpr std::pair<std::string_view, std::string_view> kFurther[] = {
    {"reduce_range", "weights_n_bits"},
    {"bits", "weights_n_bits"},
    {"num_bits", "weights_n_bits"},
    {"n_bits", "weights_n_bits"},
    {"group_size", "weights_block_size"},
    {"block_size", "weights_block_size"},
    {"is_symmetric", "weights_quantization_method"},
    {"symmetric", "weights_quantization_method"},
    {"smooth_quant_alpha", "activation_channel_equalization"},
    {"smooth_quant", "activation_channel_equalization"},
    {"fast_bias_correction", "weights_bias_correction_method"},
    {"exclude_nodes", "ignored_scope"},
    {"inference_input_type", "io_types"},
    {"inference_output_type", "io_types"},
    {"calib_method", "activation_threshold_method"},
    {"calibration_method", "activation_threshold_method"},
};

}  // namespace

std::string_view field_named_elsewhere(std::string_view name) {
  for (const auto& [other, field] : kFurther)
    if (other == name) return field;
  for (const NamesElsewhere& names : kNames)
    if (names.mct == name || names.ort.substr(0, names.ort.find('=')) == name) return names.field;
  return {};
}

NamesElsewhere names_elsewhere(std::string_view field) {
  for (const NamesElsewhere& names : kNames)
    if (names.field == field) return names;
  return {field, {}, {}};
}

}  // namespace tersor::config
