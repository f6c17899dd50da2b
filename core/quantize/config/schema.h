// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "core/base/json_fwd.h"

namespace tersor::config {

/// A QuantizationConfig as JSON Schema (draft 2020-12), from its list of fields. Numbers keep their limits and enums
/// the words that act; a field that does not act yet takes its default only.
Json quantization_config_schema();

/// What a person wants to know of one field, a line for each point. Older names are understood. Error kInvalidConfig
/// for a name that is none.
std::string explain_field(std::string_view name);

}  // namespace tersor::config
