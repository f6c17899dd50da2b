// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <tuple>

#include "core/base/fields.h"

namespace tersor {

/// A remark that stops nothing, with the fields of an Error. `code` is a word such as "newer_opset".
struct Diagnostic {
  std::string code;
  std::string message;
  std::string place;
  std::string hint;

  bool operator==(const Diagnostic&) const = default;
  static constexpr auto fields() {
    return std::make_tuple(field("code", &Diagnostic::code, "What kind of remark, as a word."),
                           field("message", &Diagnostic::message, "The sentence."),
                           field("place", &Diagnostic::place, "Where in the model; may be empty."),
                           field("hint", &Diagnostic::hint, "What to do about it; may be empty."));
  }
};

}  // namespace tersor
