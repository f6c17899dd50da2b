// SPDX-License-Identifier: Apache-2.0
// Kernels that multiply by one weight: the layers of a transformer that share theirs, heads that run on several feature
// maps, the steps of an unrolled recurrence. Passes give each kernel a weight of its own, and what is folded into it (a
// BatchNormalization of each head, say) may have multiplied its output channels: one set of integers still serves all,
// with scales of each kernel's own.
#pragma once

#include <cstddef>
#include <vector>

#include "core/graph/graph.h"
#include "core/passes/kernel_op.h"

namespace tersor::ptq {

struct SharedWeight {
  size_t first = 0;    // the first kernel with that weight; its own index where there is none before it
  bool is_one = true;  // nobody else has it
  /// By place on the weight's output axis: what the first kernel's channel is multiplied by to be this one's, positive;
  /// empty where the two are equal.
  std::vector<float> factors = {};
};

/// By index in `kernels`, in the order of the graph. Weights count as the same up to the rounding of float32.
std::vector<SharedWeight> find_shared_weights(const Graph& graph, const std::vector<passes::KernelOp>& kernels);

}  // namespace tersor::ptq
