// SPDX-License-Identifier: Apache-2.0
// A Softmax gives the same for x and x + c. Where a kernel with a bias alone feeds one and its output is quantized, the
// bias takes up the c that centres what calibration saw on zero, so that the range is no wider than the values.
#pragma once

#include <optional>

#include "core/config/quantization_config.h"
#include "core/decide/corrected_model.h"

namespace tersor::ptq {

/// Changes biases and statistics where -(max + min) / 2 of the kernel's output, added to it, makes its quantizer's step
/// smaller. The tensor has another name afterwards.
std::optional<Rewrite> shift_softmax_inputs(CorrectedModel& model, const config::QuantizationConfig& config);

}  // namespace tersor::ptq
