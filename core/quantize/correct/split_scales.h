// SPDX-License-Identifier: Apache-2.0
// Extends channel equalization across functions such as Swish, for which f(s x) is not s f(x). It gives the two nodes
// of a quantizer different scales:
//
//   - In front of a Swish, the Conv writes all channels stretched to the same integers; a Mul and an Add per channel
//     behind the DequantizeLinear undo it.
//   - Behind a Swish (or a float Concat, Add, MaxPool or Resize), a Mul per channel stands in front of the
//     QuantizeLinear; the Convs that read it have the inverse factors in their weights.
//   - A Conv that only float nodes read (a spectrum on its way to its power, the heads of a detector) is treated as in
//     front of a Swish.
//
// The quantizers keep a single scale per tensor. With a scale per channel, ONNX Runtime takes a hundred times as long
// where it has moved the channels to the last axis.
#pragma once

#include <optional>

#include "core/config/quantization_config.h"
#include "core/decide/corrected_model.h"

namespace tersor::ptq {

/// Changes the model in two cases: where Convs feed an elementwise function (unary_region.h: a Swish, a GELU, ...), and
/// where only float nodes read a Conv and scales per channel halve its noise. It inserts Muls behind float nodes only
/// in models with such a function. The statistics get entries for the new tensors. The Muls in front of quantizers
/// multiply by 1 at first; equalize_channels() sets their factors, and drop_idle_scales() removes the rest. Returns
/// nothing if nothing is inserted, as on platforms that quantize outputs.
std::optional<Rewrite> split_scales(CorrectedModel& model, const config::QuantizationConfig&);

}  // namespace tersor::ptq
