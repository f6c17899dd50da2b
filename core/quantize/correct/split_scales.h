// SPDX-License-Identifier: Apache-2.0
// Equalization cannot cross a Swish: f(s x) is not s f(x). But the two nodes of a quantizer need not carry the same
// scale.
//
//   - Before a Swish, the Conv writes its channels stretched to the same integers, and a Mul and an Add by channel
//   after
//     the DequantizeLinear undo it.
//   - After a Swish (or a float Concat, Add, MaxPool or Resize), a Mul by channel stands before the QuantizeLinear, and
//     the Convs that read it have the factors in their weights.
//   - Where float nodes alone read a Conv (a spectrum on its way to its power, the heads of a detector), it is as
//   before
//     a Swish.
//
// The quantizers keep one scale for the tensor: with a scale for each channel they take ONNX Runtime a hundred times as
// long wherever it has moved the channels to the last axis.
#pragma once

#include <optional>

#include "core/config/quantization_config.h"
#include "core/decide/corrected_model.h"

namespace tersor::ptq {

/// Changes the model where Convs feed a function of each element by itself (unary_region.h: a Swish, a GELU, ...), and
/// where float nodes alone read one and scales by channel halve its noise; after float nodes only in models with such
/// a function. The statistics get entries for the new tensors. The Muls that stand before quantizers are by ones:
/// equalize_channels() fills them, and drop_idle_scales() takes out those that it left. None where
/// nothing is inserted, as on platforms that quantize outputs.
std::optional<Rewrite> split_scales(CorrectedModel& model, const config::QuantizationConfig&);

}  // namespace tersor::ptq
