// SPDX-License-Identifier: Apache-2.0
#include "core/config/output_kind.h"

#include <algorithm>

#include "core/base/error.h"

namespace tersor::config {

void check_output_roles(const OutputRoles& roles, const std::vector<std::string>& outputs) {
  for (const auto& [name, kind] : roles)
    if (std::find(outputs.begin(), outputs.end(), name) == outputs.end())
      throw Error(ErrorCode::kInvalidConfig, "The model has no output \"" + shortened(name) + "\".",
                  "config.output_roles." + shortened(name),
                  suggestion(name, outputs) + "Its outputs: " + joined(outputs) + ".");
}

}  // namespace tersor::config
