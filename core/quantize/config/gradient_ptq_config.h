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

/// How weights, biases and ranges are trained on the samples after calibration. Names are those of MCT's
/// GradientPTQConfig; fields that MCT does not have are our own.
struct GradientPTQConfig {
  int n_epochs = 20;
  int batch_size = 16;
  RoundingType rounding_type = RoundingType::kSoftQuantizer;
  bool train_rounding = true;
  bool train_scales = true;
  bool train_bias = true;
  bool train_ranges = true;
  bool hessian_weights = true;
  bool gradual_activation_quantization = false;
  double regularization_factor = 0.01;
  std::optional<double> learning_rate;
  std::optional<double> learning_rate_bias;
  std::optional<double> learning_rate_ranges;
  double label_weight = 0;
  std::optional<double> augmentation;
  int block_kernels = 0;
  std::optional<int64_t> most_steps;

  static constexpr auto fields() {
    using C = GradientPTQConfig;
    return std::make_tuple(
        field("n_epochs", &C::n_epochs, "Number of passes of the training over the samples."),
        field("batch_size", &C::batch_size, "Number of samples per gradient step."),
        field("rounding_type", &C::rounding_type,
              "SoftQuantizer trains whether each weight is rounded up or down. STE trains the weights "
              "themselves; the gradient passes straight through their rounding."),
        field("train_rounding", &C::train_rounding,
              "Train the rounding of weights (STE: the weights); false keeps their integers."),
        field("train_scales", &C::train_scales,
              "Train the scales of weights, one per channel. If roundings are trained as well, the "
              "scales follow in the second half of the steps."),
        field("train_bias", &C::train_bias, "Train the biases."),
        field("train_ranges", &C::train_ranges, "Train the scales of activations (LSQ)."),
        field("hessian_weights", &C::hessian_weights,
              "Weight the loss of each layer by the effect of its output on the model's outputs; false "
              "weights all layers alike."),
        field("gradual_activation_quantization", &C::gradual_activation_quantization,
              "Blend from float to quantized activations during the training."),
        field("regularization_factor", &C::regularization_factor,
              "Weight, in the loss, of the distance of soft roundings from 0 and 1."),
        field("learning_rate", &C::learning_rate,
              "Learning rate of weights, for Adam: of the variable of a soft rounding (null: 0.1), or "
              "with STE in units of a weight's step (null: 0.001)."),
        field("learning_rate_bias", &C::learning_rate_bias,
              "Learning rate of biases, for SGD with momentum 0.9; null: 0.03."),
        field("learning_rate_ranges", &C::learning_rate_ranges,
              "Learning rate of the scales of activations and weights, for Adam, relative to each "
              "scale; null: 0.004."),
        field("label_weight", &C::label_weight,
              "Weight of the cross-entropy with the samples' labels in the loss, 0 to 1; the distance "
              "from the float model has the remaining weight. 0 needs no labels."),
        field("augmentation", &C::augmentation,
              "Fraction of the samples of a step that are changed, 0 to 1. Samples that look like "
              "pictures are moved and mirrored; samples of any kind are mixed with another sample. "
              "Null: 0.8."),
        field("block_kernels", &C::block_kernels,
              "Number of kernels that gradients pass through, so that each block of the model is "
              "trained by itself; 0 trains the whole model at once."),
        field("most_steps", &C::most_steps,
              "Maximum number of gradient steps; the schedule stays that of all epochs. Null: no "
              "maximum."));
  }
  bool operator==(const GradientPTQConfig&) const = default;
};

/// Reads fields over those of `config`. Error kInvalidConfig for a number out of its limits.
void from_json(const Json& json, GradientPTQConfig& config, const std::string& place);

}  // namespace tersor::config
