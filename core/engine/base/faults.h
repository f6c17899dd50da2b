// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/error.h"

namespace tersor {

/// Everything that is wrong with one input, so that a person hears of all of it at once. Used where a file or form has
/// many independent parts: try each, then throw_if_any(). Nobody reads thousands of faults: after kMost nothing more is
/// tried, so that a file of any length is refused in little time.
class Faults {
 public:
  static constexpr size_t kMost = 50;

  /// Runs `part` and keeps the Error it throws; runs nothing once there are more than kMost different ones.
  template <class Part>
  void attempt(Part&& part) {
    if (different_.size() > kMost) return;
    try {
      std::forward<Part>(part)();
    } catch (const Error& error) {
      add(error);
    }
  }
  void add(Error error) {
    if (different_.size() > kMost) return;
    different_.insert(error.what());
    errors_.push_back(std::move(error));
  }
  bool empty() const { return errors_.empty(); }
  const std::vector<Error>& errors() const { return errors_; }

  /// Nothing when there is no fault. One fault is thrown as it is, with code `code`. Several become one Error of that
  /// code: the message counts them and lists each, kMost at most, on a line of its own as "place: message hint"; the
  /// place is `place`.
  void throw_if_any(ErrorCode code, std::string_view what, std::string_view place) const;

 private:
  std::vector<Error> errors_;
  std::set<std::string> different_;  // a part that is used twice has its faults twice
};

}  // namespace tersor
