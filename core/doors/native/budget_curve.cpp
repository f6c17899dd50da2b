// SPDX-License-Identifier: Apache-2.0
#include "core/native/budget_curve.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/json.h"
#include "core/mixed/configurable.h"
#include "core/native/calibrate_data.h"
#include "core/native/gather.h"
#include "core/native/own_figures.h"
#include "core/native/size_text.h"
#include "core/samples/selection.h"
#include "core/simulate/program.h"

namespace tersor {

BudgetCurve::BudgetCurve(std::shared_ptr<const OpenedModel> opened, Settings settings,
                         std::shared_ptr<const samples::DataSet> data, std::vector<int64_t> chosen,
                         std::vector<int64_t> labels, Workforce workforce)
    : opened_(std::move(opened)),
      settings_(std::move(settings)),
      data_(std::move(data)),
      chosen_(std::move(chosen)),
      labels_(std::move(labels)),
      workforce_(std::move(workforce)) {
  auto job = prepare(opened_, within(most_));
  if (mixed::configurable_operators(job->model.graph, job->attachment, job->settings.config).empty()) {
    resource_ = Resource::kFloatOperators;
    most_ = 1;
    job = prepare(opened_, within(most_));
    const auto operators = mixed::configurable_operators(job->model.graph, job->attachment, job->settings.config);
    if (operators.empty())
      throw Error(ErrorCode::kInvalidConfig, "The settings leave every operator one configuration.", "--platform",
                  "Choose a platform that offers several bits, such as imx500 or any, or leave the bits unset.");
    // With more the file would be a float one.
    most_ = static_cast<double>((operators.size() + 1) / 2);
    job = prepare(opened_, within(most_));
  }
  kept_ = std::unique_ptr<KeptSamples>(new KeptSamples(room_for_samples(*job, *data_)));
  statistics_ = calibrate_data(*job, *data_, chosen_, {}, workforce_, *kept_);
  Gathered tried{job, std::move(statistics_), {}};
  if (const auto trial = trial_rounds(tried)) {
    SampleInputs inputs(*data_, kept_.get(), tried.statistics, thread_count(workforce_.threads));
    drive(*trial, inputs, workforce_.progress);
    trial->keep(tried);
  }
  statistics_ = std::move(tried.statistics);
  const calibrate::BitConfiguration& bits = statistics_.choices.bits;
  if (resource_ == Resource::kWeightsMemory) least_ = bits.least.weights_memory, most_ = bits.most.weights_memory;
  evaluated_ = samples::for_evaluation(data_->size(), chosen_, data_->size());
  float_program_ = simulate::compile(opened_->model, simulate::Profile::kX64);
}

const SampleEvaluation& BudgetCurve::in_float() {
  if (!in_float_) in_float_ = evaluated(float_program_, nullptr);
  return *in_float_;
}

Settings BudgetCurve::within(double budget) const {
  Settings settings = settings_;
  config::QuantizationConfig& config = settings.config;
  if (resource_ == Resource::kWeightsMemory) {
    if (!config.target_resource_utilization) config.target_resource_utilization.emplace();
    config.target_resource_utilization->weights_memory = budget;
  } else {
    if (!config.mixed_precision_config) config.mixed_precision_config.emplace();
    config.mixed_precision_config->float_operators = static_cast<int64_t>(budget);
  }
  return settings;
}

std::optional<BudgetPoint> BudgetCurve::at(double budget) {
  std::optional<BudgetPoint> point = made(budget);
  if (point)
    point->evaluation = evaluated(simulate::compile(point->result.model, simulate::Profile::kX64), float_program_);
  return point;
}

std::optional<BudgetPoint> BudgetCurve::made(double budget) {
  try {
    return quantized_within(budget);
  } catch (const Error& error) {
    if (error.code != ErrorCode::kUnsupportedModel || resource_ != Resource::kFloatOperators) throw;
    return std::nullopt;
  }
}

BudgetPoint BudgetCurve::quantized_within(double budget) {
  Gathering gathering(prepare(opened_, within(budget)), statistics_, {});
  take_passes(gathering, *data_, kept_.get(), workforce_);
  BudgetPoint point{gathering.take(), budget, {}, {}};
  point.result = quantize(*point.job, point.statistics, point.draft);
  return point;
}

BudgetPoint BudgetCurve::largest_file(size_t bytes) {
  constexpr int kSteps = 6;
  constexpr double kNearly = 0.99;  // of the bytes: no better point is looked for
  BudgetPoint best = quantized_within(least_);
  if (best.bytes() > bytes) {
    const std::string size = size_text(static_cast<int64_t>(best.bytes()));
    if (resource_ == Resource::kWeightsMemory)
      throw Error(ErrorCode::kInvalidConfig,
                  "With the fewest bits that the platform offers the file still has " + size + ".", "--file-size",
                  "Allow more.");
    throw Error(ErrorCode::kInvalidConfig,
                "The platform offers no fewer bits; with no operator in float the file has " + size + ".",
                "--file-size", "Allow more, or take --platform any, which packs weights of 2 to 7 bits.");
  }
  // A file grows nearly evenly with the bytes of its weights: so the next budget is where a line between two files
  // says.
  double low = least_, high = most_;
  std::optional<BudgetPoint> above = made(high);
  if (above && above->bytes() <= bytes) return *std::move(above);
  auto size_above = static_cast<double>(above ? above->bytes() : 2 * bytes);
  const bool is_count = resource_ == Resource::kFloatOperators;
  for (int step = 0; step < kSteps && high - low > (is_count ? 1 : 0); ++step) {
    const auto size_below = static_cast<double>(best.bytes());
    if (size_below >= kNearly * static_cast<double>(bytes)) break;
    const double part = (static_cast<double>(bytes) - size_below) / (size_above - size_below);
    double middle = low + (high - low) * std::clamp(part, 0.1, 0.9);
    if (is_count) middle = std::clamp(std::floor(middle), low + 1, high - 1);
    std::optional<BudgetPoint> point = made(middle);
    if (point && point->bytes() <= bytes) {
      low = middle;
      if (point->bytes() >= best.bytes()) best = *std::move(point);
    } else {
      high = middle;
      size_above = static_cast<double>(point ? point->bytes() : 2 * bytes);
    }
  }
  return best;
}

SampleEvaluation BudgetCurve::evaluated(const std::shared_ptr<const run::Program>& program,
                                        std::shared_ptr<const run::Program> reference) const {
  const auto metric = labels_.empty() ? evaluate::Metric::kAnswers : evaluate::Metric::kTop1;
  SampleEvaluation evaluation =
      evaluate_samples({program, std::move(reference), metric}, data_, labels_, evaluated_, workforce_);
  if (settings_.metric)
    evaluation.own = own_figures_of(*settings_.metric, program, data_, evaluated_, 0, workforce_).all;
  return evaluation;
}

namespace {

Json json_of(double budget, const BudgetPoint& point, Resource resource) {
  const evaluate::EvaluationResult& result = point.evaluation.result;
  Json json{{name_of(resource), budget},
            {"taken", to_json(point.job->settings.bits.taken)},
            {"size_bytes", point.result.bytes.size()},
            {"output_sqnr_db", to_json(point.evaluation.sqnr_db)},
            {"samples", result.count},
            {"accuracy", to_json(result.value)},
            {"interval", to_json(result.interval)},
            {"agreement", to_json(result.agreement)},
            {"recipe", parse_json(config::write_recipe(point.result.recipe), "recipe")}};
  const auto time = time_forecast_of(*point.job, point.result);
  json["time"] = time ? to_json(*time) : Json(nullptr);
  return json;
}

/// An output without any error is better than every other.
double decibels_of(const BudgetPoint& point) {
  return point.evaluation.sqnr_db.value_or(HUGE_VAL);
}

}  // namespace

const char* name_of(Resource resource) {
  return resource == Resource::kWeightsMemory ? "weights_memory" : "float_operators";
}

Json trade_off(BudgetCurve& curve, int64_t points, const std::function<void(double, const BudgetPoint&)>& seen) {
  const Resource resource = curve.resource();
  const evaluate::EvaluationResult in_float = curve.in_float().result;
  Json list = Json::array();
  double last = -1;
  std::optional<BudgetPoint> best;
  for (int64_t k = 0; k < points; ++k) {
    double budget = curve.least() + (curve.most() - curve.least()) * static_cast<double>(k) /
                                        static_cast<double>(std::max<int64_t>(1, points - 1));
    if (resource == Resource::kFloatOperators) budget = static_cast<double>(static_cast<int64_t>(budget));
    if (budget == last) continue;
    last = budget;
    std::optional<BudgetPoint> point = curve.at(budget);
    if (!point) continue;
    if (!best || decibels_of(*point) >= decibels_of(*best)) best = std::move(point);
    if (seen) seen(budget, *best);
    list.push_back(json_of(budget, *best, resource));
  }
  return Json{{"resource", name_of(resource)},
              {"float_accuracy", to_json(in_float.value)},
              {"samples", in_float.count},
              {"points", std::move(list)}};
}

}  // namespace tersor
