// SPDX-License-Identifier: Apache-2.0
#include "core/trial/bit_trial.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "core/base/digest.h"
#include "core/base/json.h"
#include "core/config/search_settings.h"

namespace tersor {

namespace {

/// SHA-256 of what the sensitivities of candidates depend on: budgets may change.
std::string sensitivities_key(const Job& job) {
  Job without = job;
  config::QuantizationConfig& config = without.settings.config;
  std::string restricted;
  if (config.target_resource_utilization)
    for (const std::string& name : config.target_resource_utilization->restricted()) restricted += name + "\n";
  config.target_resource_utilization.reset();
  if (config.mixed_precision_config && config.mixed_precision_config->float_operators.value_or(0) > 0)
    config.mixed_precision_config->float_operators = 1;
  const std::string text = choices_key(without) + "\n" + restricted;
  return sha256_hex(std::as_bytes(std::span(text)));
}

mixed::Sensitivities no_sensitivities(const std::vector<mixed::Configurable>& operators) {
  mixed::Sensitivities none;
  for (const mixed::Configurable& one : operators) none.emplace_back(one.candidates.size(), 0.0);
  return none;
}

/// Those of a table that was measured for the same; none of another.
std::optional<mixed::Sensitivities> sensitivities_of(const calibrate::BitConfiguration& known, const std::string& key,
                                                     const std::vector<mixed::Configurable>& operators) {
  mixed::Sensitivities measured = no_sensitivities(operators);
  if (known.measured_for != key || known.operators.size() != measured.size()) return std::nullopt;
  for (size_t k = 0; k < measured.size(); ++k) {
    if (known.operators[k].candidates.size() != measured[k].size()) return std::nullopt;
    for (size_t c = 0; c < measured[k].size(); ++c) measured[k][c] = known.operators[k].candidates[c].sensitivity;
  }
  return measured;
}

}  // namespace

BitTrial::BitTrial(std::shared_ptr<const Job> job, calibrate::Statistics statistics)
    : job_(std::move(job)), statistics_(std::move(statistics)) {
  const config::QuantizationConfig& config = job_->settings.config;
  operators_ = mixed::configurable_operators(job_->model.graph, job_->attachment, config);
  if (auto known = sensitivities_of(statistics_.choices.bits, sensitivities_key(*job_), operators_)) {
    sensitivities_ = std::move(*known);
  } else if (operators_.empty() || config::mixed_precision_of(config).configuration_overwrite) {
    sensitivities_ = no_sensitivities(operators_);
  } else {
    search_ = std::make_unique<mixed::BitSearch>(
        mixed::SearchProblem{job_->model, job_->attachment, job_->arithmetic.in_float, statistics_, config},
        operators_);
    program_ = std::make_shared<const mixed::SearchProgram>(search_->program(step_));
  }
}

void BitTrial::take(const std::vector<SampleDistances>& distances) {
  std::vector<double> means(search_->distances(step_), 0.0);
  for (const SampleDistances& one : distances)
    for (size_t k = 0; k < means.size(); ++k) means[k] += one.distances[k];
  for (double& mean : means) mean /= static_cast<double>(std::max<size_t>(distances.size(), 1));
  search_->take(step_, means);
  if (++step_ < search_->steps()) program_ = std::make_shared<const mixed::SearchProgram>(search_->program(step_));
}

mixed::SearchRunner BitTrial::runner() const {
  return {*search_, step_, *program_};
}

calibrate::BitConfiguration BitTrial::result(size_t samples) const {
  const mixed::UtilizationMeter meter(job_->model, job_->attachment, statistics_);
  calibrate::BitConfiguration bits = mixed::choose_configuration(
      job_->model.graph, job_->attachment, meter, search_ ? search_->operators() : operators_,
      search_ ? search_->sensitivities() : sensitivities_, job_->settings.config);
  bits.measured_for = sensitivities_key(*job_);
  bits.images = static_cast<int64_t>(samples);
  return bits;
}

}  // namespace tersor
