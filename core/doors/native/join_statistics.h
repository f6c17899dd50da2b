// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "core/calibrate/statistics.h"

namespace tersor {

/// Puts together statistics that several processes have made of one data set.
class JoinedStatistics {
 public:
  /// Of a .tstats file; `place` names it in errors. Errors of calibrate::read() and calibrate::merge(); kMismatch where
  /// the data set is not that of the parts before.
  void add(std::span<const std::byte> file, const std::string& place);
  /// Of all parts, of which there is one at least.
  calibrate::Statistics take() { return std::move(*all_); }

 private:
  std::optional<calibrate::Statistics> all_;
  std::string first_;  // place of the first part
};

/// What is missing where these are not all parts of one calibration: a sentence; empty where they are.
std::string missing_parts(const calibrate::Statistics& statistics);

}  // namespace tersor
