// SPDX-License-Identifier: Apache-2.0
// A subcommand is one file of this folder: a function that adds its options and what to do to the program's command
// line.
#pragma once

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace tersor::cli {

using AddCommand = void (*)(CLI::App& program);

/// Check of an option that counts something: a whole number from `least`.
inline CLI::Validator count_from(int64_t least, int64_t most = std::numeric_limits<int64_t>::max()) {
  const auto check = [least, most](std::string& text) {
    int64_t value = 0;
    if (CLI::detail::lexical_cast(text, value) && value >= least && value <= most) return std::string();
    const std::string from = std::to_string(least);
    const bool open = most == std::numeric_limits<int64_t>::max();
    return "Found \"" + text + "\" where a whole number " +
           (open ? "of " + from + " or more" : "from " + from + " to " + std::to_string(most)) + " is expected.";
  };
  return CLI::Validator(check, "");
}

/// Check of an option that measures something: a number above 0, or 0 too.
inline CLI::Validator amount(bool or_zero) {
  const auto check = [or_zero](std::string& text) {
    double value = 0;
    if (CLI::detail::lexical_cast(text, value) && std::isfinite(value) && (value > 0 || (or_zero && value == 0)))
      return std::string();
    return "Found \"" + text + "\" where a number " + (or_zero ? "of 0 or more" : "above 0") + " is expected.";
  };
  return CLI::Validator(check, "");
}

/// Check of an option that takes one of these words.
inline CLI::Validator one_of(std::vector<std::string> words) {
  const auto check = [words = std::move(words)](std::string& text) {
    if (std::find(words.begin(), words.end(), text) != words.end()) return std::string();
    std::string all;
    for (const std::string& word : words) all += (all.empty() ? "" : ", ") + word;
    return "Found \"" + text + "\" where one of these is expected: " + all + ".";
  };
  return CLI::Validator(check, "");
}

/// Adds --threads, of the commands that spread samples over threads (native/workers.h: thread_count()).
inline void add_threads(CLI::App& command, int& threads) {
  command.add_option("--threads", threads, "Threads; default: one for each core, at most 16")
      ->check(count_from(0, 1024));
}

}  // namespace tersor::cli
