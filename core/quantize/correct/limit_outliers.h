// SPDX-License-Identifier: Apache-2.0
// One sample among many does not set a range. Where a tensor reaches more than kFarOut times as far as in any other
// sample, to either side, a single sample has made that: its values count as lying kRoom times as far out as the others
// reach and no further, in the tensor's histogram and in its channels. Tensors seen fewer than kFewestTimes stay as
// they are.
#pragma once

#include <optional>

#include "core/config/quantization_config.h"
#include "core/decide/corrected_model.h"

namespace tersor::ptq {

constexpr double kFarOut = 4, kRoom = 2;
constexpr uint64_t kFewestTimes = 16;

/// Limits the tensors of the statistics. What was done, none where it was nothing. NOCLIPPING takes what was seen as it
/// is.
std::optional<Rewrite> limit_outliers(CorrectedModel& model, const config::QuantizationConfig& config);

}  // namespace tersor::ptq
