// SPDX-License-Identifier: Apache-2.0
// The JSON type by name, for headers. Include core/base/json.h in .cpp files only: it is slow to compile.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace tersor {
/// Keeps members in the order they were written, so that equal values print equal bytes.
using Json = nlohmann::ordered_json;
}  // namespace tersor
