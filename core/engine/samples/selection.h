// SPDX-License-Identifier: Apache-2.0
// Which samples of one data set calibrate and which evaluate. Deterministic, and spread evenly over the order, so over
// the class folders too.
#pragma once

#include <cstdint>
#include <vector>

namespace tersor::samples {

/// `count` of `total` samples: floor(k * total / count), k = 0 ... count - 1. All when count is total or more.
std::vector<int64_t> spread_evenly(int64_t total, int64_t count);

struct Split {
  std::vector<int64_t> calibration;
  std::vector<int64_t> evaluation;
};

/// Calibration takes spread_evenly(total, calibration_count), evaluation the others, or all where that leaves none.
Split split(int64_t total, int64_t calibration_count);

/// At most `most`, spread evenly, of the samples that are not among those calibrated with, which ascend; of all where
/// that leaves none.
std::vector<int64_t> for_evaluation(int64_t total, const std::vector<int64_t>& calibrated, int64_t most);

/// How many samples to calibrate with when nobody says: 128, but at most half of them when they are to be evaluated
/// too.
int64_t default_calibration_count(int64_t total, bool evaluated_too);

}  // namespace tersor::samples
