// SPDX-License-Identifier: Apache-2.0
#include "core/base/names.h"

namespace tersor {

namespace {

struct Alias {
  std::string_view spelling;
  std::string_view canonical;
};

// The requirement documents come from different years of the same toolkit; their spelling is canonical here.
constexpr Alias kAliases[] = {
    {"SYMMETRIC_UNIFORM", "POWER_OF_TWO"},
    {"LP", "Lp"},
    {"activation_error_method", "activation_threshold_method"},
    {"weights_error_method", "weights_threshold_method"},
    {"OperatorSetGroup", "OperatorSetConcat"},
    {"quantization_configurations", "quantization_config_list"},
};

}  // namespace

std::string_view canonical_name(std::string_view word) {
  for (const Alias& alias : kAliases)
    if (alias.spelling == word) return alias.canonical;
  return word;
}

namespace detail {

void unknown_word(const char* kind, std::string_view word, const std::vector<std::string>& allowed,
                  std::string_view place) {
  std::string list;
  for (const std::string& one : allowed) list += (list.empty() ? "" : ", ") + one;
  throw Error(ErrorCode::kInvalidConfig, "\"" + std::string(word) + "\" is not a " + kind + ".", std::string(place),
              "Use one of: " + list + ".");
}

}  // namespace detail
}  // namespace tersor
