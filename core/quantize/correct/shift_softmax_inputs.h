// SPDX-License-Identifier: Apache-2.0
// Centres inputs of a Softmax on zero. A Softmax gives the same result for x and x + c. If a kernel with a bias is the
// only producer of its input and the kernel's output is quantized, c is added to the bias. The range is then no wider
// than the values.
#pragma once

#include <optional>

#include "core/config/quantization_config.h"
#include "core/decide/corrected_model.h"

namespace tersor::ptq {

/// Changes biases and statistics. It adds c = -(max + min) / 2 of the kernel's output if that makes the step of its
/// quantizer smaller. The tensor gets a new name.
std::optional<Rewrite> shift_softmax_inputs(CorrectedModel& model, const config::QuantizationConfig& config);

}  // namespace tersor::ptq
