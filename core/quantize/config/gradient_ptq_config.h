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
/// GradientPTQConfig; those that MCT has not are Tersor's own.
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
        field("n_epochs", &C::n_epochs, "How often training goes through the samples."),
        field("batch_size", &C::batch_size, "Samples that one gradient step is the mean of."),
        field("rounding_type", &C::rounding_type,
              "SoftQuantizer trains whether each weight is rounded up or down, STE the weights themselves, the "
              "gradient passing through their rounding."),
        field("train_rounding", &C::train_rounding,
              "Train how weights are rounded (or the weights themselves); else their integers stay."),
        field("train_scales", &C::train_scales,
              "Train the scales of weights too, one for each channel; where roundings are trained as well, they follow "
              "in "
              "the second half of the steps."),
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
        field("learning_rate_bias", &C::learning_rate_bias, "Of biases, by SGD with the momentum 0.9; null: 0.03."),
        field("learning_rate_ranges", &C::learning_rate_ranges,
              "Of the scales of activations and weights, by Adam, in parts of each; null: 0.004."),
        field("label_weight", &C::label_weight,
              "What the cross-entropy of the samples' labels counts in the loss, 0 to 1; the distance from the float "
              "model counts the rest. 0 needs no labels."),
        field("augmentation", &C::augmentation,
              "The part of the samples of a step that are changed, 0 to 1: what looks like pictures is moved and "
              "mirrored, and "
              "all kinds are mixed with another sample; null: 0.8."),
        field("block_kernels", &C::block_kernels,
              "Gradients pass so many kernels, so that each block of the model learns by itself; 0: the whole model."),
        field("most_steps", &C::most_steps,
              "Training ends after so many gradient steps, its schedule being that of all; null: when the epochs are "
              "done."));
  }
  bool operator==(const GradientPTQConfig&) const = default;
};

/// Reads over what `config` holds. Error kInvalidConfig for a number out of its limits.
void from_json(const Json& json, GradientPTQConfig& config, const std::string& place);

}  // namespace tersor::config
