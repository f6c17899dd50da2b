// SPDX-License-Identifier: Apache-2.0
// A subcommand is one file of this folder: a function that adds its options and what to do to the program's command
// line.
#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <limits>

namespace tersor::cli {

using AddCommand = void (*)(CLI::App& program);

/// Check of an option that counts something: a whole number from `least`.
inline CLI::Validator count_from(int64_t least, int64_t most = std::numeric_limits<int64_t>::max()) {
  const auto check = [least, most](std::string& text) {
    int64_t value = 0;
    if (CLI::detail::lexical_cast(text, value) && value >= least && value <= most) return std::string();
    const std::string upper = most == std::numeric_limits<int64_t>::max() ? "" : " to " + std::to_string(most);
    return "Found \"" + text + "\" where a whole number from " + std::to_string(least) + upper + " is expected.";
  };
  return CLI::Validator(check, "");
}

/// Check of --threads.
inline CLI::Validator thread_limit() {
  return count_from(0, 1024);
}

}  // namespace tersor::cli
