// SPDX-License-Identifier: Apache-2.0
#include "core/samples/selection.h"

#include <algorithm>

#include "core/base/error.h"

namespace tersor::samples {

std::vector<int64_t> spread_evenly(int64_t total, int64_t count) {
  TERSOR_CHECK(total >= 0 && count >= 0);
  count = std::min(count, total);
  std::vector<int64_t> chosen(static_cast<size_t>(count));
  for (int64_t k = 0; k < count; ++k) chosen[static_cast<size_t>(k)] = k * total / count;
  return chosen;
}

Split split(int64_t total, int64_t calibration_count) {
  Split result;
  result.calibration = spread_evenly(total, calibration_count);
  auto next = result.calibration.begin();
  for (int64_t i = 0; i < total; ++i) {
    if (next != result.calibration.end() && *next == i) {
      ++next;
    } else {
      result.evaluation.push_back(i);
    }
  }
  if (result.evaluation.empty()) result.evaluation = result.calibration;
  return result;
}

std::vector<int64_t> for_evaluation(int64_t total, const std::vector<int64_t>& calibrated, int64_t most) {
  std::vector<int64_t> free;
  for (int64_t sample = 0; sample < total; ++sample)
    if (!std::binary_search(calibrated.begin(), calibrated.end(), sample)) free.push_back(sample);
  if (free.empty()) free = spread_evenly(total, total);
  std::vector<int64_t> chosen;
  for (const int64_t place : spread_evenly(static_cast<int64_t>(free.size()), most))
    chosen.push_back(free[static_cast<size_t>(place)]);
  return chosen;
}

int64_t default_calibration_count(int64_t total, bool evaluated_too) {
  constexpr int64_t kEnough = 128;
  return std::min(kEnough, evaluated_too ? (total + 1) / 2 : total);
}

}  // namespace tersor::samples
