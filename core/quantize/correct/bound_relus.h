// SPDX-License-Identifier: Apache-2.0
// Moves the bound of a clipped Relu (Clip from 0 to m, Relu6) to a power of two. Otherwise a POWER_OF_TWO quantizer
// leaves part of its range unused: a bound of 6 needs a range of 8. Between two kernels the change leaves the float
// function as it is:
//
//   Conv(W1, b1) -> Clip(0, m) -> Conv(W2)   becomes   Conv(W1 / s, b1 / s) -> Clip(0, m / s) -> Conv(W2 s)
//
// where m / s is the next power of two.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "core/config/quantization_config.h"
#include "core/decide/corrected_model.h"

namespace tersor::ptq {

/// Changes weights, bounds and statistics where the threshold of the Clip's output is above m. Each tensor in between
/// must have a single reader.
std::optional<Rewrite> bound_relus(CorrectedModel& model, const config::QuantizationConfig& config);

/// The metadata key of a quantized file that lists the factors by which tensors of the float model are multiplied: a
/// line "FACTOR NAME" for each tensor.
constexpr std::string_view kTensorFactors = "tersor.tensor_factors";
/// Parses such lines and skips others; the result is by tensor name.
std::map<std::string, double> read_tensor_factors(std::string_view text);

}  // namespace tersor::ptq
