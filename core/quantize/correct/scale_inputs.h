// SPDX-License-Identifier: Apache-2.0
// An input of the model whose values end below the threshold of its quantizer (2.6 in a range of 4) leaves part of the
// range unused. Where it alone feeds a kernel, a zero padding between them or none, a Mul stretches it to the threshold
// and the kernel's weights take the factor back:
//
//   x -> Conv(W, b)   becomes   x -> Mul(threshold / largest) -> Conv(W largest / threshold, b)
//
// The file's input keeps its meaning; only what the Mul makes is quantized. For POWER_OF_TWO and SYMMETRIC inputs.
#pragma once

#include <optional>

#include "core/config/quantization_config.h"
#include "core/decide/corrected_model.h"

namespace tersor::ptq {

/// Changes model and statistics; such an input stays float then, and its Mul is quantized as the input was. Tensors of
/// another value than before have other names.
std::optional<Rewrite> scale_inputs(CorrectedModel& model, const config::QuantizationConfig& config);

}  // namespace tersor::ptq
