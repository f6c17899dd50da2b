// SPDX-License-Identifier: Apache-2.0
#include "core/base/faults.h"

#include <algorithm>

namespace tersor {

void Faults::throw_if_any(ErrorCode code, std::string_view what, std::string_view place) const {
  if (errors_.empty()) return;
  if (errors_.size() == 1) throw Error(code, errors_[0].message, errors_[0].place, errors_[0].hint);
  const size_t told = std::min(errors_.size(), kMost);
  std::string message = std::string(what) + " has " + (told < errors_.size() ? "more than " : "") +
                        std::to_string(told) + " faults" +
                        (told < errors_.size() ? ", of which these are the first:" : ":");
  for (size_t i = 0; i < told; ++i) message += std::string("\n") + errors_[i].what();
  throw Error(code, message, std::string(place));
}

}  // namespace tersor
