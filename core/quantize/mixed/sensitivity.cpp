// SPDX-License-Identifier: Apache-2.0
#include "core/mixed/sensitivity.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/base/error.h"
#include "core/kernels/transcendental.h"

namespace tersor::mixed {

using config::MixedPrecisionQuantizationConfig;
using config::MpDistanceWeighting;
using config::MpMetricNormalization;

namespace {

void check(std::span<const double> numbers, const char* what) {
  for (const double x : numbers)
    if (!std::isfinite(x) || x < 0)
      throw Error(ErrorCode::kInvalidArgument,
                  "Found " + std::to_string(x) + " where a " + what + " of 0 or more is expected.");
}

double weight_of(size_t point, std::span<const double> distances, std::span<const double> hessian_scores,
                 const MixedPrecisionQuantizationConfig& config) {
  switch (config.distance_weighting_method) {
    case MpDistanceWeighting::kAvg:
      return 1;
    case MpDistanceWeighting::kLastLayer:
      return point + 1 == distances.size() ? 1 : 0;
    case MpDistanceWeighting::kExp:
      return 1 - kernels::exponential(-distances[point] / config.exp_distance_weighting_sigma);
    case MpDistanceWeighting::kHessian:
      return hessian_scores[point];
  }
  return 0;
}

void normalize(NodeSensitivity& node, MpMetricNormalization normalization) {
  if (normalization == MpMetricNormalization::kNone) return;
  const double by = node.candidates[normalization == MpMetricNormalization::kMaxBit ? node.widest : node.narrowest];
  if (by == 0) return;
  for (double& one : node.candidates) one /= by;
}

}  // namespace

double weighted_distance(std::span<const double> distances, std::span<const double> hessian_scores,
                         const MixedPrecisionQuantizationConfig& config) {
  const bool by_hessian = config.distance_weighting_method == MpDistanceWeighting::kHessian;
  if (distances.empty() || (by_hessian && hessian_scores.size() != distances.size()))
    throw Error(ErrorCode::kInvalidArgument, "There are " + std::to_string(distances.size()) +
                                                 " interest points, and scores of " +
                                                 std::to_string(hessian_scores.size()) + ".");
  check(distances, "distance");
  if (by_hessian) check(hessian_scores, "Hessian score");
  const double sigma = config.exp_distance_weighting_sigma;
  if (!(sigma > 0) || !std::isfinite(sigma))
    throw Error(ErrorCode::kInvalidArgument, "Found " + std::to_string(sigma) + " where more than 0 is expected.",
                "exp_distance_weighting_sigma");
  double sum = 0, weights = 0;
  for (size_t point = 0; point < distances.size(); ++point) {
    const double weight = weight_of(point, distances, hessian_scores, config);
    sum += weight * distances[point];
    weights += weight;
  }
  return weights > 0 ? sum / weights : 0;
}

void clean_up(std::vector<NodeSensitivity>& nodes, const MixedPrecisionQuantizationConfig& config) {
  double most = 0;
  for (NodeSensitivity& node : nodes) {
    check(node.candidates, "sensitivity");
    if (std::max(node.widest, node.narrowest) >= node.candidates.size())
      throw Error(ErrorCode::kInvalidArgument, "The widest or narrowest of " + std::to_string(node.candidates.size()) +
                                                   " candidates is none of them.");
    normalize(node, config.metric_normalization);
    const double widest = node.candidates[node.widest];
    for (size_t k = 0; k < node.candidates.size(); ++k) {
      if (config.metric_epsilon && k != node.widest)
        node.candidates[k] = std::max(node.candidates[k], widest + *config.metric_epsilon);
      most = std::max(most, node.candidates[k]);
    }
  }
  if (most < config.metric_normalization_threshold || most == 0) return;
  for (NodeSensitivity& node : nodes)
    for (double& one : node.candidates) one /= most;
}

}  // namespace tersor::mixed
