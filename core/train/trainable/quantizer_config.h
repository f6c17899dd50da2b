// SPDX-License-Identifier: Apache-2.0
// What a trainable quantizer is made from: TrainableQuantizerWeightsConfig and TrainableQuantizerActivationConfig of
// the requirement documents.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/fields.h"
#include "core/base/json_fwd.h"
#include "core/base/names.h"
#include "core/quant/quantization_method.h"

namespace tersor::trainable {

/// What a quantizer stands at.
enum class QuantizationTarget { kWeights, kActivation };

/// The documents' constants: a key of quantization params, and the least threshold.
inline constexpr std::string_view kThreshold = "threshold";
inline constexpr double kMinThreshold = 1.0 / 65536;

/// One number for a whole tensor, or one for each channel. In JSON a number or a list of them.
struct PerChannel {
  std::vector<double> values;

  PerChannel() = default;
  PerChannel(double value) : values{value} {}  // {.threshold = 2.0}, as the documents write it
  PerChannel(std::vector<double> by_channel) : values(std::move(by_channel)) {}
  bool operator==(const PerChannel&) const = default;
};

Json to_json(const PerChannel& numbers);
void from_json(const Json& json, PerChannel& numbers, const std::string& place);

/// The documents' dictionaries of quantization params. What is left out follows from the values that
/// initialize_quantization() is given.
struct TrainableQuantizationParams {
  std::optional<PerChannel> threshold = {};
  std::optional<PerChannel> range_min = {};
  std::optional<PerChannel> range_max = {};
  std::optional<PerChannel> lut_values = {};
  std::optional<bool> is_signed = {};
  bool narrow_range = false;

  static constexpr auto fields() {
    using C = TrainableQuantizationParams;
    return std::make_tuple(
        field("threshold", &C::threshold,
              "The largest magnitude, one or one per channel; UNIFORM takes it as both ends. Above 0."),
        field("range_min", &C::range_min, "UNIFORM: the lower end, one or one per channel."),
        field("range_max", &C::range_max, "UNIFORM: the upper end."),
        field("lut_values", &C::lut_values, "The table of a quantizer of tables, integers."),
        field(
            "is_signed", &C::is_signed,
            "Activations: whether values below 0 have codes; null: where there are such values. Weights always have."),
        field("narrow_range", &C::narrow_range, "Symmetric and signed: the lowest code is left out."));
  }
  bool operator==(const TrainableQuantizationParams&) const = default;
};

/// One of several numbers of bits that a quantizer could have, with its params.
struct TrainableQuantizerCandidateConfig {
  int n_bits = 8;
  TrainableQuantizationParams quantization_params = {};

  static constexpr auto fields() {
    using C = TrainableQuantizerCandidateConfig;
    return std::make_tuple(field("n_bits", &C::n_bits, "Bits, 2 to 16."),
                           field("quantization_params", &C::quantization_params, "As in the config itself."));
  }
  bool operator==(const TrainableQuantizerCandidateConfig&) const = default;
};

using TrainableQuantizerCandidates = std::optional<std::vector<TrainableQuantizerCandidateConfig>>;

struct TrainableQuantizerWeightsConfig {
  quant::QuantizationMethod weights_quantization_method = quant::QuantizationMethod::kSymmetric;
  int weights_n_bits = 8;
  TrainableQuantizationParams weights_quantization_params = {};
  bool enable_weights_quantization = true;
  int weights_channels_axis = 0;
  bool weights_per_channel_threshold = true;
  double min_threshold = kMinThreshold;
  TrainableQuantizerCandidates weights_quantization_candidates = {};

  static constexpr auto fields() {
    using C = TrainableQuantizerWeightsConfig;
    return std::make_tuple(
        field("weights_quantization_method", &C::weights_quantization_method, "The method for weights."),
        field("weights_n_bits", &C::weights_n_bits, "Bits of the weights, 2 to 16."),
        field("weights_quantization_params", &C::weights_quantization_params,
              "Where the quantizer starts: threshold, or range_min and range_max."),
        field("enable_weights_quantization", &C::enable_weights_quantization,
              "Whether the weights are quantized or stay as they are."),
        field("weights_channels_axis", &C::weights_channels_axis,
              "The axis of the output channels; below 0 it counts from the end."),
        field("weights_per_channel_threshold", &C::weights_per_channel_threshold,
              "One range for each channel, or one for the tensor."),
        field("min_threshold", &C::min_threshold, "No threshold is smaller; above 0."),
        field("weights_quantization_candidates", &C::weights_quantization_candidates,
              "Other bits and params to choose among, which with_candidate() puts in the place of these; null: none."));
  }
  bool operator==(const TrainableQuantizerWeightsConfig&) const = default;
};

struct TrainableQuantizerActivationConfig {
  quant::QuantizationMethod activation_quantization_method = quant::QuantizationMethod::kUniform;
  int activation_n_bits = 8;
  TrainableQuantizationParams activation_quantization_params = {};
  bool enable_activation_quantization = true;
  double min_threshold = kMinThreshold;
  TrainableQuantizerCandidates activation_quantization_candidates = {};

  static constexpr auto fields() {
    using C = TrainableQuantizerActivationConfig;
    return std::make_tuple(
        field("activation_quantization_method", &C::activation_quantization_method, "The method for activations."),
        field("activation_n_bits", &C::activation_n_bits, "Bits of the activations, 2 to 16."),
        field("activation_quantization_params", &C::activation_quantization_params,
              "Where the quantizer starts: threshold and is_signed, or range_min and range_max."),
        field("enable_activation_quantization", &C::enable_activation_quantization,
              "Whether the activations are quantized or stay as they are."),
        field("min_threshold", &C::min_threshold, "No threshold is smaller; above 0."),
        field("activation_quantization_candidates", &C::activation_quantization_candidates,
              "Other bits and params to choose among, which with_candidate() puts in the place of these; null: none."));
  }
  bool operator==(const TrainableQuantizerActivationConfig&) const = default;
};

/// The config with number `index` of its candidates in the place of its bits and params. Error kInvalidConfig where
/// there is none.
TrainableQuantizerWeightsConfig with_candidate(TrainableQuantizerWeightsConfig config, size_t index);
TrainableQuantizerActivationConfig with_candidate(TrainableQuantizerActivationConfig config, size_t index);

/// Either config, as what is common to both.
struct TrainableQuantizerSettings {
  QuantizationTarget target;
  quant::QuantizationMethod method;
  int n_bits;
  TrainableQuantizationParams params = {};
  bool is_enabled;
  std::optional<int> channels_axis;  // one range per channel of it; none: one for the tensor
  double min_threshold;
};

TrainableQuantizerSettings settings_of(const TrainableQuantizerWeightsConfig& config);
TrainableQuantizerSettings settings_of(const TrainableQuantizerActivationConfig& config);

/// Error kInvalidConfig, at the field's name, for bits outside 2 to 16, a min_threshold or a threshold that is not
/// above 0, ends in the wrong order or one without the other, several values where one range is asked for, a range that
/// the method does not take, and the same in a candidate.
void validate(const TrainableQuantizerWeightsConfig& config);
void validate(const TrainableQuantizerActivationConfig& config);

}  // namespace tersor::trainable

template <>
struct tersor::EnumWords<tersor::trainable::QuantizationTarget> {
  using T = tersor::trainable::QuantizationTarget;
  static constexpr const char* kind = "quantization target";
  static constexpr std::pair<T, std::string_view> words[] = {{T::kWeights, "Weights"}, {T::kActivation, "Activation"}};
};
