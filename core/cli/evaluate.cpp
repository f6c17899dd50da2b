// SPDX-License-Identifier: Apache-2.0
// tersor evaluate: how often a model is right, and how near it comes to another one.
#include <cinttypes>
#include <cstdio>
#include <optional>

#include "core/base/json.h"
#include "core/cli/data_option.h"
#include "core/cli/model_file.h"
#include "core/cli/progress_line.h"
#include "core/cli/workers.h"
#include "core/evaluate/evaluation.h"
#include "core/evaluate/output_difference.h"
#include "core/simulate/program.h"

namespace tersor::cli {

namespace {

struct Options {
  std::string model;
  std::string reference;
  DataOption data;
  std::string metric = "top1";
  int64_t group = 1;
  std::string runtime = "x64";
  int threads = 0;
  bool json = false;
};

struct Outcome {
  evaluate::EvaluationResult result;
  std::vector<evaluate::OutputDifference> outputs;  // with a reference
  std::optional<double> sqnr_db;
};

/// What one thread owns.
struct Worker {
  samples::SampleReader reader;
  run::Runner runner;
  std::optional<run::Runner> reference_runner;
  evaluate::Evaluation evaluation;
  evaluate::Evaluation answers, reference_answers;  // with a reference
  evaluate::OutputDifferences differences;
  bool reconstructs;

  Worker(const std::shared_ptr<const samples::DataSet>& data, const std::shared_ptr<const run::Program>& program,
         const std::shared_ptr<const run::Program>& reference, evaluate::Metric metric, int64_t group)
      : reader(data, samples::SampleReader::Values::kAny),
        runner(program),
        evaluation(metric, group),
        answers(evaluate::Metric::kAnswers),
        reference_answers(evaluate::Metric::kAnswers),
        differences(output_names(*program)),
        reconstructs(metric == evaluate::Metric::kReconstructionAuc) {
    if (reference) reference_runner.emplace(reference);
  }

  void add(int64_t sample, std::optional<int64_t> label) {
    const std::vector<Tensor> inputs = reader.load(sample), outputs = runner.run(inputs);
    evaluation.add(sample, label, inputs, outputs);
    if (!reference_runner) return;
    const std::vector<Tensor> wanted = reference_runner->run(inputs);
    differences.add(sample, wanted, outputs);
    if (!gives_classes(outputs)) return;
    answers.add(sample, std::nullopt, inputs, outputs);
    reference_answers.add(sample, std::nullopt, inputs, wanted);
  }

  /// A reconstruction has no answer to agree on.
  bool gives_classes(const std::vector<Tensor>& outputs) const {
    return !reconstructs && !outputs.empty() && (outputs[0].elements() > 1 || is_integer(outputs[0].dtype()));
  }

  void merge(Worker&& other) {
    evaluation.merge(std::move(other.evaluation));
    answers.merge(std::move(other.answers));
    reference_answers.merge(std::move(other.reference_answers));
    differences.merge(std::move(other.differences));
  }

  static std::vector<std::string> output_names(const run::Program& program) {
    std::vector<std::string> names;
    for (const run::Port& port : program.outputs()) names.push_back(port.name);
    return names;
  }
};

std::shared_ptr<const run::Program> open_reference(const Options& options, simulate::Profile profile,
                                                   const run::Program& program) {
  if (options.reference.empty()) return nullptr;
  const auto reference = simulate::compile(open_runnable_model(options.reference).model, profile);
  if (reference->outputs().size() != program.outputs().size() || reference->inputs().size() != program.inputs().size())
    throw Error(ErrorCode::kMismatch,
                "The reference has " + std::to_string(reference->inputs().size()) + " inputs and " +
                    std::to_string(reference->outputs().size()) + " outputs, the model " +
                    std::to_string(program.inputs().size()) + " and " + std::to_string(program.outputs().size()) + ".",
                options.reference, "Give the float model that this one was made from.");
  return reference;
}

Outcome evaluate_model(const Options& options) {
  const ModelFile file = open_runnable_model(options.model);
  const auto metric = enum_from_word<evaluate::Metric>(options.metric, "--metric");
  const auto profile = enum_from_word<simulate::Profile>(options.runtime, "--runtime");
  const auto program = simulate::compile(file.model, profile), reference = open_reference(options, profile, *program);
  const auto data = open_data(options.data, file.model, options.json);
  const bool labelled = metric != evaluate::Metric::kAnswers;
  if (!labelled && !options.data.labels.empty() && !options.json)
    std::fprintf(stderr, "note: --labels: they are not used, for answers are counted without labels\n");
  const std::vector<int64_t> labels =
      labelled ? open_labels(options.data, *data, options.group) : std::vector<int64_t>();
  const std::vector<int64_t> chosen = chosen_samples(options.data, *data, options.group);

  std::vector<Worker> workers;
  const int threads = thread_count(options.threads);
  for (int i = 0; i < threads; ++i) workers.emplace_back(data, program, reference, metric, options.group);
  ProgressLine progress("evaluate", static_cast<int64_t>(chosen.size()));
  fan_out(threads, static_cast<int64_t>(chosen.size()), [&](int worker, int64_t item) {
    const int64_t sample = chosen[static_cast<size_t>(item)];
    std::optional<int64_t> label;
    if (labelled) label = labels[static_cast<size_t>(sample / options.group)];
    try {
      workers[static_cast<size_t>(worker)].add(sample, label);
    } catch (const Error& error) {
      if (!error.place.empty()) throw;
      throw error.within(data->place(sample));
    }
    progress.step();
  });
  for (size_t i = 1; i < workers.size(); ++i) workers[0].merge(std::move(workers[i]));

  Outcome outcome{workers[0].evaluation.result(), {}, std::nullopt};
  if (!reference) return outcome;
  outcome.outputs = workers[0].differences.result();
  outcome.sqnr_db = workers[0].differences.mean_sqnr_db();
  const auto answers = workers[0].answers.result();
  if (answers.count > 0) outcome.result.agreement = evaluate::agreement(workers[0].reference_answers.result(), answers);
  return outcome;
}

void print_json(Outcome outcome) {
  outcome.result.answers.reset();  // a page wants them; here they would only be long
  Json json = to_json(outcome.result);
  if (!outcome.outputs.empty()) {
    json["output_sqnr_db"] = to_json(outcome.sqnr_db);
    json["outputs"] = to_json(outcome.outputs);
  }
  std::printf("%s\n", to_text(json).c_str());
}

void print_text(const Outcome& outcome) {
  const evaluate::EvaluationResult& result = outcome.result;
  const std::string metric(enum_word(result.metric));
  if (result.value && result.correct)
    std::printf("%-20s %.4f  (%" PRId64 " of %" PRId64 ")\n", metric.c_str(), *result.value, *result.correct,
                result.count);
  else if (result.value)
    std::printf("%-20s %.4f  (%" PRId64 " scores)\n", metric.c_str(), *result.value, result.count);
  else
    std::printf("%-20s %" PRId64 " samples\n", metric.c_str(), result.count);
  if (result.interval)
    std::printf("%-20s %.4f to %.4f\n", "95 % interval", result.interval->lower, result.interval->upper);
  if (result.chance) std::printf("%-20s %.4f\n", "by guessing", *result.chance);
  if (result.agreement)
    std::printf("%-20s %" PRId64 " of %" PRId64 "\n", "same as reference", result.agreement->same,
                result.agreement->count);
  for (const evaluate::OutputDifference& one : outcome.outputs) {
    if (one.exact)
      std::printf("%-20s %s: exact\n", "SQNR", one.name.c_str());
    else if (one.sqnr_db)
      std::printf("%-20s %s: %.2f dB\n", "SQNR", one.name.c_str(), *one.sqnr_db);
    else
      std::printf("%-20s %s: %" PRId64 " values are not finite on one side only\n", "SQNR", one.name.c_str(),
                  one.not_finite);
  }
}

}  // namespace

void add_evaluate(CLI::App& program) {
  CLI::App& command =
      *program.add_subcommand("evaluate", "Accuracy of a model on labelled samples, with count and interval.");
  command.footer(
      "Examples:\n  tersor evaluate model.int8.onnx --data pictures/ --reference model.onnx\n  tersor evaluate "
      "model.onnx --data x.npy --labels y.npy --metric top5");
  auto options = std::make_shared<Options>();
  command.add_option("MODEL", options->model, "The ONNX file, float or quantized")->required();
  add_data_option(command, options->data, true);
  command
      .add_option("--metric", options->metric,
                  "top1 (default), top5, auc, reconstruction-auc, or answers (without labels)")
      ->check(CLI::IsMember(enum_words<evaluate::Metric>()));
  command.add_option("--group", options->group, "reconstruction-auc: consecutive samples that make one recording")
      ->check(count_from(1));
  command.add_option("--reference", options->reference, "Also compare with this model: same answers, output SQNR");
  command
      .add_option("--runtime", options->runtime, "Whose arithmetic for a quantized model: x64, wasm, arm64 or avx2.")
      ->capture_default_str();
  command.add_option("--threads", options->threads, "Threads; default: one for each core")->check(thread_limit());
  command.add_flag("--json", options->json, "Print JSON");
  command.callback([options] {
    const Outcome outcome = evaluate_model(*options);
    options->json ? print_json(outcome) : print_text(outcome);
  });
}

}  // namespace tersor::cli
