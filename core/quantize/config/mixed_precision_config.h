// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "core/base/fields.h"
#include "core/base/json_fwd.h"
#include "core/config/mp_distance.h"
#include "core/config/mp_distance_weighting.h"
#include "core/config/mp_metric_normalization.h"

namespace tersor::config {

/// How one configuration of each operator is chosen from several candidates, with the names and defaults of MCT's
/// mixed precision; the last three fields are Tersor's own.
struct MixedPrecisionQuantizationConfig {
  int num_of_images = 32;
  std::optional<MpDistance> distance_fn;
  MpDistanceWeighting distance_weighting_method = MpDistanceWeighting::kAvg;
  double num_interest_points_factor = 1;
  bool refine_mp_solution = true;
  MpMetricNormalization metric_normalization = MpMetricNormalization::kNone;
  std::optional<double> metric_epsilon = 1e-6;
  double metric_normalization_threshold = 1e10;
  double exp_distance_weighting_sigma = 0.1;
  std::optional<std::vector<int64_t>> configuration_overwrite;
  std::vector<int64_t> weights_n_bits;
  std::vector<int64_t> activation_n_bits;
  std::optional<int64_t> float_operators;

  static constexpr auto fields() {
    using C = MixedPrecisionQuantizationConfig;
    return std::make_tuple(
        field("num_of_images", &C::num_of_images, "Samples that the sensitivities are measured on."),
        field("distance_fn", &C::distance_fn,
              "How far a tensor of the quantized model lies from that of the float one: MSE, COSINE or KL; null takes "
              "KL for a Softmax, COSINE for a Sigmoid and for dense layers, and MSE for others."),
        field("distance_weighting_method", &C::distance_weighting_method, "What each interest point counts."),
        field("num_interest_points_factor", &C::num_interest_points_factor,
              "The part of the interest points (outputs of convolutions, dense layers, Add, Concat, Sigmoid and "
              "Softmax) that distances are measured at."),
        field("refine_mp_solution", &C::refine_mp_solution, "Spend what the choice leaves of the budget on more bits."),
        field("metric_normalization", &C::metric_normalization,
              "What the sensitivities of an operator's candidates are divided by: NONE, or that of the candidate with "
              "the most (MAXBIT) or the fewest (MINBIT) bits."),
        field("metric_epsilon", &C::metric_epsilon,
              "By how much a candidate is at least more sensitive than the one with the most bits; null: not at all."),
        field("metric_normalization_threshold", &C::metric_normalization_threshold,
              "From this sensitivity on, all are divided by the largest."),
        field("exp_distance_weighting_sigma", &C::exp_distance_weighting_sigma,
              "The distance at which EXP gives a point 63 % of the weight of one far away."),
        field("configuration_overwrite", &C::configuration_overwrite,
              "The candidate of each configurable operator, in the order of the graph, in place of a search; null "
              "searches."),
        field("weights_n_bits", &C::weights_n_bits,
              "Bits of weights to choose among, such as [8, 4, 2]; empty takes all that the platform offers."),
        field("activation_n_bits", &C::activation_n_bits,
              "Bits of activations to choose among, such as [16, 8]; empty takes all that the platform offers."),
        field("float_operators", &C::float_operators,
              "At most so many operators may stay in float where that lowers the error most; null: none."));
  }
  bool operator==(const MixedPrecisionQuantizationConfig&) const = default;
};

/// Reads over what `config` holds. Error kInvalidConfig for a
/// number out of its limits.
void from_json(const Json& json, MixedPrecisionQuantizationConfig& config, const std::string& place);

}  // namespace tersor::config
