// SPDX-License-Identifier: Apache-2.0
// What element-wise operators share: one layout for all inputs, numpy's broadcasting, and the loop over it.
#pragma once

#include <span>
#include <vector>

#include "core/ops/op.h"

namespace tersor::ops {

/// The layout in which inputs of that rank meet with the fewest bytes to convert: channels last where the inputs that
/// lie so (constants and those that are the same in both layouts left aside) have at least as many elements as the
/// plain ones.
Layout shared_layout(std::span<const Input> inputs, int rank);
/// Forms for an element-wise operator: all inputs in the shared layout. Inputs with more than one element get the
/// rank of the output; single elements stay as they are.
std::vector<Form> elementwise_forms(std::span<const Input> inputs);
/// Numpy's broadcast of all inputs, in the layout that elementwise_forms() chose. Error kInvalidModel naming the
/// shapes.
TensorType broadcast_type(std::span<const Input> inputs, DType dtype);

/// The loop of a broadcast over up to three inputs in memory order, with axes joined where all inputs allow it.
class BroadcastLoop {
 public:
  BroadcastLoop(std::span<const Input> inputs, const TensorType& output);

  /// The innermost run: its length, and by how many elements each input moves per element of the output (0 or 1).
  int64_t inner() const { return inner_.length; }
  bool moves(size_t input) const { return inner_.step[input] != 0; }

  /// Calls body(offsets of the inputs, offset of the output), in elements, for each run of inner() elements.
  template <class Body>
  void for_each_run(Body body) const {
    std::vector<int64_t> index(outer_.size(), 0);
    int64_t offsets[3] = {0, 0, 0};
    for (int64_t output = 0; output < elements_; output += inner_.length) {
      body(offsets, output);
      for (size_t k = outer_.size(); k-- > 0;) {
        for (size_t i = 0; i < 3; ++i) offsets[i] += outer_[k].step[i];
        if (++index[k] < outer_[k].length) break;
        for (size_t i = 0; i < 3; ++i) offsets[i] -= outer_[k].step[i] * outer_[k].length;
        index[k] = 0;
      }
    }
  }

 private:
  struct Axis {
    int64_t length = 1;
    int64_t step[3] = {0, 0, 0};
  };
  std::vector<Axis> outer_;  // outermost first
  Axis inner_;
  int64_t elements_ = 0;
};

}  // namespace tersor::ops
