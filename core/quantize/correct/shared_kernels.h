// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <set>
#include <vector>

#include "core/choose/shared_weights.h"
#include "core/decide/placement.h"

namespace tersor::ptq {

/// The nodes whose weight other kernels have too: changed for one of them it would be stored once more.
inline std::set<size_t> shared_kernels(const Graph& graph, const Placement& placement) {
  std::vector<size_t> nodes;
  std::vector<passes::KernelOp> kernels;
  for (size_t i = 0; i < placement.roles.size(); ++i) {
    if (!placement.roles[i].op) continue;
    nodes.push_back(i);
    kernels.push_back(*placement.roles[i].op);
  }
  std::set<size_t> found;
  const std::vector<SharedWeight> shared = find_shared_weights(graph, kernels);
  for (size_t k = 0; k < nodes.size(); ++k)
    if (!shared[k].is_one) found.insert(nodes[k]);
  return found;
}

}  // namespace tersor::ptq
