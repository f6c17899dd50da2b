// SPDX-License-Identifier: Apache-2.0
#include "core/base/faults.h"

namespace tersor {

void Faults::throw_if_any(ErrorCode code, std::string_view what, std::string_view place) const {
  if (errors_.empty()) return;
  if (errors_.size() == 1) throw Error(code, errors_[0].message, errors_[0].place, errors_[0].hint);
  std::string message = std::string(what) + " has " + std::to_string(errors_.size()) + " faults:";
  for (const Error& error : errors_) message += std::string("\n") + error.what();
  throw Error(code, message, std::string(place));
}

}  // namespace tersor
