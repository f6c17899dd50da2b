// SPDX-License-Identifier: Apache-2.0
// tersor evaluate: how often a model is right, and how near it comes to another one.
#include <cinttypes>
#include <optional>

#include "core/base/json.h"
#include "core/cli/data_option.h"
#include "core/cli/model_file.h"
#include "core/cli/print.h"
#include "core/cli/progress_line.h"
#include "core/native/evaluate_samples.h"
#include "core/native/workers.h"
#include "core/report/label_order_remark.h"
#include "core/simulate/program.h"
#include "core/tflite/integer_model.h"

namespace tersor::cli {

namespace {

struct EvaluateOptions {
  std::string model;
  std::string reference;
  DataOption data;
  std::string metric = "top1";
  int64_t group = 1;
  std::string runtime = "x64";
  Workforce workforce{0, progress_line()};
  bool json = false;
};

SampleEvaluation evaluate_model(const EvaluateOptions& options) {
  ModelFile file = open_runnable_model(options.model);
  const auto metric = enum_from_word<evaluate::Metric>(options.metric, "--metric");
  const auto profile = enum_from_word<simulate::Profile>(options.runtime, "--runtime");
  std::shared_ptr<const run::Program> reference;
  if (!options.reference.empty()) {
    ModelFile other = open_runnable_model(options.reference);
    if (tflite::is_integer_model(file.model))
      file.model = tflite::as_made_from(std::move(file.model), other.model);
    else if (tflite::is_integer_model(other.model))
      other.model = tflite::as_made_from(std::move(other.model), file.model);
    reference = simulate::compile(other.model, profile);
  }
  const auto program = simulate::compile(file.model, profile);
  if (reference) expect_same_ports(*program, *reference, options.reference);
  const auto data = open_data(options.data, file.model, options.json);
  const bool labelled = metric != evaluate::Metric::kAnswers;
  if (!labelled && !options.data.labels.empty() && !options.json)
    print_error("note: --labels: they are not used, for answers are counted without labels\n");
  const std::vector<int64_t> labels =
      labelled ? open_labels(options.data, *data, options.group) : std::vector<int64_t>();
  SampleEvaluation outcome = evaluate_samples({program, reference, metric, options.group}, data, labels,
                                              chosen_samples(options.data, *data, options.group), options.workforce);
  if (const auto remark = report::label_order_remark(outcome.result, *data, labels); remark && !options.json)
    print_note(*remark);
  return outcome;
}

void print_text(const SampleEvaluation& outcome) {
  const evaluate::EvaluationResult& result = outcome.result;
  const std::string metric(enum_word(result.metric));
  if (result.value && result.correct)
    print("%-20s %.4f  (%" PRId64 " of %" PRId64 ")\n", metric.c_str(), *result.value, *result.correct, result.count);
  else if (result.value)
    print("%-20s %.4f  (%" PRId64 " scores)\n", metric.c_str(), *result.value, result.count);
  else
    print("%-20s %" PRId64 " samples\n", metric.c_str(), result.count);
  if (result.interval) print("%-20s %.4f to %.4f\n", "95 % interval", result.interval->lower, result.interval->upper);
  if (result.chance) print("%-20s %.4f\n", "by guessing", *result.chance);
  if (result.agreement)
    print("%-20s %" PRId64 " of %" PRId64 "\n", "same as reference", result.agreement->same, result.agreement->count);
  for (const evaluate::OutputDifference& one : outcome.outputs) {
    if (one.exact)
      print("%-20s %s: exact\n", "SQNR", one.name.c_str());
    else if (one.sqnr_db)
      print("%-20s %s: %.2f dB\n", "SQNR", one.name.c_str(), *one.sqnr_db);
    else
      print("%-20s %s: %" PRId64 " values are not finite on one side only\n", "SQNR", one.name.c_str(), one.not_finite);
  }
}

}  // namespace

void add_evaluate(CLI::App& program) {
  CLI::App& command =
      *program.add_subcommand("evaluate", "Accuracy of a model on labelled samples, with count and interval.");
  command.footer(
      "Examples:\n  tersor evaluate model.int8.onnx --data pictures/ --reference model.onnx\n  tersor evaluate "
      "model.onnx --data x.npy --labels y.npy --metric top5");
  auto options = std::make_shared<EvaluateOptions>();
  command.add_option("MODEL", options->model, "The ONNX or .tflite file, float or quantized")->required();
  add_data_option(command, options->data, true);
  command
      .add_option("--metric", options->metric,
                  "top1 (default), top5, auc, reconstruction-auc, or answers (without labels)")
      ->check(one_of(enum_words<evaluate::Metric>()));
  command
      .add_option("--group", options->group,
                  "reconstruction-auc: consecutive samples that make one recording; default 1")
      ->check(count_from(1));
  command.add_option("--reference", options->reference, "Also compare with this model: same answers, output SQNR");
  command
      .add_option("--runtime", options->runtime,
                  "Whose arithmetic for a quantized model: x64, wasm, arm64, avx2 or tflite-micro")
      ->capture_default_str();
  add_threads(command, options->workforce.threads);
  command.add_flag("--json", options->json, "Print JSON");
  command.callback([options] {
    const SampleEvaluation outcome = evaluate_model(*options);
    options->json ? (void)print("%s\n", to_text(to_json(outcome)).c_str()) : print_text(outcome);
  });
}

}  // namespace tersor::cli
