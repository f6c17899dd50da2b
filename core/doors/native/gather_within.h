// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/job/tersor.h"
#include "core/native/workers.h"
#include "core/rounds/rounds.h"
#include "core/samples/data_set.h"

namespace tersor {

/// How good the file has to be at least.
struct Aim {
  /// Percentage points of right answers that may be lost, or hundredths of a metric of the user's own.
  std::optional<double> accuracy = {};
  std::optional<double> sqnr = {};  // in dB
};

struct GatheredWithin {
  Gathered gathered;
  std::string met;  // how the aim is; a sentence
};

/// The smallest model, or the one with the fewest operators in float, that is as good as the aim (BudgetCurve). Right
/// answers are of `labels`, unless the settings have a metric of the user's own. Error kInvalidLabels at `place` where
/// there is neither and accuracy is aimed at; kInvalidConfig where no choice is as good, or there is none.
GatheredWithin gather_within(const std::shared_ptr<const OpenedModel>& opened, Settings settings,
                             const std::shared_ptr<const samples::DataSet>& data, std::vector<int64_t> labels,
                             std::vector<int64_t> chosen, const Aim& aim, std::string_view place,
                             const Workforce& workforce);

}  // namespace tersor
