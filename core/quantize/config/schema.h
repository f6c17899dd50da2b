// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "core/base/json_fwd.h"

namespace tersor::config {

/// The JSON Schema (draft 2020-12) of a QuantizationConfig, from its list of fields. Numbers have their limits and
/// enums their implemented words; a field that is not implemented allows only its default.
Json quantization_config_schema();

/// Explains a field to the user, a line per fact. Older names are understood. Error kInvalidConfig for an unknown name.
std::string explain_field(std::string_view name);

}  // namespace tersor::config
