// SPDX-License-Identifier: Apache-2.0
#include "core/native/evaluate_samples.h"

#include <utility>

#include "core/base/json.h"
#include "core/native/stage_count.h"
#include "core/samples/fixed_batch.h"

namespace tersor {

namespace {

/// What one thread owns.
struct Worker {
  samples::SampleReader reader;
  run::Runner runner;
  std::optional<run::Runner> reference_runner;
  evaluate::Evaluation evaluation;
  evaluate::Evaluation answers, reference_answers;  // with a reference
  evaluate::OutputDifferences differences;
  bool reconstructs;
  int64_t batch;

  Worker(const std::shared_ptr<const samples::DataSet>& data, const EvaluationJob& job)
      : reader(data, samples::SampleReader::Values::kAny),
        runner(job.program),
        evaluation(job.metric, job.group),
        answers(evaluate::Metric::kAnswers),
        reference_answers(evaluate::Metric::kAnswers),
        differences(output_names(*job.program)),
        reconstructs(job.metric == evaluate::Metric::kReconstructionAuc),
        batch(data->batch()) {
    if (job.reference) reference_runner.emplace(job.reference);
  }

  void add(int64_t sample, std::optional<int64_t> label) {
    const std::vector<Tensor> loaded = reader.load(sample);
    const std::vector<Tensor> inputs = samples::first_rows(loaded, batch),
                              outputs = samples::first_rows(runner.run(loaded), batch);
    evaluation.add(sample, label, inputs, outputs);
    if (!reference_runner) return;
    const std::vector<Tensor> wanted = samples::first_rows(reference_runner->run(loaded), batch);
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

}  // namespace

Json to_json(const SampleEvaluation& outcome) {
  evaluate::EvaluationResult result = outcome.result;
  result.answers.reset();  // a page wants them; here they would only be long
  Json json = to_json(result);
  if (!outcome.outputs.empty()) {
    json["output_sqnr_db"] = to_json(outcome.sqnr_db);
    json["outputs"] = to_json(outcome.outputs);
  }
  return json;
}

void expect_same_ports(const run::Program& program, const run::Program& reference, const std::string& place) {
  if (reference.outputs().size() != program.outputs().size() || reference.inputs().size() != program.inputs().size())
    throw Error(ErrorCode::kMismatch,
                "The reference has " + std::to_string(reference.inputs().size()) + " inputs and " +
                    std::to_string(reference.outputs().size()) + " outputs, the model " +
                    std::to_string(program.inputs().size()) + " and " + std::to_string(program.outputs().size()) + ".",
                place, "Give the float model that this one was made from.");
}

SampleEvaluation evaluate_samples(const EvaluationJob& job, const std::shared_ptr<const samples::DataSet>& data,
                                  const std::vector<int64_t>& labels, const std::vector<int64_t>& chosen,
                                  const Workforce& workforce) {
  std::vector<Worker> workers;
  const int used = thread_count(workforce.threads);
  for (int i = 0; i < used; ++i) workers.emplace_back(data, job);
  StageCount progress(workforce.progress, "evaluate", static_cast<int64_t>(chosen.size()));
  fan_out(used, static_cast<int64_t>(chosen.size()), [&](int worker, int64_t item) {
    const int64_t sample = chosen[static_cast<size_t>(item)];
    std::optional<int64_t> label;
    if (!labels.empty()) label = labels[static_cast<size_t>(sample / job.group)];
    try {
      workers[static_cast<size_t>(worker)].add(sample, label);
    } catch (const Error& error) {
      if (!error.place.empty()) throw;
      throw error.within(data->place(sample));
    }
    progress.step();
  });
  for (size_t i = 1; i < workers.size(); ++i) workers[0].merge(std::move(workers[i]));
  SampleEvaluation outcome{workers[0].evaluation.result(), {}, std::nullopt};
  if (!job.reference) return outcome;
  outcome.outputs = workers[0].differences.result();
  outcome.sqnr_db = workers[0].differences.least_sqnr_db();
  const auto answers = workers[0].answers.result();
  if (answers.count > 0) outcome.result.agreement = evaluate::agreement(workers[0].reference_answers.result(), answers);
  return outcome;
}

}  // namespace tersor
