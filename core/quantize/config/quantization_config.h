// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "core/base/faults.h"
#include "core/base/fields.h"
#include "core/base/json_fwd.h"
#include "core/base/json_text.h"
#include "core/config/bias_correction_method.h"
#include "core/config/gradient_ptq_config.h"
#include "core/config/io_types.h"
#include "core/config/mixed_precision_config.h"
#include "core/config/preference.h"
#include "core/config/resource_utilization.h"
#include "core/quant/quantization_method.h"
#include "core/quant/threshold_search.h"
#include "core/quant/threshold_selection_method.h"

namespace tersor::config {

/// How a field of QuantizationConfig is described beyond its name: the numbers it may hold, and whether a value other
/// than the default does anything yet.
struct FieldLimits {
  std::optional<double> minimum;
  std::optional<double> maximum;
  bool acts = true;
};

template <class Owner, class Member>
struct ConfigField : Field<Owner, Member> {
  FieldLimits limits;
};

template <class Owner, class Member>
constexpr ConfigField<Owner, Member> config_field(const char* name, Member Owner::*member, const char* meaning,
                                                  FieldLimits limits = {}) {
  return {{name, member, meaning}, limits};
}

/// The settings of one quantization, with the names of the requirement documents.
///
/// The optional members are those that the target platform decides for each operator: bits, methods, per channel,
/// whether to quantize at all. Absent (null in JSON) leaves the choice to the platform; a value narrows what the
/// platform offers. z_threshold is optional because JSON has no infinity: absent is off.
struct QuantizationConfig {
  using QuantizationMethod = quant::QuantizationMethod;
  using ThresholdSelectionMethod = quant::ThresholdSelectionMethod;

  ThresholdSelectionMethod activation_threshold_method = ThresholdSelectionMethod::kLp;
  ThresholdSelectionMethod weights_threshold_method = ThresholdSelectionMethod::kNoClipping;
  std::optional<QuantizationMethod> activation_quantization_method;
  std::optional<QuantizationMethod> weights_quantization_method;
  std::optional<int> activation_n_bits;
  std::optional<int> weights_n_bits;
  bool relu_unbound_correction = false;
  bool weights_bias_correction = true;
  std::optional<bool> weights_per_channel_threshold;
  std::optional<int> weights_block_size;
  bool input_scaling = false;
  std::optional<bool> enable_weights_quantization;
  std::optional<bool> enable_activation_quantization;
  bool shift_negative_activation_correction = false;
  bool activation_channel_equalization = true;
  std::optional<double> z_threshold;
  double min_threshold = 3.7252902984619140625e-9;  // 2^-28
  int l_p_value = 3;
  double shift_negative_ratio = 0.25;
  bool shift_negative_threshold_recalculation = false;
  bool shift_negative_params_search = false;
  BiasCorrectionMethod weights_bias_correction_method = BiasCorrectionMethod::kMeasured;

  bool keep_float_automatically = true;
  bool split_scales = true;
  bool weights_second_moment_correction = false;
  bool activation_bias_correction = false;
  double activation_bias_correction_threshold = 0;
  bool softmax_shift = false;
  bool linear_collapsing = false;
  bool residual_collapsing = false;
  bool concat_threshold_update = false;
  int effort = 1;
  Preference prefer = Preference::kBalanced;
  bool keep_metadata = false;
  bool allow_larger_file = false;
  IoTypes io_types = IoTypes::kFloat32;
  bool inference_mode = false;
  bool holdout = true;
  /// An object of operator sets, each with the list of its layers, or null.
  JsonText custom_tpc_opset_to_layer;
  std::optional<ResourceUtilization> target_resource_utilization;
  std::optional<MixedPrecisionQuantizationConfig> mixed_precision_config;
  std::optional<GradientPTQConfig> gradient_ptq_config;

  /// Each operator's configuration is chosen from the platform's candidates; else every operator has the base one.
  bool mixes_precisions() const;
  /// Bias correction needs a sweep over the samples.
  bool measures_bias() const {
    return weights_bias_correction && weights_bias_correction_method == BiasCorrectionMethod::kMeasured;
  }
  /// The words whose files are compared to find the one that `prefer` is about: the default's first, which the others
  /// have to beat. One alone where samples are not held aside.
  std::vector<Preference> contestants() const;
  /// Something is measured on the samples once more, with the parameters that their statistics gave.
  bool measures_on_samples() const {
    return measures_bias() || weights_second_moment_correction || holdout || mixes_precisions() ||
           gradient_ptq_config.has_value();
  }

  static constexpr auto fields() {
    using C = QuantizationConfig;
    return std::make_tuple(
        config_field("activation_threshold_method", &C::activation_threshold_method,
                     "By what error the range of an activation is chosen; the document has MSE, but the third power, "
                     "which minds rare large errors more, holds better on other samples."),
        config_field("weights_threshold_method", &C::weights_threshold_method,
                     "By what error the range of a weight tensor is chosen; the document has MSE, but with a scale per "
                     "channel clipping "
                     "gains nothing."),
        config_field("activation_quantization_method", &C::activation_quantization_method,
                     "The quantizer of activations; null leaves it to the platform."),
        config_field("weights_quantization_method", &C::weights_quantization_method,
                     "The quantizer of weights; null leaves it to the platform."),
        config_field("activation_n_bits", &C::activation_n_bits,
                     "Bits of an activation; null leaves them to the platform.", FieldLimits{2.0, 16.0, true}),
        config_field("weights_n_bits", &C::weights_n_bits, "Bits of a weight; null leaves them to the platform.",
                     FieldLimits{2.0, 16.0, true}),
        config_field("relu_unbound_correction", &C::relu_unbound_correction,
                     "Scale bounded activations so that the bound is the whole range of the quantizer."),
        config_field("weights_bias_correction", &C::weights_bias_correction,
                     "Correct the bias for the mean error that quantized weights make."),
        config_field("weights_per_channel_threshold", &C::weights_per_channel_threshold,
                     "One range per output channel of a weight tensor, or one for the tensor; null leaves it to the "
                     "platform."),
        config_field("input_scaling", &C::input_scaling,
                     "Scale the input of the model so that it uses the whole range of its quantizer."),
        config_field("enable_weights_quantization", &C::enable_weights_quantization,
                     "Quantize weights; null leaves it to the platform."),
        config_field("enable_activation_quantization", &C::enable_activation_quantization,
                     "Quantize activations; null leaves it to the platform."),
        config_field("shift_negative_activation_correction", &C::shift_negative_activation_correction,
                     "Shift activations with a small negative side so that they need no sign."),
        config_field("activation_channel_equalization", &C::activation_channel_equalization,
                     "Scale channels of unlike ranges to like ones before their quantizer; the document has false, but "
                     "depthwise networks lose 4 to 6 dB without it."),
        config_field("z_threshold", &C::z_threshold,
                     "Leave out activations that lie more than so many standard deviations from the mean; null is off.",
                     FieldLimits{0.0, std::nullopt, true}),
        config_field("min_threshold", &C::min_threshold,
                     "No threshold is chosen smaller than this (UNIFORM has ranges, and no thresholds).",
                     FieldLimits{9.094947017729282e-13, 1.0, true}),  // 2^-40
        config_field("l_p_value", &C::l_p_value, "The p of the Lp error; the document has 2.",
                     FieldLimits{1.0, 8.0, true}),
        config_field("shift_negative_ratio", &C::shift_negative_ratio,
                     "Shift where the negative side is at most this part of the threshold.",
                     FieldLimits{0.0, 1.0, true}),
        config_field("shift_negative_threshold_recalculation", &C::shift_negative_threshold_recalculation,
                     "Choose the threshold anew after a shift."),
        config_field("shift_negative_params_search", &C::shift_negative_params_search,
                     "Choose shift and threshold of such a shift together, by least square error."),
        config_field("weights_bias_correction_method", &C::weights_bias_correction_method,
                     "How the mean error is found: MEASURED on the samples layer by layer, or ANALYTIC from the "
                     "statistics alone."),
        config_field("keep_float_automatically", &C::keep_float_automatically,
                     "Keep in float what feeds a logarithm, root or reciprocal that 8 bits cannot feed, and joins at "
                     "the end that one scale cannot serve."),
        config_field(
            "split_scales", &C::split_scales,
            "Around a Swish, and after a Conv that float nodes alone read, scale each channel to its quantizer. "
            "Acts with prefer=ACCURACY, and by default where it gains and costs no time in the runtime."),
        config_field("weights_second_moment_correction", &C::weights_second_moment_correction,
                     "Rescale each output channel so that its deviation is what it was before the weights were "
                     "quantized."),
        config_field("activation_bias_correction", &C::activation_bias_correction,
                     "Correct the bias for the mean error that a quantized input makes."),
        config_field("activation_bias_correction_threshold", &C::activation_bias_correction_threshold,
                     "Leave mean errors of an input alone that are below so many percent of its mean.",
                     FieldLimits{0.0, std::nullopt, true}),
        config_field("softmax_shift", &C::softmax_shift,
                     "Centre the input of a Softmax on zero through the bias before it."),
        config_field("linear_collapsing", &C::linear_collapsing,
                     "Join a Conv and the 1x1 Conv after it into one where that saves weights."),
        config_field("residual_collapsing", &C::residual_collapsing,
                     "Write the Add of a Conv's own input into the Conv's weights."),
        config_field("concat_threshold_update", &C::concat_threshold_update,
                     "Give what feeds a Concat the range of the Concat."),
        config_field("weights_block_size", &C::weights_block_size,
                     "So many inputs of an output channel share a scale (16, 32, 64, 128 or 256), where weights are "
                     "restored for float arithmetic; 0 has no blocks, null leaves it to the platform.",
                     FieldLimits{0.0, 256.0, true}),
        config_field("effort", &C::effort,
                     "How long to look for the weights' integers: 0 takes the nearest, 1 those whose errors make up "
                     "for each other on "
                     "the samples, 2 tries more. Acts where biases are measured on the samples.",
                     FieldLimits{0.0, 2.0, true}),
        config_field("prefer", &C::prefer,
                     "What counts where time in the runtime, size and accuracy pull apart: SPEED, BALANCED, ACCURACY "
                     "or SIZE, for "
                     "which several files are compared on samples held aside; INTEGERS runs every kernel in integers."),
        config_field("keep_metadata", &C::keep_metadata,
                     "Keep what exporters note in the file: doc strings, and metadata of nodes and values such as "
                     "stack traces."),
        config_field("allow_larger_file", &C::allow_larger_file,
                     "Write a file that is larger than the float one; false makes that an error."),
        config_field("io_types", &C::io_types,
                     "What the file takes and gives where the model has floats: FLOAT32, or integers of 8 bits, as "
                     "cameras and NPUs have them, of the scale and zero point of the first and last quantizer: UINT8, "
                     "INT8, UINT8_INT8 (inputs, outputs) or UINT8_FLOAT32."),
        config_field("inference_mode", &C::inference_mode,
                     "Take BatchNormalization and Dropout that were exported in training mode as in inference: with "
                     "the statistics in the file, and without dropping anything."),
        config_field("holdout", &C::holdout,
                     "Hold a part of the samples aside, try there what each correction gains, and take back what does "
                     "not; needs 16 samples."),
        config_field("custom_tpc_opset_to_layer", &C::custom_tpc_opset_to_layer,
                     "Which operators an operator set of the platform stands for, in place of those it has: a list of "
                     "types and filters for each set; null changes none."),
        config_field("target_resource_utilization", &C::target_resource_utilization,
                     "What the quantized model may take at most: weights_memory, activation_memory and total_memory in "
                     "bytes, bops in bit operations. Each operator then has the candidate of the platform that costs "
                     "least accuracy within these budgets; null, or only nulls, leaves every operator its base."),
        config_field("mixed_precision_config", &C::mixed_precision_config,
                     "How candidates are compared and chosen; null takes the defaults. Acts with a budget, with "
                     "float_operators, or with configuration_overwrite."),
        config_field("gradient_ptq_config", &C::gradient_ptq_config,
                     "Train weights, biases and ranges on the samples after calibration; null does not."));
  }

  quant::Criterion activation_criterion() const;
  quant::Criterion weights_criterion() const;

  bool operator==(const QuantizationConfig&) const = default;
};

/// The defaults that the requirement document states, with the platform's fields written out as well.
QuantizationConfig requirement_defaults();

/// A configuration to start from, by name: "requirements" for requirement_defaults(). Error kInvalidConfig for another.
QuantizationConfig preset(std::string_view name);

/// Reads an object of fields over `start`. Older and newer names are accepted. Error kInvalidConfig that lists every
/// fault (unknown field, wrong type, unknown word, number out of its limits), each with its place.
QuantizationConfig read_quantization_config(const Json& json, const std::string& place, QuantizationConfig start = {});
QuantizationConfig read_quantization_config(std::string_view text, const std::string& place,
                                            QuantizationConfig start = {});
/// The same with every fault added to `faults`: what could be read.
QuantizationConfig read_quantization_config(const Json& json, const std::string& place, QuantizationConfig start,
                                            Faults& faults);

/// "FIELD=VALUE" onto `config`; VALUE is JSON, or a bare word. Error kInvalidConfig.
void set_field(QuantizationConfig& config, std::string_view assignment);
/// Each of them in turn; a fault for what cannot be read and for a field with two values.
void set_fields(QuantizationConfig& config, const std::vector<std::string>& assignments, Faults& faults);

/// Refuses values that do not act yet, each with a sentence; a field at its default is accepted. Error kInvalidConfig
/// with every such field.
void check_acts(const QuantizationConfig& config);
/// The same faults, added to `faults`.
void find_inert(const QuantizationConfig& config, Faults& faults);

/// Every field with its default written out.
Json to_json(const QuantizationConfig& config);

/// For the page's form: a list of {name, type, nullable, default, choices, minimum, maximum, meaning, acts, mct, ort}.
Json describe_quantization_config();

}  // namespace tersor::config
