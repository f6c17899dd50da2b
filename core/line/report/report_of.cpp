// SPDX-License-Identifier: Apache-2.0
#include "core/report/report_of.h"

#include <algorithm>

#include "core/base/digest.h"
#include "core/base/error.h"
#include "core/base/names.h"
#include "core/choose/pad_fillers.h"
#include "core/decide/outcomes.h"
#include "core/decide/possible_front_ends.h"
#include "core/graph/uses.h"
#include "core/job/body_job.h"
#include "core/job/tflite_nodes.h"
#include "core/mixed/configurable.h"
#include "core/ops/registry.h"
#include "core/report/expected_size.h"
#include "core/report/idle_remarks.h"
#include "core/report/range_remarks.h"
#include "core/run/ports.h"
#include "core/simulate/profile.h"
#include "core/trial/trial.h"

namespace tersor {

namespace {

/// Elements of each value for one sample, those inside fused groups too, by index; 0 where they are not known before
/// the samples.
std::vector<int64_t> elements_of_one_sample(const Job& job) {
  std::vector<int64_t> elements(job.model.graph.value_count(), 0);
  const auto shapes = run::shapes_of_one_sample(job.model.graph);
  if (!shapes || !job.program) return elements;
  const auto program = run::Program::compile(job.model, ops::standard(), run::sizes_of_all(job.model.graph));
  const auto types = program->value_types(*shapes);
  for (size_t k = 0; k < std::min(types.size(), elements.size()); ++k)
    if (types[k]) elements[k] = types[k]->shape.elements();
  return elements;
}

/// Of the files that `prefer` is decided between, those that may be larger than its own and win all the same.
std::vector<std::shared_ptr<const Job>> jobs_of_words(const Job& job) {
  using config::Preference;
  const auto own = std::make_shared<const Job>(job);
  std::vector<std::shared_ptr<const Job>> jobs = {own};
  const Preference prefer = job.settings.config.prefer;
  if (job.asked || prefer == Preference::kSize) return jobs;
  for (const Preference word : job.settings.config.contestants()) {
    if (word == prefer) continue;
    calibrate::Choices choices;
    choices.settings = choices_key(job);
    choices.changes = {"prefer=" + std::string(enum_word(word))};
    try {
      jobs.push_back(with_choices(own, choices));
    } catch (const Error&) {  // no file begins with it
    }
  }
  return jobs;
}

std::vector<ptq::NodeOutcome> expected_outcomes(const Job& job) {
  const Graph& graph = job.model.graph;
  auto outcomes = ptq::expected_outcomes(graph, job.attachment, job.placement);
  if (job.settings.format == FileFormat::kTflite)
    take_integer_nodes(expected_integer_nodes(graph, job.placement, outcomes), outcomes);
  return outcomes;
}

}  // namespace

report::Coverage expected_coverage(const Job& job, int64_t model_bytes) {
  const Graph& graph = job.model.graph;
  const auto outcomes = expected_outcomes(job);
  report::Coverage coverage =
      report::coverage_of(job.opened->model.graph, graph, job.placement, outcomes, job.left_out.get());
  std::vector<size_t> front_ends;
  if (job.settings.config.keep_float_automatically)
    front_ends = ptq::possible_front_ends(graph, job.placement, elements_of_one_sample(job));
  coverage.may_stay_float = static_cast<int64_t>(front_ends.size());
  const auto expected = [&](const Job& one, const report::AskedFloat& asked) {
    const int64_t bytes = report::expected_size(one.opened->model.graph, one.model.graph, one.attachment, one.placement,
                                                one.settings.config, model_bytes, asked);
    if (!one.bodies || asked.constants) return bytes;
    const Graph& kernels = one.bodies->kernels.model.graph;
    return report::expected_size(kernels, kernels, one.bodies->attachment, one.bodies->placement, one.settings.config,
                                 bytes, {});
  };
  coverage.estimated_size_bytes = coverage.estimated_largest_bytes = expected(job, {});
  if (!front_ends.empty()) {
    std::vector<ptq::FloatChoice> in_float = job.arithmetic.in_float;
    for (const size_t node : front_ends) in_float.push_back({graph.nodes()[node].id, {}});
    const ptq::Placement without = ptq::place(graph, job.attachment, in_float);
    const int64_t other = expected(job, {front_ends, false, &without});
    coverage.estimated_size_bytes = std::min(coverage.estimated_size_bytes, other);
    coverage.estimated_largest_bytes = std::max(coverage.estimated_largest_bytes, other);
  }
  const report::AskedFloat asked{front_ends, may_ask_for_float_constants(job)};
  for (const std::shared_ptr<const Job>& one : jobs_of_words(job))
    coverage.estimated_largest_bytes = std::max(coverage.estimated_largest_bytes, expected(*one, asked));
  coverage.calibration_bytes = calibration_bytes(job);
  return coverage;
}

config::ResourceUtilization expected_resources(const Job& job) {
  const mixed::UtilizationMeter meter(job.model, job.attachment, {});
  if (run::shapes_of_one_sample(job.model.graph)) return meter.all(meter.base());
  config::ResourceUtilization known;
  known.weights_memory = meter.weights_memory(meter.base());
  return known;
}

report::GraphView expected_graph(const Job& job) {
  return report::graph_view(job.opened->model, job.model, job.attachment, job.placement, expected_outcomes(job),
                            job.settings.platform.prices);
}

report::ActivationRange activation_range_of(const Job& job, const calibrate::Statistics& statistics,
                                            const std::string& tensor, quant::QuantizationMethod method,
                                            const quant::IntegerGrid& grid) {
  const Graph& graph = job.model.graph;
  report::ActivationRange range{{}, {}, method, grid};
  const auto add = [&](const std::string& name) {
    const calibrate::TensorStatistics* seen = statistics.find(name);
    if (seen == nullptr || seen->histogram.empty()) return;
    const quant::Range mean = seen->mean_extremes();
    if (!range.histogram.empty())
      range.mean_extremes = {std::min(range.mean_extremes.low, mean.low),
                             std::max(range.mean_extremes.high, mean.high)};
    else
      range.mean_extremes = mean;
    range.histogram.merge(seen->histogram);
  };
  const auto value = graph.find(tensor);
  const ptq::PlacedTensor* placed = value ? job.placement.find(*value) : nullptr;
  if (placed == nullptr) {
    add(tensor);
  } else {
    const ptq::PadFillers fillers(graph, Uses(graph), job.placement);
    for (const ptq::PlacedTensor& one : job.placement.tensors)
      if (one.group == placed->group && !fillers.is_passed_over(one)) add(graph.name_of(one.value));
  }
  if (range.histogram.empty())
    throw Error(ErrorCode::kMismatch, "The statistics say nothing about the tensor \"" + tensor + "\".", "tensor",
                "Name a tensor that has a histogram in the comparison.");
  return range;
}

std::optional<report::TimeForecast> time_forecast_of(const Job& job, const QuantizeResult& result) {
  return report::forecast_time(job.model, result.model, job.settings.platform.all_prices());
}

namespace {

/// Remarks on inputs and outputs that stay floats though integers are asked for.
std::vector<Diagnostic> float_edges(config::IoTypes types, const Model& quantized) {
  std::vector<Diagnostic> remarks;
  const Graph& graph = quantized.graph;
  const auto look_at = [&](const std::vector<ValueId>& edges, DType wanted, const char* kind) {
    for (const ValueId edge : edges)
      if (const DType type = graph.value(edge).dtype; wanted != DType::kFloat32 &&
                                                      (type == DType::kFloat32 || type == DType::kUndefined) &&
                                                      quantized.narrow.count(graph.name_of(edge)) == 0)
        remarks.push_back({"float_edge",
                           std::string("The ") + kind + " \"" + graph.name_of(edge) +
                               "\" stays float32, as no quantizer of 8 bits with one scale stands there.",
                           "config.io_types", ""});
  };
  if (!config::takes_pixels(types)) look_at(graph.inputs, config::input_type(types), "input");
  look_at(graph.outputs, config::output_type(types), "output");
  return remarks;
}

}  // namespace

std::vector<Diagnostic> remarks_on(const Job& job, const QuantizeResult& result) {
  const Draft& draft = result.draft;
  std::vector<Diagnostic> remarks =
      report::remarks_of({}, job.notes, draft.model.graph, draft.placement, result.plan, draft.statistics);
  const auto& asked = (job.asked ? *job.asked : job).settings.config;
  for (Diagnostic& one : float_edges(asked.io_types, result.model)) remarks.push_back(std::move(one));
  if (auto unknown = report::unknown_time(job.model, job.settings.platform.all_prices()))
    remarks.push_back(std::move(*unknown));
  if (job.settings.metric && draft.statistics.choices.held > 0 && result.recipe.quantization_config.holdout)
    remarks.push_back({"metric",
                       "What the metric \"" + job.settings.metric->name +
                           "\" chose is more than fields of the configuration say: the recipe makes this file with the "
                           "metric alone.",
                       "recipe", "Give the metric beside the recipe."});
  for (Diagnostic& one : report::idle_remarks(asked, draft.rewrites, result.plan)) remarks.push_back(std::move(one));
  return remarks;
}

report::Report report_of(const Job& job, const QuantizeResult& result, std::string model_name, int64_t model_bytes) {
  const Draft& draft = result.draft;
  const Graph& graph = draft.model.graph;
  report::Report report;
  report.tool_version = tool_version();
  report.model = {std::move(model_name), job.opened->digest, model_bytes};
  report.output = {{}, sha256_hex(result.bytes), static_cast<int64_t>(result.bytes.size())};
  report.platform = {job.settings.platform.name, job.settings.platform.version};
  report.settings = report::changed_settings((job.asked ? *job.asked : job).settings.config);
  report.coverage =
      report::coverage_of(job.opened->model.graph, graph, draft.placement, result.plan.outcomes, job.left_out.get());
  report.coverage.estimated_size_bytes = report.coverage.estimated_largest_bytes = report.output.size_bytes;
  report.coverage.calibration_bytes = calibration_bytes(job);
  report.ranges = report::ranges_of(graph, result.plan, draft.statistics);
  report.padding = report::padding_of(graph, draft.attachment, result.plan);
  report.time = time_forecast_of(job, result);
  if (result.tflite) report.board = result.tflite->board;
  if (result.tflite && result.tflite->is_simulated) report.runtime = enum_word(simulate::Profile::kTfliteMicro);
  report.samples.calibration = static_cast<int64_t>(draft.statistics.samples.size());
  report.corrections = report::corrections_of(job.passes, draft.rewrites, result.plan);
  const calibrate::Choices& choices = draft.statistics.choices;
  if (!choices.settings.empty() && choices.settings == choices_key(job.asked ? *job.asked : job))
    report.trial = choices;
  if (job.settings.config.gradient_ptq_config) report.training = draft.statistics.tuned.tuning;
  for (report::Correction& one : report::left_out((job.asked ? *job.asked : job).settings.config))
    report.corrections.push_back(std::move(one));
  report.diagnostics = job.opened->model.warnings;
  for (Diagnostic& one : remarks_on(job, result)) report.diagnostics.push_back(std::move(one));
  return report;
}

}  // namespace tersor
