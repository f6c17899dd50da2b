// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/trial/held_errors.h"

namespace tersor {

/// Finds which of the constants that the platform stores in integers are worth their bytes in float: first all of them
/// are in float; if that gains, each of them is stored in integers alone; then those are in float that cost most, so
/// many that the others add no more than 2 dB of noise together.
class ConstantTrial {
 public:
  /// A model with constants in float, to be judged.
  struct InFloat {
    std::vector<std::string> names;
    std::string stored = {};  // the only constant in integers; empty: not one alone
    bool is_last = false;     // of the trial: its names are the result if it gains
  };

  /// `all`: names of the stored constants. `prefers_accuracy`: all that gain stay in float, none is stored for its
  /// size.
  ConstantTrial(std::vector<std::string> all, bool prefers_accuracy);

  /// The next model; none if there are no more.
  std::optional<InFloat> next();
  /// Records the errors of a model. `gains`: over the model with the constants in integers.
  void take(const InFloat& tried, std::vector<HeldError> errors, bool gains);

 private:
  std::vector<std::string> costly() const;

  std::vector<std::string> all_;
  size_t single_;                                      // the next constant that is stored alone
  size_t singles_;                                     // how many are
  bool begun_ = false, over_ = false;                  // over: there are no more models
  std::vector<HeldError> all_in_float_;                // errors with all of them in float; empty: that does not gain
  std::vector<std::pair<double, std::string>> costs_;  // noise that storing a constant adds
};

}  // namespace tersor
