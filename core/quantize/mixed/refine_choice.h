// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "core/config/resource_utilization.h"

namespace tersor::mixed {

using config::ResourceUtilization;

struct RefinedCandidate {
  double sensitivity = 0;
  int weights_n_bits = 8;
  int activation_n_bits = 8;
};

/// What a choice of one candidate for each node takes, in full.
using Utilization = std::function<ResourceUtilization(const std::vector<size_t>& choice)>;

/// Spends what a choice leaves of the target: one node after another takes a candidate of more bits that is no more
/// sensitive, as long as the target is met, each time the step that gains most sensitivity for a byte; of equal ones
/// that of the fewest bytes, then of the first node, then of the lowest index. Bytes are those of the restricted
/// memories, steps without any come first. Bits of weights stay where only activations are restricted, and the other
/// way round. With `bops` restricted, or nothing, the choice is given back. Error kInvalidArgument when it is no choice
/// of the nodes or a sensitivity is not finite.
std::vector<size_t> refine_choice(const std::vector<std::vector<RefinedCandidate>>& nodes, std::vector<size_t> choice,
                                  const ResourceUtilization& target, const Utilization& utilization);

}  // namespace tersor::mixed
