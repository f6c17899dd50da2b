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
#include "core/config/ignored_scope.h"
#include "core/config/io_types.h"
#include "core/config/mixed_precision_config.h"
#include "core/config/output_kind.h"
#include "core/config/preference.h"
#include "core/config/resource_utilization.h"
#include "core/quant/quantization_method.h"
#include "core/quant/threshold_search.h"
#include "core/quant/threshold_selection_method.h"

namespace tersor::config {

/// The range of a field of QuantizationConfig, and whether values other than the default are implemented.
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

/// The settings of a quantization, with the names of the requirement documents.
///
/// The target platform decides the optional members for each operator: bits, methods, per channel, whether to quantize
/// at all. Absent (null in JSON) leaves the choice to the platform; a value narrows what the platform offers.
/// z_threshold is optional because JSON has no infinity: absent is off.
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
  std::optional<int> accuracy_level;
  bool input_scaling = false;
  std::optional<bool> enable_weights_quantization;
  std::optional<bool> enable_activation_quantization;
  bool shift_negative_activation_correction = false;
  bool activation_channel_equalization = true;
  std::optional<double> z_threshold;
  double min_threshold = 3.7252902984619140625e-9;  // 2^-28
  int l_p_value = 3;
  double percentile = 99.999;
  double shift_negative_ratio = 0.25;
  bool shift_negative_threshold_recalculation = false;
  bool shift_negative_params_search = false;
  BiasCorrectionMethod weights_bias_correction_method = BiasCorrectionMethod::kMeasured;

  bool keep_float_automatically = true;
  std::optional<IgnoredScope> ignored_scope;
  bool split_scales = true;
  bool activation_smoothing = true;
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
  std::optional<OutputRoles> output_roles;
  /// An object of operator sets, each with the list of its layers, or null.
  JsonText custom_tpc_opset_to_layer;
  std::optional<ResourceUtilization> target_resource_utilization;
  std::optional<MixedPrecisionQuantizationConfig> mixed_precision_config;
  std::optional<GradientPTQConfig> gradient_ptq_config;

  /// True if each operator's configuration is chosen from the platform's candidates; else every operator has the base
  /// configuration.
  bool mixes_precisions() const;
  /// True if bias correction needs a sweep over the samples.
  bool measures_bias() const {
    return weights_bias_correction && weights_bias_correction_method == BiasCorrectionMethod::kMeasured;
  }
  /// The words whose files are compared to find the best by `prefer`. The first is the word that the others must beat.
  /// Only `prefer` itself if no samples are held out or if it is INTEGERS.
  std::vector<Preference> contestants() const;
  /// True if something is measured on the samples again, with the parameters that follow from their statistics.
  bool measures_on_samples() const {
    return measures_bias() || weights_second_moment_correction || holdout || mixes_precisions() ||
           gradient_ptq_config.has_value();
  }

  static constexpr auto fields() {
    using C = QuantizationConfig;
    return std::make_tuple(
        config_field("activation_threshold_method", &C::activation_threshold_method,
                     "How the range of an activation is chosen. The requirement document has MSE; the default, "
                     "Lp with the third power, weighs large errors more and holds better on unseen samples."),
        config_field("weights_threshold_method", &C::weights_threshold_method,
                     "How the range of a weight tensor is chosen. The requirement document has MSE; "
                     "the default does not clip, because with a scale per channel clipping gains nothing."),
        config_field("activation_quantization_method", &C::activation_quantization_method,
                     "The quantizer of activations; null leaves it to the platform."),
        config_field("weights_quantization_method", &C::weights_quantization_method,
                     "The quantizer of weights; null leaves it to the platform."),
        config_field("activation_n_bits", &C::activation_n_bits,
                     "Bits of an activation; null leaves them to the platform.", FieldLimits{2.0, 16.0, true}),
        config_field("weights_n_bits", &C::weights_n_bits, "Bits of a weight; null leaves them to the platform.",
                     FieldLimits{2.0, 16.0, true}),
        config_field("relu_unbound_correction", &C::relu_unbound_correction,
                     "Rescale bounded activations so that their bound is the end of the quantizer's range."),
        config_field("weights_bias_correction", &C::weights_bias_correction,
                     "Correct the bias for the mean error that the rounding of weights causes."),
        config_field("weights_per_channel_threshold", &C::weights_per_channel_threshold,
                     "Use a range per output channel of a weight tensor (true) or a single range (false); null "
                     "leaves it to the platform."),
        config_field("input_scaling", &C::input_scaling,
                     "Scale the model's input so that it uses the whole range of its quantizer."),
        config_field("enable_weights_quantization", &C::enable_weights_quantization,
                     "Quantize weights; null leaves it to the platform."),
        config_field("enable_activation_quantization", &C::enable_activation_quantization,
                     "Quantize activations; null leaves it to the platform."),
        config_field("shift_negative_activation_correction", &C::shift_negative_activation_correction,
                     "Shift activations with a small negative side so that they can be unsigned."),
        config_field("activation_channel_equalization", &C::activation_channel_equalization,
                     "Rescale the channels of a tensor to similar ranges before it is quantized. The "
                     "requirement document has false, but depthwise networks lose 4 to 6 dB without it."),
        config_field("z_threshold", &C::z_threshold,
                     "Ignore activations that are more than this many standard deviations from the mean; null "
                     "ignores none.",
                     FieldLimits{0.0, std::nullopt, true}),
        config_field("min_threshold", &C::min_threshold,
                     "The smallest threshold that may be chosen (UNIFORM has ranges, and no thresholds).",
                     FieldLimits{9.094947017729282e-13, 1.0, true}),  // 2^-40
        config_field("l_p_value", &C::l_p_value, "The exponent p of the Lp error; the requirement document has 2.",
                     FieldLimits{1.0, 8.0, true}),
        config_field("shift_negative_ratio", &C::shift_negative_ratio,
                     "Shift an activation if its negative side is at most this fraction of the threshold.",
                     FieldLimits{0.0, 1.0, true}),
        config_field("shift_negative_threshold_recalculation", &C::shift_negative_threshold_recalculation,
                     "Choose the threshold again after a shift."),
        config_field("shift_negative_params_search", &C::shift_negative_params_search,
                     "Choose the shift and the threshold together, by least squared error."),
        config_field("percentile", &C::percentile,
                     "The percentage of the values that Percentile keeps: it leaves out half of the rest on each side, "
                     "with SYMMETRIC all of it of the magnitudes.",
                     FieldLimits{50.0, 100.0, true}),
        config_field("weights_bias_correction_method", &C::weights_bias_correction_method,
                     "How the mean error is computed: MEASURED on the samples, layer by layer, or ANALYTIC "
                     "from the statistics alone."),
        config_field("ignored_scope", &C::ignored_scope,
                     "Nodes that stay in float, as NNCF's IgnoredScope names them: names, patterns (regular "
                     "expressions), types, and subgraphs between inputs and outputs. What chooses no node is an error, "
                     "unless validate is false. Null names none."),
        config_field("keep_float_automatically", &C::keep_float_automatically,
                     "Keep layers in float if 8 bits are not enough: those that feed a logarithm, root or "
                     "reciprocal, and joins at the model's end whose parts need different scales."),
        config_field("split_scales", &C::split_scales,
                     "Scale each channel to its quantizer around a Swish, and behind a Conv that only float "
                     "nodes read. Acts with prefer=ACCURACY; otherwise only where it gains accuracy and costs "
                     "no time in the runtime."),
        config_field("activation_smoothing", &C::activation_smoothing,
                     "Move and scale the channels that a MatMul reads, so that they share a quantizer well; "
                     "the weights undo it. Acts on what is made in float, where the predicted noise falls by a fifth."),
        config_field("weights_second_moment_correction", &C::weights_second_moment_correction,
                     "Rescale each output channel so that its standard deviation is that of the float model."),
        config_field("activation_bias_correction", &C::activation_bias_correction,
                     "Correct the bias for the mean error that quantizing the input causes."),
        config_field("activation_bias_correction_threshold", &C::activation_bias_correction_threshold,
                     "Do not correct mean errors of an input below this percentage of its mean.",
                     FieldLimits{0.0, std::nullopt, true}),
        config_field("softmax_shift", &C::softmax_shift,
                     "Centre the input of a Softmax on zero by changing the bias of the layer in front of it."),
        config_field("linear_collapsing", &C::linear_collapsing,
                     "Merge a Conv and the 1x1 Conv behind it if that saves weights."),
        config_field("residual_collapsing", &C::residual_collapsing,
                     "Merge an Add of a Conv's input to its output into the Conv's weights."),
        config_field("concat_threshold_update", &C::concat_threshold_update,
                     "Give the inputs of a Concat the range of its output."),
        config_field("weights_block_size", &C::weights_block_size,
                     "Number of inputs of an output channel that share a scale (16, 32, 64, 128 or 256), where "
                     "weights are restored for float arithmetic; 0 uses no blocks, null leaves it to the "
                     "platform.",
                     FieldLimits{0.0, 256.0, true}),
        config_field("accuracy_level", &C::accuracy_level,
                     "How MatMulNBits computes: 1 sums floats, 4 rounds its input to 8 bits, 2 and 3 use float16 and "
                     "bfloat16 where the runtime has such kernels, 0 leaves it to the runtime. Null is 4 with "
                     "prefer=SPEED, else 1. Acts where a platform writes MatMulNBits.",
                     FieldLimits{0.0, 4.0, true}),
        config_field("effort", &C::effort,
                     "Effort of rounding the weights: 0 rounds to the nearest integers, 1 chooses integers "
                     "whose errors compensate each other on the samples, 2 tries more. Acts where biases are "
                     "measured on the samples.",
                     FieldLimits{0.0, 2.0, true}),
        config_field("prefer", &C::prefer,
                     "What to optimize when time in the runtime, size and accuracy conflict: SPEED, BALANCED, "
                     "ACCURACY or SIZE, for which several files are compared on samples held aside; INTEGERS "
                     "runs every kernel in integers."),
        config_field("keep_metadata", &C::keep_metadata,
                     "Keep the notes of exporters in the file: doc strings, and metadata of nodes and values "
                     "such as stack traces."),
        config_field("allow_larger_file", &C::allow_larger_file,
                     "Write the quantized file even if it is larger than the float file; false makes that an "
                     "error."),
        config_field("io_types", &C::io_types,
                     "Types of the file's inputs and outputs that are float in the model: FLOAT32, or 8-bit "
                     "integers for cameras and NPUs, with the scale and zero point of the first and last "
                     "quantizer: UINT8, INT8, UINT8_INT8 (inputs, outputs) or UINT8_FLOAT32. PIXELS: the first "
                     "input takes pixels of pictures (uint8, 0 to 255) and the file holds the preprocessing's scale, "
                     "mean and std; PIXELS_UINT8 and PIXELS_INT8 give integers too."),
        config_field("inference_mode", &C::inference_mode,
                     "Convert BatchNormalization and Dropout that were exported in training mode to inference "
                     "mode: use the statistics in the file, and drop nothing."),
        config_field("holdout", &C::holdout,
                     "Hold a part of the samples aside, try each correction on them, and switch off "
                     "corrections that gain nothing; needs 16 samples."),
        config_field("output_roles", &C::output_roles,
                     "What outputs of the model hold, by name, where the graph does not tell: classes (or logits), "
                     "embedding, map (or mask), scores, boxes, detections or values (or landmarks). The report judges "
                     "each in its measure; the file stays the same. Null leaves it to the graph."),
        config_field("custom_tpc_opset_to_layer", &C::custom_tpc_opset_to_layer,
                     "The operators of an operator set of the platform, in place of its own: a list of types "
                     "and filters for each set; null changes none."),
        config_field("target_resource_utilization", &C::target_resource_utilization,
                     "Limits for the quantized model: weights_memory, activation_memory and total_memory in "
                     "bytes, bops in bit operations. Each operator gets the candidate of the platform that "
                     "costs least accuracy within these limits; null, or only nulls, gives every operator the "
                     "base configuration."),
        config_field("mixed_precision_config", &C::mixed_precision_config,
                     "How candidates are compared and chosen; null uses the defaults. Acts with a limit, with "
                     "float_operators, or with configuration_overwrite."),
        config_field("gradient_ptq_config", &C::gradient_ptq_config,
                     "Train weights, biases and ranges on the samples after calibration; null trains nothing."));
  }

  quant::Criterion activation_criterion() const;
  quant::Criterion weights_criterion() const;

  bool operator==(const QuantizationConfig&) const = default;
};

/// The defaults of the requirement document, including the fields that otherwise belong to the platform.
QuantizationConfig requirement_defaults();

/// A configuration to start from, by name: "requirements" for requirement_defaults(). Error kInvalidConfig for other
/// names.
QuantizationConfig preset(std::string_view name);

/// Reads an object of fields over `start`. Older and newer names are accepted. Error kInvalidConfig that lists every
/// fault with its place: unknown field, wrong type, unknown word, number out of its limits.
QuantizationConfig read_quantization_config(const Json& json, const std::string& place, QuantizationConfig start = {});
QuantizationConfig read_quantization_config(std::string_view text, const std::string& place,
                                            QuantizationConfig start = {});
/// The same, but adds every fault to `faults` and returns what could be read.
QuantizationConfig read_quantization_config(const Json& json, const std::string& place, QuantizationConfig start,
                                            Faults& faults);

/// Sets a field by "FIELD=VALUE"; VALUE is JSON, or a bare word. Error kInvalidConfig.
void set_field(QuantizationConfig& config, std::string_view assignment);
/// Applies the assignments in turn. Adds a fault for each that cannot be read and for a field with two values.
void set_fields(QuantizationConfig& config, const std::vector<std::string>& assignments, Faults& faults);

/// Error kInvalidConfig with a sentence for every value that is not implemented yet; a field at its default is
/// accepted.
void check_acts(const QuantizationConfig& config);
/// Adds the same faults to `faults`.
void find_inert(const QuantizationConfig& config, Faults& faults);

/// All fields, defaults included.
Json to_json(const QuantizationConfig& config);

/// The fields for the page's form: a list of {name, type, nullable, default, choices, minimum, maximum, meaning, acts,
/// mct, ort}.
Json describe_quantization_config();

}  // namespace tersor::config
