// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string_view>

#include "core/job/tersor.h"

namespace tersor::test {

/// What the correction of that field did; null where it did not act.
inline const ptq::Rewrite* rewrite_of(const Draft& draft, std::string_view field) {
  const auto found = std::find_if(draft.rewrites.begin(), draft.rewrites.end(),
                                  [&](const ptq::Rewrite& rewrite) { return rewrite.field == field; });
  return found == draft.rewrites.end() ? nullptr : &*found;
}

/// At how many places it acted.
inline int64_t places(const Draft& draft, std::string_view field) {
  const ptq::Rewrite* rewrite = rewrite_of(draft, field);
  return rewrite == nullptr ? 0 : rewrite->places;
}

constexpr std::string_view kEqualization = "activation_channel_equalization";
constexpr std::string_view kShiftNegative = "shift_negative_activation_correction";

}  // namespace tersor::test
