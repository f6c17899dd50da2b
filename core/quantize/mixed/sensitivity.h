// SPDX-License-Identifier: Apache-2.0
// The sensitivity of a candidate: how far the model's tensors move when this candidate alone is quantized. Source: the
// metric of MCT's mixed precision.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/config/mixed_precision_config.h"

namespace tersor::mixed {

/// Sum over interest points of weight * distance / sum of the weights; 0 where all weights are. `distances`: of each
/// point, in the model's order, the mean over the images. `hessian_scores`: one for each, read by HESSIAN only. Error
/// kInvalidArgument for no points, another number of scores, or what is negative or not finite.
double weighted_distance(std::span<const double> distances, std::span<const double> hessian_scores,
                         const config::MixedPrecisionQuantizationConfig& config);

/// Sensitivities of a node's candidates.
struct NodeSensitivity {
  std::vector<double> candidates;
  size_t widest = 0;     // the candidate with the most bits
  size_t narrowest = 0;  // that with the fewest
};

/// Normalizes each node's, then makes every candidate at least metric_epsilon more sensitive than the widest, so that
/// noise never makes more bits worse; then, where any number reaches the threshold, divides all by the largest. A node
/// whose divisor is 0 is not divided. Error kInvalidArgument for what is negative or not finite, or an index outside.
void clean_up(std::vector<NodeSensitivity>& nodes, const config::MixedPrecisionQuantizationConfig& config);

}  // namespace tersor::mixed
