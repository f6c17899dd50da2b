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

/// How the configuration of each operator is chosen from several candidates. Names and defaults are those of MCT's
/// mixed precision; the last three fields are our own.
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
        field("num_of_images", &C::num_of_images, "Number of samples that sensitivities are measured on."),
        field("distance_fn", &C::distance_fn,
              "The distance between a tensor of the quantized model and that of the float model: MSE, "
              "COSINE or KL. Null uses KL for a Softmax, COSINE for a Sigmoid and for dense layers, and "
              "MSE for others."),
        field("distance_weighting_method", &C::distance_weighting_method, "How the interest points are weighted."),
        field("num_interest_points_factor", &C::num_interest_points_factor,
              "Fraction of the interest points (outputs of convolutions, dense layers, Add, Concat, "
              "Sigmoid and Softmax) at which distances are measured."),
        field("refine_mp_solution", &C::refine_mp_solution,
              "Spend what the chosen candidates leave of the limits on more bits."),
        field("metric_normalization", &C::metric_normalization,
              "Divisor of the sensitivities of an operator's candidates: none (NONE), or the "
              "sensitivity of the candidate with the most (MAXBIT) or the fewest (MINBIT) bits."),
        field("metric_epsilon", &C::metric_epsilon,
              "Least difference between the sensitivity of a candidate and that of the candidate with "
              "the most bits; null: no least difference."),
        field("metric_normalization_threshold", &C::metric_normalization_threshold,
              "If a sensitivity reaches this value, all are divided by the largest."),
        field("exp_distance_weighting_sigma", &C::exp_distance_weighting_sigma,
              "The sigma of EXP, whose weight is 1 - exp(-distance / sigma): a point at this distance "
              "has 63 % of the weight of a distant point."),
        field("configuration_overwrite", &C::configuration_overwrite,
              "Index of the candidate of each configurable operator, in the order of the graph, instead "
              "of a search; null searches."),
        field("weights_n_bits", &C::weights_n_bits,
              "Bits of weights to choose from, such as [8, 4, 2]; empty allows all that the platform "
              "offers."),
        field("activation_n_bits", &C::activation_n_bits,
              "Bits of activations to choose from, such as [16, 8]; empty allows all that the platform "
              "offers."),
        field("float_operators", &C::float_operators,
              "Maximum number of operators that stay in float, where that lowers the error most; null: "
              "none."));
  }
  bool operator==(const MixedPrecisionQuantizationConfig&) const = default;
};

/// Reads fields over those of `config`. Error kInvalidConfig for a number out of its limits.
void from_json(const Json& json, MixedPrecisionQuantizationConfig& config, const std::string& place);

}  // namespace tersor::config
