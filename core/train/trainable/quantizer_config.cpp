// SPDX-License-Identifier: Apache-2.0
#include "core/trainable/quantizer_config.h"

#include <cmath>

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/quant/bits.h"

namespace tersor::trainable {

namespace {

[[noreturn]] void refuse_at(const std::string& message, const std::string& place, const std::string& hint = {}) {
  throw Error(ErrorCode::kInvalidConfig, message, place, hint);
}

void check_count(const PerChannel& numbers, bool per_channel, const std::string& place) {
  if (numbers.values.empty()) refuse_at("The list is empty where one number or one per channel is expected.", place);
  if (!per_channel && numbers.values.size() != 1)
    refuse_at("Found " + std::to_string(numbers.values.size()) + " numbers where one range for the tensor takes one.",
              place);
  for (const double one : numbers.values)
    if (!std::isfinite(one)) refuse_at("A number is not finite.", place);
}

void check_params(const TrainableQuantizationParams& params, quant::QuantizationMethod method, bool per_channel,
                  const std::string& place) {
  const auto at = [&](const char* name) { return detail::join_place(place, name); };
  if (params.threshold) {
    check_count(*params.threshold, per_channel, at("threshold"));
    for (const double one : params.threshold->values)
      if (!(one > 0))
        refuse_at("Found the threshold " + number_in_nine_digits(one) + " where more than 0 is expected.",
                  at("threshold"));
  }
  if (params.range_min.has_value() != params.range_max.has_value())
    refuse_at("A range needs range_min and range_max; one of them is missing.", place);
  if (params.range_min) {
    if (quant::even_form(method) != quant::QuantizationMethod::kUniform)
      refuse_at(std::string(enum_word(method)) + " takes a threshold; range_min and range_max are for UNIFORM.",
                at("range_min"));
    if (params.threshold) refuse_at("Found a threshold beside range_min and range_max.", at("threshold"));
    check_count(*params.range_min, per_channel, at("range_min"));
    check_count(*params.range_max, per_channel, at("range_max"));
    const auto &lows = params.range_min->values, &highs = params.range_max->values;
    if (lows.size() != highs.size())
      refuse_at("There are " + std::to_string(lows.size()) + " lower ends and " + std::to_string(highs.size()) +
                    " upper ones.",
                place);
    for (size_t c = 0; c < lows.size(); ++c)
      if (!(lows[c] < highs[c]))
        refuse_at("Found the range from " + number_in_nine_digits(lows[c]) + " to " + number_in_nine_digits(highs[c]) +
                      " where range_min below range_max is expected.",
                  at("range_min"));
  }
  if (params.lut_values) {
    if (!quant::is_table_method(method))
      refuse_at(std::string(enum_word(method)) + " has even steps; lut_values are for methods of tables.",
                at("lut_values"));
    for (const double one : params.lut_values->values)
      if (one != std::floor(one))
        refuse_at("Found " + number_in_nine_digits(one) + " where an integer is expected.", at("lut_values"));
  }
}

void check_bits(int n_bits, const std::string& place) {
  if (!quant::is_number_of_bits(n_bits))
    refuse_at("Found " + std::to_string(n_bits) + " where a number of bits from 2 to 16 is expected.", place);
}

void check(const TrainableQuantizerSettings& settings, const TrainableQuantizerCandidates& candidates,
           const std::string& prefix) {
  check_bits(settings.n_bits, prefix + "_n_bits");
  if (!(settings.min_threshold > 0) || !std::isfinite(settings.min_threshold))
    refuse_at("Found " + number_in_nine_digits(settings.min_threshold) + " where more than 0 is expected.",
              "min_threshold");
  const bool per_channel = settings.channels_axis.has_value();
  check_params(settings.params, settings.method, per_channel, prefix + "_quantization_params");
  if (!candidates) return;
  const std::string list = prefix + "_quantization_candidates";
  if (candidates->empty()) refuse_at("There are no candidates; null stands for none.", list);
  for (size_t k = 0; k < candidates->size(); ++k) {
    const std::string place = list + "[" + std::to_string(k) + "]";
    check_bits((*candidates)[k].n_bits, place + ".n_bits");
    check_params((*candidates)[k].quantization_params, settings.method, per_channel, place + ".quantization_params");
  }
}

const TrainableQuantizerCandidateConfig& candidate_of(const TrainableQuantizerCandidates& candidates, size_t index,
                                                      const char* place) {
  const size_t count = candidates ? candidates->size() : 0;
  if (index >= count)
    refuse_at("Candidate " + std::to_string(index) + " was asked for; there are " + std::to_string(count) + ".", place);
  return (*candidates)[index];
}

}  // namespace

Json to_json(const PerChannel& numbers) {
  return numbers.values.size() == 1 ? Json(numbers.values[0]) : tersor::to_json(numbers.values);
}

void from_json(const Json& json, PerChannel& numbers, const std::string& place) {
  if (json.is_array()) return tersor::from_json(json, numbers.values, place);
  numbers.values.assign(1, 0);
  tersor::from_json(json, numbers.values[0], place);
}

TrainableQuantizerWeightsConfig with_candidate(TrainableQuantizerWeightsConfig config, size_t index) {
  const auto& candidate =
      candidate_of(config.weights_quantization_candidates, index, "weights_quantization_candidates");
  config.weights_n_bits = candidate.n_bits;
  config.weights_quantization_params = candidate.quantization_params;
  return config;
}

TrainableQuantizerActivationConfig with_candidate(TrainableQuantizerActivationConfig config, size_t index) {
  const auto& candidate =
      candidate_of(config.activation_quantization_candidates, index, "activation_quantization_candidates");
  config.activation_n_bits = candidate.n_bits;
  config.activation_quantization_params = candidate.quantization_params;
  return config;
}

TrainableQuantizerSettings settings_of(const TrainableQuantizerWeightsConfig& config) {
  TrainableQuantizerSettings settings{QuantizationTarget::kWeights,
                                      config.weights_quantization_method,
                                      config.weights_n_bits,
                                      config.weights_quantization_params,
                                      config.enable_weights_quantization,
                                      std::nullopt,
                                      config.min_threshold};
  if (config.weights_per_channel_threshold) settings.channels_axis = config.weights_channels_axis;
  return settings;
}

TrainableQuantizerSettings settings_of(const TrainableQuantizerActivationConfig& config) {
  return {QuantizationTarget::kActivation,
          config.activation_quantization_method,
          config.activation_n_bits,
          config.activation_quantization_params,
          config.enable_activation_quantization,
          std::nullopt,
          config.min_threshold};
}

void validate(const TrainableQuantizerWeightsConfig& config) {
  check(settings_of(config), config.weights_quantization_candidates, "weights");
}

void validate(const TrainableQuantizerActivationConfig& config) {
  check(settings_of(config), config.activation_quantization_candidates, "activation");
}

}  // namespace tersor::trainable
