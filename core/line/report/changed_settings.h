// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <tuple>
#include <vector>

#include "core/base/fields.h"
#include "core/config/quantization_config.h"

namespace tersor::report {

/// A field of the configuration whose value differs from its default.
struct ChangedSetting {
  std::string field;
  std::string value;
  std::string by_default;

  static constexpr auto fields() {
    return std::make_tuple(tersor::field("field", &ChangedSetting::field, "Field of QuantizationConfig."),
                           tersor::field("value", &ChangedSetting::value, "What it was set to, as in JSON."),
                           tersor::field("default", &ChangedSetting::by_default, "What it is unless set, as in JSON."));
  }
};

/// Returns the fields in their order in QuantizationConfig.
std::vector<ChangedSetting> changed_settings(const config::QuantizationConfig& config);

}  // namespace tersor::report
