// SPDX-License-Identifier: Apache-2.0
// Regular expressions over names of nodes, as NNCF's ignored_scope has them.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tersor::framework {

/// A regular expression in the notation of Python and JavaScript: . [a-z] [^...] \d \w \s and their opposites, ( ) (?:
/// ) |
/// * + ? {m,n} ^ $. It is run as an automaton, so that no expression takes longer than the product of its length and
/// the name's. Letters are bytes.
class NamePattern {
 public:
  /// Error kInvalidConfig at `place` for what is no expression, or has what an automaton does not know: looking ahead
  /// or behind, and references to groups.
  NamePattern(std::string_view text, const std::string& place);

  /// True where the expression matches from the name's beginning on; what follows may be anything, as with re.match.
  bool matches(std::string_view name) const;

 private:
  struct Step {
    enum class Kind { kByte, kSplit, kBegin, kEnd, kMatch } kind = Kind::kByte;
    std::bitset<256> bytes = {};      // of kByte
    std::ptrdiff_t next[2] = {1, 1};  // from here; kSplit goes both ways
  };
  class Reader;
  std::vector<Step> steps_;
};

}  // namespace tersor::framework
