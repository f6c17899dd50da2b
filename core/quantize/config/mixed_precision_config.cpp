// SPDX-License-Identifier: Apache-2.0
#include "core/config/mixed_precision_config.h"

#include <cmath>

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/quant/bits.h"

namespace tersor::config {

namespace {

/// Switches of MCT that change nothing here: older names, and sizes of the batches that it computes.
constexpr const char* kWithoutEffect[] = {"norm_scores", "hessian_batch_size"};

[[noreturn]] void out_of_limits(const std::string& found, const char* expected, const std::string& place,
                                const char* field) {
  throw Error(ErrorCode::kInvalidConfig, "Found " + found + " where " + expected + " is expected.",
              detail::join_place(place, field));
}

void check_bits(const std::vector<int64_t>& bits, const std::string& place, const char* field) {
  for (const int64_t one : bits)
    if (!quant::is_number_of_bits(one))
      out_of_limits(std::to_string(one), "a number of bits from 2 to 16", place, field);
}

void check(const MixedPrecisionQuantizationConfig& config, const std::string& place) {
  const auto text = [](double number) { return to_text(Json(number), false); };
  if (config.num_of_images < 1)
    out_of_limits(std::to_string(config.num_of_images), "at least 1", place, "num_of_images");
  const double part = config.num_interest_points_factor;
  if (!(part > 0 && part <= 1))
    out_of_limits(text(part), "a number above 0 and up to 1", place, "num_interest_points_factor");
  const double sigma = config.exp_distance_weighting_sigma;
  if (!(sigma > 0)) out_of_limits(text(sigma), "a number above 0", place, "exp_distance_weighting_sigma");
  if (config.metric_epsilon && *config.metric_epsilon < 0)
    out_of_limits(text(*config.metric_epsilon), "a number of at least 0, or null", place, "metric_epsilon");
  if (config.float_operators && *config.float_operators < 0)
    out_of_limits(std::to_string(*config.float_operators), "a number of at least 0, or null", place, "float_operators");
  check_bits(config.weights_n_bits, place, "weights_n_bits");
  check_bits(config.activation_n_bits, place, "activation_n_bits");
}

}  // namespace

void from_json(const Json& json, MixedPrecisionQuantizationConfig& config, const std::string& place) {
  if (!json.is_object()) detail::wrong_type(json, "an object", place);
  Json known = Json::object();
  for (const auto& entry : json.items()) {
    bool without_effect = false;
    for (const char* name : kWithoutEffect) without_effect |= entry.key() == name;
    const bool hessian = entry.key() == "use_hessian_based_scores";
    if (hessian && entry.value() == true)
      known["distance_weighting_method"] = "HESSIAN";
    else if (!hessian && !without_effect)
      known[entry.key() == "compute_distance_fn" ? "distance_fn" : entry.key()] = entry.value();
  }
  tersor::from_json<MixedPrecisionQuantizationConfig>(known, config, place);
  check(config, place);
}

}  // namespace tersor::config
