// SPDX-License-Identifier: Apache-2.0
// Finds kernels that share a weight: repeated layers of a transformer, heads that run on several feature maps, steps of
// an unrolled recurrence. Passes give each kernel its own copy, and folding (for example a BatchNormalization per head)
// may have multiplied its output channels. A single set of integers still serves all these kernels, each with its own
// scales.
#pragma once

#include <cstddef>
#include <vector>

#include "core/graph/graph.h"
#include "core/passes/kernel_op.h"

namespace tersor::ptq {

/// How the weight of a kernel relates to the first kernel with the same weight.
struct SharedWeight {
  size_t first = 0;    // index of the first kernel with that weight; its own index if it is the first
  bool is_one = true;  // no other kernel has the weight
  /// The positive factor by which each channel of the first kernel becomes that of this kernel, by index on the
  /// weight's output axis. Empty if both weights are equal.
  std::vector<float> factors = {};
};

/// Returns an entry per kernel; `kernels` are in graph order. Weights count as equal up to float32 rounding.
std::vector<SharedWeight> find_shared_weights(const Graph& graph, const std::vector<passes::KernelOp>& kernels);

}  // namespace tersor::ptq
