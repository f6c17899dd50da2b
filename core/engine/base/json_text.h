// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace tersor {

/// A JSON value as its compact text: what one room carries and another one reads. In JSON it is the value itself.
struct JsonText {
  std::string text = "null";
  bool operator==(const JsonText&) const = default;
};

}  // namespace tersor
