// SPDX-License-Identifier: Apache-2.0
// tersor check MODEL --recipe RECIPE --data DATA --max-loss POINTS: for continuous integration.
#include "core/report/check.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>

#include "core/base/json.h"
#include "core/base/names.h"
#include "core/cli/data_option.h"
#include "core/cli/files.h"
#include "core/cli/model_file.h"
#include "core/cli/print.h"
#include "core/cli/progress_line.h"
#include "core/cli/settings_option.h"
#include "core/job/given_settings.h"
#include "core/native/gather.h"
#include "core/native/make_report.h"
#include "core/samples/selection.h"
#include "core/trial/take_samples.h"

namespace tersor::cli {

namespace {

struct CheckOptions {
  std::string model, output, junit;
  DataOption data;
  SettingsOption settings;
  report::CheckLimits limits;
  ReportRequest report;
  Workforce workforce{0, progress_line()};
  bool json = false;
};

/// "97.45 %".
std::string figure(const std::optional<double>& value, const std::string& unit) {
  if (!value) return "-";
  char text[64];
  std::snprintf(text, sizeof text, "%.2f %s", *value, unit.c_str());
  return text;
}

void print_table(const report::Check& check) {
  size_t width = 4;
  for (const report::CheckRow& row : check.rows) width = std::max(width, row.what.size());
  const int column = static_cast<int>(width);
  print("%-*s  %10s  %10s  %12s  %16s\n", column, "", "float", "quantized", "lost", "limit");
  for (const report::CheckRow& row : check.rows) {
    const bool is_loss = row.lost.has_value();
    const bool is_exact = !is_loss && !row.quantized && row.passed;
    std::string limit = "-";
    if (row.limit)
      limit =
          (is_loss ? "at most " : "at least ") + figure(row.limit, is_loss ? "" : "dB") + (row.passed ? "" : " FAILED");
    print("%-*s  %10s  %10s  %12s  %16s\n", column, row.what.c_str(), figure(row.in_float, row.unit).c_str(),
          is_exact ? "exact" : figure(row.quantized, row.unit).c_str(), figure(row.lost, "points").c_str(),
          limit.c_str());
  }
  print("on %" PRId64 " samples%s\n", check.samples,
        check.held_aside ? " that calibration has not seen" : " that calibration has seen too");
}

void check_model(CheckOptions& options) {
  if (!options.limits.max_loss && !options.limits.min_sqnr)
    throw CLI::ValidationError("check", "give --max-loss or --min-sqnr: without a limit there is nothing to check");
  for (const std::string& path : {options.output, options.junit})
    if (!path.empty()) expect_writable(path);
  ModelFile file = open_model(options.model);
  const size_t bytes = file.bytes;
  const auto opened = std::make_shared<const OpenedModel>(opened_model(std::move(file)));
  const std::optional<config::Recipe> recipe = read_recipe_option(options.settings);
  options.data.recipe_preprocessing = recipe->preprocessing;
  options.data.recipe_place = options.settings.recipe;
  Settings settings = read_settings(options.settings, recipe, &opened->model.graph);
  const auto data = open_data(options.data, opened->model, options.json);
  take_samples(opened->model, data, settings);
  options.report.labels = labels_if_any(options.data, *data);
  TrainingRun training;
  if (settings.config.gradient_ptq_config) training.labels = options.report.labels;
  // As many as the recipe was made with; the others are to judge.
  const config::RecipeDataSet& used = recipe->data_set;
  const int64_t count = used.samples < used.of ? static_cast<int64_t>(used.samples) : data->size();
  const auto job = prepare(opened, std::move(settings));
  const Gathered gathered = gather(job, *data, samples::spread_evenly(data->size(), std::min(count, data->size())),
                                   options.workforce, training);
  for (const std::string& one : differences(*recipe, recipe_of(*gathered.job, gathered.statistics), false))
    if (!options.json) print_error("note: %s\n", one.c_str());
  const QuantizeResult result = quantize(*gathered.job, gathered.statistics, gathered.draft);
  options.report.workforce = options.workforce;
  options.report.compared = options.report.evaluated = data->size();
  const report::Report report =
      make_report(options.report, file_name(options.model), bytes, *gathered.job, result, gathered.statistics, data);
  const report::Check check = report::check_of(report, options.limits);
  const std::string junit = options.junit.empty() ? "" : report::junit_xml(check, file_name(options.model));
  std::vector<FileToWrite> files;
  if (!options.output.empty()) files.push_back({options.output, result.bytes});
  if (!options.junit.empty()) files.push_back({options.junit, bytes_of(junit)});
  write_files(files);
  options.json ? print("%s\n", to_text(to_json(check)).c_str()) : print_table(check);
  if (!check.passed)
    throw Error(ErrorCode::kMismatch, joined(report::failures_of(check), "; ") + ".", options.model,
                "Look for the change that costs it, or give another recipe or limit.");
}

}  // namespace

void add_check(CLI::App& program) {
  CLI::App& command = *program.add_subcommand(
      "check", "Make the file that a recipe says, and fail where it loses more than is allowed: for CI");
  command.footer(
      "The samples that the recipe did not calibrate on judge, where there are any, else all. A model or samples other "
      "than the recipe's are what is checked; that is a note.\nExamples:\n  tersor quantize model.onnx --data "
      "pictures/ "
      "-o model.int8.onnx --save-recipe recipe.json\n  tersor check model.onnx --recipe recipe.json --data pictures/ "
      "--max-loss 1\n  tersor check model.onnx --recipe recipe.json --data x.npy --min-sqnr 20 --junit check.xml");
  auto options = std::make_shared<CheckOptions>();
  command.add_option("MODEL", options->model, "A float ONNX model")->required();
  command.add_option("--recipe", options->settings.recipe, "What makes the file: of tersor quantize --save-recipe")
      ->required();
  command
      .add_option("--set", options->settings.sets,
                  "FIELD=VALUE over the recipe's, such as output_roles; may be given several times")
      ->allow_extra_args(false);
  add_data_option(command, options->data, true);
  command.remove_option(command.get_option("--limit"));
  command
      .add_option(
          "--max-loss", options->limits.max_loss,
          "The most percentage points that may be lost: of right answers where there are labels, else of answers "
          "that are the float model's; default: no such limit")
      ->check(amount(true));
  command.add_option("--min-sqnr", options->limits.min_sqnr,
                     "The least SQNR of every output, in dB; default: no such limit");
  command.add_option("-o,--output", options->output, "Write the quantized file too");
  command.add_option("--junit", options->junit, "Write the outcome as JUnit XML, as CI systems read it");
  command.add_option("--runtime", options->report.runtime, "Whose arithmetic is judged: x64, wasm, arm64 or avx2")
      ->capture_default_str();
  add_threads(command, options->workforce.threads);
  command.add_flag("--json", options->json, "Print JSON");
  command.callback([options] { check_model(*options); });
}

}  // namespace tersor::cli
