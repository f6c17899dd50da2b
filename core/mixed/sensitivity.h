// SPDX-License-Identifier: Apache-2.0
// The sensitivity of a candidate: how far the model's tensors move when this candidate alone is quantized. Source: the
// metric of MCT's mixed precision.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "core/base/fields.h"
#include "core/mixed/mp_distance_weighting.h"
#include "core/mixed/mp_metric_normalization.h"

namespace tersor::mixed {

/// The settings of the metric, with MCT's names.
struct SensitivityConfig {
  MpDistanceWeighting distance_weighting_method = MpDistanceWeighting::kAvg;
  double exp_distance_weighting_sigma = 0.1;
  MpMetricNormalization metric_normalization = MpMetricNormalization::kNone;
  std::optional<double> metric_epsilon = 1e-6;
  double metric_normalization_threshold = 1e10;

  static constexpr auto fields() {
    using C = SensitivityConfig;
    return std::make_tuple(
        field("distance_weighting_method", &C::distance_weighting_method, "What each interest point counts."),
        field("exp_distance_weighting_sigma", &C::exp_distance_weighting_sigma,
              "The distance at which EXP gives a point 63 % of the weight of one far away."),
        field("metric_normalization", &C::metric_normalization,
              "What the sensitivities of a node's candidates are given in parts of."),
        field("metric_epsilon", &C::metric_epsilon,
              "By how much a candidate is at least more sensitive than the one with the most bits; null: not at all."),
        field("metric_normalization_threshold", &C::metric_normalization_threshold,
              "From this sensitivity on all are given in parts of the largest."));
  }
  bool operator==(const SensitivityConfig&) const = default;
};

/// Sum over interest points of weight * distance / sum of the weights; 0 where all weights are. `distances`: of each
/// point, in the model's order, the mean over the images. `hessian_scores`: one for each, read by HESSIAN only. Error
/// kInvalidArgument for no points, another number of scores, or what is negative or not finite.
double weighted_distance(std::span<const double> distances, std::span<const double> hessian_scores,
                         const SensitivityConfig& config);

/// Sensitivities of a node's candidates.
struct NodeSensitivity {
  std::vector<double> candidates;
  size_t widest = 0;     // the candidate with the most bits
  size_t narrowest = 0;  // that with the fewest
};

/// Normalizes each node's, then makes every candidate at least metric_epsilon more sensitive than the widest, so that
/// noise never makes more bits worse; then, where any number reaches the threshold, divides all by the largest. A node
/// whose divisor is 0 is not divided. Error kInvalidArgument for what is negative or not finite, or an index outside.
void clean_up(std::vector<NodeSensitivity>& nodes, const SensitivityConfig& config);

}  // namespace tersor::mixed
