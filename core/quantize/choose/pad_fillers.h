// SPDX-License-Identifier: Apache-2.0
// Max pooling with "same" padding, as TensorFlow and MXNet write it: Pad by -1e9 or the like, then MaxPool. The filling
// never wins, so it needs no place in the range of what it fills up: the lowest code stands for it.
#pragma once

#include <vector>

#include "core/graph/graph.h"
#include "core/graph/uses.h"
#include "core/decide/placement.h"

namespace tersor::ptq {

class PadFillers {
 public:
  PadFillers(const Graph& graph, const Uses& uses, const Placement& placement);

  /// What calibration saw of the tensor holds such a filling, and another tensor of its group shows the range without.
  bool is_passed_over(const PlacedTensor& tensor) const { return filled_[static_cast<size_t>(tensor.value.index)]; }

 private:
  std::vector<bool> filled_;  // by value
};

}  // namespace tersor::ptq
