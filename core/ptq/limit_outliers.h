// SPDX-License-Identifier: Apache-2.0
// One sample among many does not set a range. Where a tensor reaches more than kFarOut times as far as in any other
// sample, to either side, a single sample has made that: its values count as lying kRoom times as far out as the others
// reach and no further, in the tensor's histogram and in its channels. Tensors seen fewer than kFewestTimes stay as
// they are.
#pragma once

#include <optional>

#include "core/calibrate/statistics.h"
#include "core/ptq/rewrite.h"

namespace tersor::ptq {

constexpr double kFarOut = 4, kRoom = 2;
constexpr uint64_t kFewestTimes = 16;

/// Limits the tensors of `statistics`. What was done, none where it was nothing.
std::optional<Rewrite> limit_outliers(calibrate::Statistics& statistics);

}  // namespace tersor::ptq
