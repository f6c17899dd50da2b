// SPDX-License-Identifier: Apache-2.0
// Smoothing of what a MatMul by a constant reads, channel by channel: the input is moved and scaled before it is
// quantized, and the weights undo it.
//
//   x W + b = ((x - c) / s) (s W) + (b + c W)
//
// Channels that reach further than others then share a quantizer without taking its steps from them. Sources: Xiao et
// al. 2023, arXiv:2211.10438 (SmoothQuant) for s; Wei et al. 2023, arXiv:2304.09145 (Outlier Suppression+) for c. The
// choice is our own: c is 0 or the middle of each channel's range, and s_k = r_k^alpha / w_k^(1 - alpha), where r_k is
// how far the channel reaches from there and w_k the largest weight that meets it, with the alpha (in eighths) of least
// predicted noise.
#pragma once

#include <optional>
#include <string_view>

#include "core/config/quantization_config.h"
#include "core/decide/corrected_model.h"

namespace tersor::ptq {

/// The end of the name of a rewritten input, after its own.
constexpr std::string_view kSmoothed = "_smoothed";

/// Rewrites the inputs whose predicted noise falls to 0.8 or less. Only values that are made in float are rewritten:
/// a LayerNormalization that feeds nothing else takes up factor and offset itself; elsewhere a Mul and an Add stand
/// before the quantizer. Where the noise falls to 0.8 once more and the products are large enough, the rows of
/// the input get a scale each (row_scales.h), unless `prefer` is SPEED. Returns nothing if nothing is rewritten, as on
/// platforms that quantize outputs and with fewer than 16 samples.
std::optional<Rewrite> smooth_inputs(CorrectedModel& model, const config::QuantizationConfig&);

}  // namespace tersor::ptq
