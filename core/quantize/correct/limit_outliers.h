// SPDX-License-Identifier: Apache-2.0
// Prevents a single sample from setting a range. It acts if a tensor reaches more than kFarOut
// times as far in one sample as in all others. Values of that sample beyond kRoom times the reach of the others are
// then clipped to it, in the tensor's histogram and in its channels. Tensors seen fewer than kFewestTimes times are not
// changed.
#pragma once

#include <optional>

#include "core/config/quantization_config.h"
#include "core/decide/corrected_model.h"

namespace tersor::ptq {

constexpr double kFarOut = 4, kRoom = 2;
constexpr uint64_t kFewestTimes = 16;

/// Limits the tensors of the statistics; returns nothing if nothing was changed. NOCLIPPING uses all values as they
/// were seen.
std::optional<Rewrite> limit_outliers(CorrectedModel& model, const config::QuantizationConfig& config);

}  // namespace tersor::ptq
