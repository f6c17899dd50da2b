// SPDX-License-Identifier: Apache-2.0
// An activation with a small negative side (HardSwish, LeakyRelu, ...) wastes half of a signed range. Where such a
// tensor leads to one Conv or Gemm, an Add lifts it above zero, so that its integers need no sign:
//
//   act -> Conv(W, b)   becomes   act -> Add(shift) -> [Pad(shift)] -> Conv(W, b - shift * sum W)
//
// act and Add are one fused group, only the Add's output is quantized. Operators on the way that keep a constant what
// it is (reshapes, pools) work on the shifted tensor; zero padding becomes padding with the shift. For POWER_OF_TWO and
// SYMMETRIC activations whose sign the platform leaves open; the zero point of UNIFORM ones does the same for nothing.
#pragma once

#include <optional>

#include "core/config/quantization_config.h"
#include "core/decide/corrected_model.h"

namespace tersor::ptq {

/// Changes model and statistics where the negative side is at most shift_negative_ratio of the threshold and the shift
/// makes the predicted error of the tensor smaller. With shift_negative_threshold_recalculation the threshold is chosen
/// anew for the shifted values, with shift_negative_params_search shift and threshold together, else it stays. Every
/// tensor of another value than before has another name. The activation is not quantized any more, its Add (the nodes
/// that the rewrite inserts) is, by the activation's configuration and the threshold found.
std::optional<Rewrite> shift_negative_activations(CorrectedModel& model, const config::QuantizationConfig& config);

}  // namespace tersor::ptq
