// SPDX-License-Identifier: Apache-2.0
// What operators that take axes away share: the type of their output and the loop over their input.
#pragma once

#include <optional>
#include <vector>

#include "core/ops/layout.h"

namespace tersor::ops {

/// The type of `from` with the (logical, ascending) `axes` reduced to 1, or taken out where `keep_dims` is false, such
/// that the output lies in the order of the input. None when no layout of the output does; always some for a plain one.
std::optional<TensorType> reduced_type(const TensorType& from, const std::vector<int>& axes, bool keep_dims);

/// Goes through the input in memory order and says where each run's output elements lie.
class ReducedLoop {
 public:
  ReducedLoop(const TensorType& from, const std::vector<int>& axes);

  /// Calls body(first input element, first output element, count, whether the output moves with the input).
  template <class Body>
  void for_each_run(Body body) const {
    if (runs_ == 0) return;
    std::vector<int64_t> index(outer_.size(), 0);
    int64_t to = 0;
    for (int64_t run = 0; run < runs_; ++run) {
      body(run * inner_.length, to, inner_.length, inner_.step != 0);
      for (size_t k = outer_.size(); k-- > 0;) {
        to += outer_[k].step;
        if (++index[k] < outer_[k].length) break;
        to -= outer_[k].step * outer_[k].length;
        index[k] = 0;
      }
    }
  }

 private:
  struct Axis {
    int64_t length = 1;
    int64_t step = 0;  // of the output; 0 along a reduced axis
  };
  std::vector<Axis> outer_;
  Axis inner_;
  int64_t runs_ = 0;
};

}  // namespace tersor::ops
