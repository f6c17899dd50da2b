// SPDX-License-Identifier: Apache-2.0
// Enums cross every edge as words. An enum that does so specializes EnumWords with its table:
//
//   template <> struct tersor::EnumWords<ThresholdSelectionMethod> {
//     static constexpr const char* kind = "threshold selection method";
//     static constexpr std::pair<ThresholdSelectionMethod, std::string_view> words[] = {{...kMse, "MSE"}, ...};
//   };
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/error.h"

namespace tersor {

template <class E>
struct EnumWords;

/// Older and newer spellings of field names and enum words, accepted on reading only. Returns the canonical spelling,
/// or `word` itself where it has no alias. Example: "SYMMETRIC_UNIFORM" is "POWER_OF_TWO", "activation_error_method" is
/// "activation_threshold_method".
std::string_view canonical_name(std::string_view word);

/// With the letters A to Z as a to z.
std::string lower_case(std::string text);

/// The candidate that takes the fewest edits (letters added, left out or changed) to become `word`, the first of
/// equals; empty when there is none, or when all are further away than half of the word.
std::string nearest_name(std::string_view word, const std::vector<std::string>& candidates);

/// "Did you mean "X"? " where there is a nearest name, else nothing: the beginning of a hint.
std::string suggestion(std::string_view word, const std::vector<std::string>& candidates);

/// In nine digits at most, which tell any two floats apart: "0.1", "1e-08".
std::string number_in_nine_digits(double value);

/// "a, b, c".
std::string joined(const std::vector<std::string>& words, std::string_view between = ", ");

/// The text as a message quotes it: whole where it is short, else its beginning and "...".
std::string shortened(std::string_view text, size_t most = 80);

template <class E>
std::string_view enum_word(E value) {
  for (const auto& [candidate, word] : EnumWords<E>::words)
    if (candidate == value) return word;
  return "?";
}

template <class E>
std::vector<std::string> enum_words() {
  std::vector<std::string> words;
  for (const auto& entry : EnumWords<E>::words) words.emplace_back(entry.second);
  return words;
}

namespace detail {
[[noreturn]] void unknown_word(const char* kind, std::string_view word, const std::vector<std::string>& allowed,
                               std::string_view place);
}

/// The enum value of a word (case-sensitive, aliases accepted). Error kInvalidConfig lists the allowed words.
template <class E>
E enum_from_word(std::string_view word, std::string_view place) {
  for (const auto& [value, known] : EnumWords<E>::words)
    if (known == word) return value;
  for (const auto& [value, known] : EnumWords<E>::words)
    if (known == canonical_name(word)) return value;
  detail::unknown_word(EnumWords<E>::kind, word, enum_words<E>(), place);
}

}  // namespace tersor
