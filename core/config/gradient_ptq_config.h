// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>

#include "core/base/fields.h"
#include "core/base/json_fwd.h"
#include "core/config/rounding_type.h"

namespace tersor::config {

/// How weights, biases and ranges are trained on the samples after calibration, with the names of MCT's
/// GradientPTQConfig; batch_size, train_ranges, learning_rate_ranges and most_steps are Tersor's own.
struct GradientPTQConfig {
  int n_epochs = 20;
  int batch_size = 16;
  RoundingType rounding_type = RoundingType::kSoftQuantizer;
  bool train_bias = true;
  bool train_ranges = true;
  bool hessian_weights = true;
  bool gradual_activation_quantization = false;
  double regularization_factor = 0.01;
  std::optional<double> learning_rate;
  double learning_rate_bias = 1e-4;
  double learning_rate_ranges = 1e-3;
  std::optional<int64_t> most_steps;

  static constexpr auto fields() {
    using C = GradientPTQConfig;
    return std::make_tuple(
        field("n_epochs", &C::n_epochs, "How often training goes through the samples."),
        field("batch_size", &C::batch_size, "Samples that one gradient step is the mean of."),
        field("rounding_type", &C::rounding_type,
              "SoftQuantizer trains whether each weight is rounded up or down, STE the weights themselves, the "
              "gradient passing through their rounding."),
        field("train_bias", &C::train_bias, "Train the biases too."),
        field("train_ranges", &C::train_ranges, "Train the scales of activations too (LSQ)."),
        field("hessian_weights", &C::hessian_weights,
              "Weigh each layer by what a change of its output does to the model's outputs; else all alike."),
        field("gradual_activation_quantization", &C::gradual_activation_quantization,
              "Blend from float to quantized activations over the steps."),
        field("regularization_factor", &C::regularization_factor,
              "What the distance of soft roundings from 0 and 1 counts beside the error."),
        field("learning_rate", &C::learning_rate,
              "Of weights, by Adam: of the variable of a soft rounding (null: 0.1), or in parts of a weight's step "
              "(null: "
              "0.001)."),
        field("learning_rate_bias", &C::learning_rate_bias, "Of biases, by SGD with the momentum 0.9."),
        field("learning_rate_ranges", &C::learning_rate_ranges,
              "Of the scales of activations, by Adam, in parts of each."),
        field("most_steps", &C::most_steps,
              "Training ends after so many gradient steps, its schedule being that of all; null: when the epochs are "
              "done."));
  }
  bool operator==(const GradientPTQConfig&) const = default;
};

/// Reads over what `config` holds. Error kInvalidConfig for a number out of its limits.
void from_json(const Json& json, GradientPTQConfig& config, const std::string& place);

}  // namespace tersor::config
