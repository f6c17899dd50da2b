// SPDX-License-Identifier: Apache-2.0
// Scales inputs of the model that use only part of their quantizer's range, for example values up to 2.6 in a range of
// 4. It applies if the input feeds only a kernel, possibly through zero padding. A Mul stretches the input to the
// threshold, and the kernel's weights are divided by the factor:
//
//   x -> Conv(W, b)   becomes   x -> Mul(threshold / largest) -> Conv(W largest / threshold, b)
//
// The file's input keeps its meaning; only the output of the Mul is quantized. For POWER_OF_TWO and SYMMETRIC inputs.
#pragma once

#include <optional>

#include "core/config/quantization_config.h"
#include "core/decide/corrected_model.h"

namespace tersor::ptq {

/// Changes model and statistics. The input then stays float, and its Mul is quantized as the input was. Tensors whose
/// values change get new names.
std::optional<Rewrite> scale_inputs(CorrectedModel& model, const config::QuantizationConfig& config);

}  // namespace tersor::ptq
