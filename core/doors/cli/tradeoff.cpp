// SPDX-License-Identifier: Apache-2.0
// tersor tradeoff MODEL.onnx --data DATA: what the model loses when it may take less.
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/cli/files.h"
#include "core/cli/model_file.h"
#include "core/cli/print.h"
#include "core/cli/progress_line.h"
#include "core/cli/settings_option.h"
#include "core/native/budget_curve.h"
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

void print_curve(const TradeoffOptions& options) {
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
  const Json json = trade_off(curve, options.points, [&](double budget, const BudgetPoint& point) {
    if (!options.json) print_row(budget, point, resource);
  });
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
  command->callback([options] { print_curve(*options); });
}

}  // namespace tersor::cli
