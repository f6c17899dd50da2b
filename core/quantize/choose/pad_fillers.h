// SPDX-License-Identifier: Apache-2.0
// Finds fillings that need no place in a quantizer's range. TensorFlow and MXNet write max pooling with "same" padding
// as a Pad by -1e9 or the like and a MaxPool. The filling never wins, so the lowest code may represent it.
#pragma once

#include <vector>

#include "core/decide/placement.h"
#include "core/graph/graph.h"
#include "core/graph/uses.h"

namespace tersor::ptq {

/// Finds the tensors that hold such a filling.
class PadFillers {
 public:
  PadFillers(const Graph& graph, const Uses& uses, const Placement& placement);

  /// True if the tensor's statistics contain such a filling, and another tensor of its group shows the range without
  /// it.
  bool is_passed_over(const PlacedTensor& tensor) const { return filled_[static_cast<size_t>(tensor.value.index)]; }

 private:
  std::vector<bool> filled_;  // by value
};

}  // namespace tersor::ptq
