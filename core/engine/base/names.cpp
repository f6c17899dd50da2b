// SPDX-License-Identifier: Apache-2.0
#include "core/base/names.h"

#include <algorithm>
#include <numeric>

#include "core/base/number_text.h"
#include "core/base/utf8.h"

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
    {"relu_bound_to_power_of_2", "relu_unbound_correction"},
    {"OperatorSetGroup", "OperatorSetConcat"},
    {"quantization_configurations", "quantization_config_list"},
};

}  // namespace

std::string_view canonical_name(std::string_view word) {
  for (const Alias& alias : kAliases)
    if (alias.spelling == word) return alias.canonical;
  return word;
}

namespace {

char lower_case(char letter) {
  return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

/// Letters to add, leave out or change, capitals or not.
size_t edits(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t k = 0; k < b.size(); ++k) {
      const size_t change = diagonal + (lower_case(a[i]) == lower_case(b[k]) ? 0 : 1);
      diagonal = row[k + 1];
      row[k + 1] = std::min({change, row[k] + 1, diagonal + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string lower_case(std::string text) {
  for (char& letter : text)
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  return text;
}

std::string nearest_name(std::string_view word, const std::vector<std::string>& candidates) {
  std::string best;
  size_t fewest = std::max<size_t>(2, (word.size() + 1) / 2) + 1;
  for (const std::string& one : candidates) {
    const size_t least = word.size() > one.size() ? word.size() - one.size() : one.size() - word.size();
    if (least >= fewest) continue;
    const size_t distance = edits(word, one);
    if (distance >= fewest) continue;
    fewest = distance;
    best = one;
  }
  return best;
}

std::string number_in_nine_digits(double value) {
  return formatted("%.9g", value);
}

std::string joined(const std::vector<std::string>& words, std::string_view between) {
  std::string list;
  for (const std::string& one : words) list += std::string(list.empty() ? "" : between) + one;
  return list;
}

std::string shortened(std::string_view text, size_t most) {
  if (text.size() <= most) return std::string(text);
  return std::string(beginning(text, most - 3)) + "...";
}

std::string suggestion(std::string_view word, const std::vector<std::string>& candidates) {
  const std::string nearest = nearest_name(word, candidates);
  return nearest.empty() ? "" : "Did you mean \"" + nearest + "\"? ";
}

namespace detail {

void unknown_word(const char* kind, std::string_view word, const std::vector<std::string>& allowed,
                  std::string_view place) {
  throw Error(ErrorCode::kInvalidConfig, "\"" + shortened(word) + "\" is not a " + kind + ".", std::string(place),
              suggestion(word, allowed) + "Use one of: " + joined(allowed) + ".");
}

}  // namespace detail
}  // namespace tersor
