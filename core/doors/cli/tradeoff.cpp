// SPDX-License-Identifier: Apache-2.0
// tersor tradeoff MODEL.onnx --data DATA: what the model loses when it may take less.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/cli/budget_curve.h"
#include "core/cli/files.h"
#include "core/cli/model_file.h"
#include "core/cli/print.h"
#include "core/cli/progress_line.h"
#include "core/cli/settings_option.h"
#include "core/native/calibrate_data.h"
#include "core/native/size_text.h"
#include "core/trial/take_samples.h"

namespace tersor::cli {

namespace {

struct TradeoffOptions {
  std::string model, output;
  DataOption data;
  SettingsOption settings;
  int64_t points = 7;
  Workforce workforce{0, progress_line()};
  bool json = false;
};

/// The point of a smaller budget where that is the better one.
Json to_json(double budget, const BudgetPoint& point, Resource resource) {
  const evaluate::EvaluationResult& result = point.evaluation.result;
  Json json{{resource == Resource::kWeightsMemory ? "weights_memory" : "float_operators", budget},
            {"taken", tersor::to_json(point.job->settings.bits.taken)},
            {"size_bytes", point.result.bytes.size()},
            {"output_sqnr_db", tersor::to_json(point.evaluation.sqnr_db)},
            {"samples", result.count},
            {"accuracy", tersor::to_json(result.value)},
            {"interval", tersor::to_json(result.interval)},
            {"agreement", tersor::to_json(result.agreement)},
            {"recipe", parse_json(config::write_recipe(point.result.recipe), "recipe")}};
  const auto time = time_forecast_of(*point.job, point.result);
  json["time"] = time ? tersor::to_json(*time) : Json(nullptr);
  return json;
}

/// An output without any error is better than every other.
double decibels_of(const BudgetPoint& point) {
  return point.evaluation.sqnr_db.value_or(HUGE_VAL);
}

std::string budget_text(double budget, Resource resource) {
  const auto whole = static_cast<int64_t>(budget);
  return resource == Resource::kWeightsMemory ? size_text(whole) : std::to_string(whole);
}

void print_row(double budget, const BudgetPoint& point, Resource resource) {
  const evaluate::EvaluationResult& result = point.evaluation.result;
  print("%12s %12s", budget_text(budget, resource).c_str(),
        size_text(static_cast<int64_t>(point.result.bytes.size())).c_str());
  if (point.evaluation.sqnr_db) print(" %8.2f dB", *point.evaluation.sqnr_db);
  if (result.value && result.interval)
    print("  %6.2f %% (%.2f to %.2f)", 100 * *result.value, 100 * result.interval->lower, 100 * result.interval->upper);
  else if (result.agreement)
    print("  %lld of %lld answers the same", static_cast<long long>(result.agreement->same),
          static_cast<long long>(result.agreement->count));
  print("\n");
}

void trade_off(const TradeoffOptions& options) {
  ModelFile file = open_model(options.model);
  const auto opened = std::make_shared<const OpenedModel>(opened_model(std::move(file)));
  const std::optional<config::Recipe> recipe = read_recipe_option(options.settings);
  Settings settings = read_settings(options.settings, recipe, &opened->model.graph);
  if (!options.output.empty()) expect_writable(options.output);
  const auto data = open_data(options.data, opened->model, options.json);
  take_samples(opened->model, data, settings);
  BudgetCurve curve(opened, std::move(settings), data, samples_to_calibrate(options.data, *data),
                    labels_if_any(options.data, *data), options.workforce);
  const Resource resource = curve.resource();
  const evaluate::EvaluationResult& in_float = curve.in_float().result;
  if (!options.json) {
    if (in_float.value)
      print("float model: %.2f %% on %lld samples\n", 100 * *in_float.value, static_cast<long long>(in_float.count));
    print("%12s %12s %11s\n", resource == Resource::kWeightsMemory ? "weights" : "in float", "file", "SQNR");
  }
  Json points = Json::array();
  double last = -1;
  std::optional<BudgetPoint> best;  // a file that keeps to a budget keeps to a larger one as well
  for (int64_t k = 0; k < options.points; ++k) {
    double budget = curve.least() + (curve.most() - curve.least()) * static_cast<double>(k) /
                                        static_cast<double>(std::max<int64_t>(1, options.points - 1));
    if (resource == Resource::kFloatOperators) budget = static_cast<double>(static_cast<int64_t>(budget));
    if (budget == last) continue;
    last = budget;
    std::optional<BudgetPoint> point = curve.at(budget);
    if (!point) continue;
    if (!best || decibels_of(*point) >= decibels_of(*best)) best = std::move(point);
    if (!options.json) print_row(budget, *best, resource);
    points.push_back(to_json(budget, *best, resource));
  }
  const Json json{{"resource", resource == Resource::kWeightsMemory ? "weights_memory" : "float_operators"},
                  {"float_accuracy", tersor::to_json(in_float.value)},
                  {"samples", in_float.count},
                  {"points", points}};
  const std::string text = to_text(json) + "\n";
  if (!options.output.empty()) write_files({{options.output, bytes_of(text)}});
  if (options.json) print("%s", text.c_str());
}

}  // namespace

void add_tradeoff(CLI::App& program) {
  auto options = std::make_shared<TradeoffOptions>();
  CLI::App* command = program.add_subcommand(
      "tradeoff", "Error and accuracy by what the model may take: one quantization for each of several budgets");
  command->footer(
      "Examples:\n  tersor tradeoff model.onnx --data pictures/ --platform imx500\n  tersor tradeoff model.onnx --data "
      "x.npy --labels y.npy --platform any -o curve.json");
  command->add_option("MODEL", options->model, "A float ONNX model")->required();
  command->add_option("-o,--output", options->output, "Write the curve (JSON): each point with its recipe");
  add_data_option(*command, options->data, true);
  command->get_option("--limit")->description(
      "Calibrate on at most this many samples, spread evenly; default 0: 128, and at most half");
  add_settings_option(*command, options->settings, true);
  command->add_option("--points", options->points, "Budgets from the least to the most; default 7")
      ->check(count_from(2, 64));
  add_threads(*command, options->workforce.threads);
  command->add_flag("--json", options->json, "Print JSON");
  command->callback([options] { trade_off(*options); });
}

}  // namespace tersor::cli
