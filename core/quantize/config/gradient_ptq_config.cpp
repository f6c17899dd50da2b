// SPDX-License-Identifier: Apache-2.0
#include "core/config/gradient_ptq_config.h"

#include "core/base/error.h"
#include "core/base/json.h"

namespace tersor::config {

namespace {

[[noreturn]] void out_of_limits(const Json& found, const char* expected, const std::string& place, const char* field) {
  throw Error(ErrorCode::kInvalidConfig, "Found " + to_text(found, false) + " where " + expected + " is expected.",
              detail::join_place(place, field));
}

void check(const GradientPTQConfig& config, const std::string& place) {
  constexpr int kMostEpochs = 100000, kLargestBatch = 4096;
  if (config.n_epochs < 1 || config.n_epochs > kMostEpochs)
    out_of_limits(config.n_epochs, "a number from 1 to 100000", place, "n_epochs");
  if (config.batch_size < 1 || config.batch_size > kLargestBatch)
    out_of_limits(config.batch_size, "a number from 1 to 4096", place, "batch_size");
  if (!(config.regularization_factor >= 0))
    out_of_limits(config.regularization_factor, "a number of at least 0", place, "regularization_factor");
  const std::pair<const char*, double> rates[] = {{"learning_rate", config.learning_rate.value_or(0)},
                                                  {"learning_rate_bias", config.learning_rate_bias.value_or(0)},
                                                  {"learning_rate_ranges", config.learning_rate_ranges.value_or(0)}};
  for (const auto& [field, rate] : rates)
    if (!(rate >= 0 && rate <= 1)) out_of_limits(rate, "a number from 0 to 1", place, field);
  const std::pair<const char*, double> parts[] = {{"label_weight", config.label_weight},
                                                  {"augmentation", config.augmentation.value_or(0)}};
  for (const auto& [field, part] : parts)
    if (!(part >= 0 && part <= 1)) out_of_limits(part, "a number from 0 to 1", place, field);
  if (config.block_kernels < 0 || config.block_kernels > kMostEpochs)
    out_of_limits(config.block_kernels, "a number from 0 to 100000", place, "block_kernels");
  if (config.most_steps && *config.most_steps < 0)
    out_of_limits(*config.most_steps, "a number of at least 0, or null", place, "most_steps");
}

}  // namespace

void from_json(const Json& json, GradientPTQConfig& config, const std::string& place) {
  tersor::from_json<GradientPTQConfig>(json, config, place);
  check(config, place);
}

}  // namespace tersor::config
