// SPDX-License-Identifier: Apache-2.0
// A bounded Relu (Clip from 0 to m, Relu6) whose bound is no power of two leaves part of a POWER_OF_TWO quantizer
// unused: bound 6 in a range of 8. Between two kernels the bound is moved to the threshold, and the float function
// stays the same:
//
//   Conv(W1, b1) -> Clip(0, m) -> Conv(W2)   becomes   Conv(W1 / s, b1 / s) -> Clip(0, m / s) -> Conv(W2 s)
//
// with m / s the next power of two.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "core/config/quantization_config.h"
#include "core/decide/corrected_model.h"

namespace tersor::ptq {

/// Changes weights, bounds and statistics where the threshold of the Clip's output is above m. Each tensor in between
/// must have one reader.
std::optional<Rewrite> bound_relus(CorrectedModel& model, const config::QuantizationConfig& config);

/// How a quantized file says in its metadata (kTensorFactors) what tensors of the float model are multiplied by: a line
/// "FACTOR NAME" for each.
constexpr std::string_view kTensorFactors = "tersor.tensor_factors";
/// Lines that are none of these are left out.
std::map<std::string, double> read_tensor_factors(std::string_view text);

}  // namespace tersor::ptq
