// SPDX-License-Identifier: Apache-2.0
#include "core/report/changed_settings.h"

#include "core/base/json.h"

namespace tersor::report {

std::vector<ChangedSetting> changed_settings(const config::QuantizationConfig& config) {
  std::vector<ChangedSetting> changed;
  const Json set = to_json(config), defaults = to_json(config::QuantizationConfig());
  for (const auto& [field, value] : set.items())
    if (value != defaults.at(field))
      changed.push_back({field, to_text(value, false), to_text(defaults.at(field), false)});
  return changed;
}

}  // namespace tersor::report
