// SPDX-License-Identifier: Apache-2.0
// Lifts activations with a small negative side (HardSwish, LeakyRelu, ...), which waste half of a signed range. If such
// a tensor leads to a single Conv or Gemm, an Add lifts it above zero, so that its integers can be unsigned:
//
//   act -> Conv(W, b)   becomes   act -> Add(shift) -> [Pad(shift)] -> Conv(W, b - shift * sum W)
//
// act and Add are a fused group; only the output of the Add is quantized. Operators on the way that map a constant to
// itself (reshapes, pools) work on the shifted tensor; zero padding becomes padding with the shift. It applies to
// POWER_OF_TWO and SYMMETRIC activations whose sign the platform leaves open. UNIFORM activations need no shift,
// because their zero point has the same effect.
#pragma once

#include <optional>

#include "core/config/quantization_config.h"
#include "core/decide/corrected_model.h"

namespace tersor::ptq {

/// Changes model and statistics where the negative side is at most shift_negative_ratio of the threshold and the shift
/// lowers the predicted error of the tensor.
///
/// With shift_negative_threshold_recalculation the threshold is chosen again for the shifted values. With
/// shift_negative_params_search shift and threshold are chosen together. Otherwise the threshold stays. Tensors whose
/// values change get new names. The quantizer of the activation moves to its Add (the nodes that the rewrite inserts),
/// with the activation's configuration and the threshold found.
std::optional<Rewrite> shift_negative_activations(CorrectedModel& model, const config::QuantizationConfig& config);

}  // namespace tersor::ptq
