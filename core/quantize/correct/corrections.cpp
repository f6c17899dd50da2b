// SPDX-License-Identifier: Apache-2.0
#include "core/correct/corrections.h"

#include <utility>

#include "core/correct/bound_relus.h"
#include "core/correct/equalize_channels.h"
#include "core/correct/keep_deviations.h"
#include "core/correct/limit_outliers.h"
#include "core/correct/scale_inputs.h"
#include "core/correct/shift_negative_activations.h"
#include "core/correct/shift_softmax_inputs.h"
#include "core/correct/smooth_inputs.h"
#include "core/correct/split_scales.h"
#include "core/correct/unlike_joins.h"

namespace tersor::ptq {

std::span<const Correction> corrections() {
  using C = config::QuantizationConfig;
  static const Correction all[] = {
      // First, so that no other one sees what a single sample made.
      {.field = "activation_threshold_method", .apply = limit_outliers},
      // Before anything is rewritten for kernels that stay in float.
      {.field = "keep_float_automatically",
       .is_on = &C::keep_float_automatically,
       .reads = {.bins = true},
       .apply = keep_front_ends_in_float,
       .cost_of_leaving_out = "what feeds a logarithm, root or reciprocal may be in 8 bits, which ruins models that "
                              "begin with a spectrum."},
      {.field = "keep_float_automatically",
       .is_on = &C::keep_float_automatically,
       .reads = {.bins = true},
       .apply = keep_unlike_joins_in_float},
      // Inserts the factors that equalization fills. Each takes a pass over the tensor in float.
      {.field = "split_scales",
       .is_on = &C::split_scales,
       .reads = {.channels = true},
       .apply = split_scales,
       .cost_of_leaving_out =
           "quiet channels around a Swish share the step of loud ones; such networks lost up to 6 dB.",
       .is_tried = true,
       .only_for = config::Preference::kAccuracy},
      {.field = "activation_smoothing",
       .is_on = &C::activation_smoothing,
       .reads = {.channels = true, .bins = true},
       .apply = smooth_inputs,
       .cost_of_leaving_out =
           "quiet channels before products share the step of loud ones; transformers lost 3 to 6 dB.",
       .is_tried = true},
      {.field = "relu_unbound_correction",
       .is_on = &C::relu_unbound_correction,
       .reads = {.channels = true, .kernel_outputs = true, .bins = true},
       .apply = bound_relus},
      {.field = "softmax_shift", .is_on = &C::softmax_shift, .reads = {.bins = true}, .apply = shift_softmax_inputs},
      {.field = "input_scaling",
       .is_on = &C::input_scaling,
       .reads = {.channels = true, .bins = true},
       .apply = scale_inputs},
      {.field = "shift_negative_activation_correction",
       .is_on = &C::shift_negative_activation_correction,
       .reads = {.channels = true, .kernel_outputs = true, .bins = true},
       .apply = shift_negative_activations},
      // Last of those that rewrite the model: its factors are those of the tensors that are quantized in the end.
      {.field = "activation_channel_equalization",
       .is_on = &C::activation_channel_equalization,
       .reads = {.channels = true},
       .apply = equalize_channels,
       .cost_of_leaving_out =
           "quiet channels between convolutions share the step of loud ones; depthwise networks lost 4 to 6 dB.",
       .is_tried = true},
      // choose_params() carries it out, as it needs the parameters of the input.
      {.field = "activation_bias_correction",
       .is_on = &C::activation_bias_correction,
       .reads = {.channels = true, .bins = true}},
      {.field = "weights_second_moment_correction",
       .is_on = &C::weights_second_moment_correction,
       .reads = {.channels = true, .kernel_outputs = true},
       .mark = keep_deviations},
      // The sweep over the samples carries it out, or choose_params() by the statistics.
      {.field = "weights_bias_correction",
       .is_on = &C::weights_bias_correction,
       .reads = {.channels = true},
       .cost_of_leaving_out =
           "means that quantization moves stay moved, layer upon layer; thin networks lost up to 10 dB."},
  };
  return all;
}

void apply_corrections(CorrectedModel& model, const config::QuantizationConfig& config,
                       const std::function<framework::Attachment(const Graph&)>& attach) {
  for (const Correction& correction : corrections()) {
    if (correction.apply == nullptr || !correction.is_wanted(config)) continue;
    std::optional<Rewrite> done = correction.apply(model, config);
    if (!done) continue;
    model.rewrites.push_back(std::move(*done));
    if (!model.rewrites.back().attach) continue;
    model.attachment = attach(model.model.graph);
    for (const Rewrite& rewrite : model.rewrites)
      if (rewrite.attach) rewrite.attach(model.attachment);
    model.placement = place(model.model.graph, model.attachment, model.in_float);
  }
}

}  // namespace tersor::ptq
