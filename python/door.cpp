// SPDX-License-Identifier: Apache-2.0
#include "door.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "core/base/json.h"
#include "core/config/quantization_config.h"
#include "core/config/recipe.h"
#include "core/framework/chosen_layers.h"
#include "core/framework/document_layers.h"
#include "core/framework/effective.h"
#include "core/framework/framework_info.h"
#include "core/framework/platform_layers.h"
#include "core/job/json_settings.h"
#include "core/native/budget_curve.h"
#include "core/native/calibrate_data.h"
#include "core/native/compare_samples.h"
#include "core/native/evaluate_samples.h"
#include "core/native/gather.h"
#include "core/native/join_statistics.h"
#include "core/native/make_report.h"
#include "core/native/own_figures.h"
#include "core/onnx/convert_opset.h"
#include "core/onnx/write.h"
#include "core/report/model_card.h"
#include "core/report/report_of.h"
#include "core/samples/labels.h"
#include "core/samples/selection.h"
#include "core/simulate/program.h"
#include "core/tflite/integer_model.h"
#include "core/tflite/read_model.h"
#include "core/tpc/builtin.h"
#include "core/tpc/read.h"
#include "core/trainable/quantizer_config.h"
#include "core/trial/take_samples.h"
#include "core/trial/try_preprocessings.h"

namespace tersor::python {

namespace {

simulate::Profile profile_of(const std::string& runtime) {
  return enum_from_word<simulate::Profile>(runtime, "runtime");
}

template <class Config>
Json checked_quantizer(const Json& json, const std::string& place) {
  Config config;
  from_json(json, config, place);
  trainable::validate(config);
  return to_json(config);
}

std::vector<int64_t> spread(const samples::DataSet& data, int64_t limit) {
  return samples::spread_evenly(data.size(), limit > 0 ? limit : data.size());
}

}  // namespace

OpenModel open_model(std::string name, onnx::Source source, const onnx::ExternalData& external) {
  auto opened = std::make_shared<const OpenedModel>(tersor::open_model(source, external));
  return {std::move(name), std::move(source), std::move(opened)};
}

OpenModel as_made_from(const OpenModel& model, const OpenModel& other) {
  if (!tflite::is_integer_model(model.opened->model)) return model;
  auto fitted = std::make_shared<OpenedModel>(*model.opened);
  fitted->model = tflite::as_made_from(std::move(fitted->model), other.opened->model);
  return {model.name, model.source, std::move(fitted)};
}

std::string inspect(const OpenModel& model) {
  onnx::ModelInfo info = report::describe(model.opened->model, model.source.bytes, model.opened->file_sha256);
  info.size_bytes = static_cast<int64_t>(model.opened->file_bytes);
  return to_text(to_json(info), false);
}

std::string inputs_of(const OpenModel& model) {
  Json inputs = Json::array();
  for (const samples::InputSpec& input : input_specs(model.opened->model.graph)) {
    Json shape;
    if (input.shape) {
      shape = Json::array();
      for (const Dim& dim : *input.shape) shape.push_back(dim.fixed() ? Json(dim.value) : Json(nullptr));
    }
    inputs.push_back({{"name", input.name}, {"shape", std::move(shape)}});
  }
  return to_text(inputs, false);
}

std::shared_ptr<const samples::DataSet> open_data(const OpenModel& model,
                                                  std::shared_ptr<const samples::FileSource> source,
                                                  const std::string& preprocessing) {
  const Model& read = model.opened->model;
  const std::vector<samples::InputSpec> inputs = input_specs(read.graph);
  samples::DataSetOptions options = data_set_options(read);
  if (!preprocessing.empty() && !inputs.empty())
    options.preprocessing = samples::read_preprocessing(preprocessing, inputs[0], "preprocessing");
  auto data = samples::DataSet::open(std::move(source), inputs, options);
  if (const auto trial = try_preprocessings(read, *data)) data = data->with(trial->tried[trial->best].preprocessing);
  data->require_samples();
  return data;
}

std::vector<int64_t> labels_of(const samples::DataSet& data, const std::optional<samples::Bytes>& file,
                               const std::string& name, int64_t group) {
  if (file)
    return samples::read_labels({name, file->view, file->owner}, data, group, data.preprocessing().label_offset);
  if (data.classes().empty() || group != 1) return {};
  return samples::own_labels(data);
}

std::vector<std::byte> calibrate(const OpenModel& model, const samples::DataSet& data, const std::string& settings,
                                 int64_t limit, Shard shard, const Workforce& workforce) {
  if (shard.number < 1 || shard.number > shard.count)
    throw Error(ErrorCode::kInvalidArgument,
                "There is no shard " + std::to_string(shard.number) + " of " + std::to_string(shard.count) + ".",
                "shard", "(2, 3) is the second of three.");
  Settings given = read_settings(parse_json(settings, "settings"), nullptr, &model.opened->model.graph);
  take_samples(model.opened->model, data.shared_from_this(), given);
  const auto job = prepare(model.opened, std::move(given));
  const ByteBuffer file = calibrate::write(calibrate_shard(job, data, spread(data, limit), shard, workforce));
  return {file.begin(), file.end()};
}

std::vector<std::byte> merge(const std::vector<samples::Bytes>& parts) {
  JoinedStatistics all;
  for (size_t k = 0; k < parts.size(); ++k) all.add(parts[k].view, "statistics[" + std::to_string(k) + "]");
  const ByteBuffer file = calibrate::write(all.take());
  return {file.begin(), file.end()};
}

namespace {

/// Python hears of each round, after whoever hears of progress.
void watch(const Quantization& options, const Workforce& workforce, TrainingRun& training) {
  const auto asked = std::make_shared<bool>(false);
  training.watch = [&options, &workforce, asked](const tune::TuneProgress& now, int64_t) {
    report_progress(workforce.progress, {kTrain, now.step, now.steps, {}});
    *asked = options.watch(to_text(to_json(now), false));
  };
  training.stops = [asked] { return *asked; };
}

}  // namespace

QuantizedModel quantize(const OpenModel& model, const std::string& settings, const Quantization& options,
                        const Workforce& workforce) {
  const Json json = parse_json(settings, "settings");
  std::optional<config::Recipe> recipe;
  Settings given = read_settings(json, &recipe, &model.opened->model.graph);
  given.trainable_quantizers = options.trainable_quantizers;
  TrainingRun training = options.training;
  training.labels = options.labels;
  if (options.watch) watch(options, workforce, training);
  given.metric = options.metric;
  Gathered gathered;
  std::string met;
  if (options.aim) {
    take_samples(model.opened->model, options.data, given);
    GatheredWithin within = gather_within(model.opened, std::move(given), options.data, options.labels,
                                          spread(*options.data, options.limit), *options.aim,
                                          options.aim->accuracy ? "accuracy" : "sqnr", workforce);
    gathered = std::move(within.gathered), met = std::move(within.met);
  } else if (options.statistics.empty() && !options.data) {
    const auto job = prepare(model.opened, std::move(given));
    check_expected_size(*job);
    gathered = gather(job, empty_statistics(*job), nullptr, workforce);
  } else if (options.statistics.empty()) {
    take_samples(model.opened->model, options.data, given);
    const auto job = prepare(model.opened, std::move(given));
    check_expected_size(*job);
    gathered = gather(job, *options.data, spread(*options.data, options.limit), workforce, training);
  } else {
    JoinedStatistics all;
    for (size_t k = 0; k < options.statistics.size(); ++k)
      all.add(options.statistics[k].view, "statistics[" + std::to_string(k) + "]");
    calibrate::Statistics statistics = all.take();
    if (given.metric && options.data) statistics.choices = {};  // they may be another metric's
    if (const std::string missing = missing_parts(statistics);
        !missing.empty() && !json.at("allow_mismatch").get<bool>())
      throw Error(ErrorCode::kMismatch, missing, "statistics",
                  "Give the other parts as well. To go on with these alone, set allow_mismatch.");
    take_samples(model.opened, statistics, given);
    const auto job = prepare(model.opened, std::move(given));
    gathered = gather(job, std::move(statistics), options.data.get(), workforce, training);
  }
  check_recipe(recipe, recipe_of(*gathered.job, gathered.statistics), json, "allow_mismatch");
  std::optional<report::TimeForecast> time;
  if (options.timer) {
    FastestGathered fastest =
        gather_fastest(model.opened, std::move(gathered), options.data.get(), options.timer, workforce, training);
    gathered = std::move(fastest.gathered), time = std::move(fastest.time);
  }
  const QuantizeResult result = tersor::quantize(*gathered.job, gathered.statistics, std::move(gathered.draft));

  ReportRequest request{options.runtime, workforce, options.classes, !options.statistics.empty()};
  if (!options.compare) request.compared = 0;
  if (options.data) request.evaluated = options.data->size();
  if (options.data && options.limits) request.compared = options.data->size();
  request.labels = options.labels;
  request.time = std::move(time);
  report::Report report = make_report(request, model.name, model.opened->file_bytes, *gathered.job, result,
                                      gathered.statistics, options.data);
  if (!met.empty()) report.diagnostics.push_back({"aim", std::move(met), "", ""});
  const ByteBuffer file = calibrate::write(gathered.statistics);
  const std::string check = options.limits ? to_text(to_json(report::check_of(report, *options.limits)), false) : "";
  return {result.bytes,
          config::write_recipe(result.recipe),
          to_text(to_json(report), false),
          check,
          {file.begin(), file.end()}};
}

ConvertedModel convert(const onnx::Source& source, const onnx::ExternalData& external, int64_t opset,
                       const std::string& location) {
  Model written = tflite::read_model(source, external);
  const bool raised = opset > 0 && onnx::convert_to_opset(written, opset);
  ConvertedModel made;
  onnx::WriteOptions to;
  to.initializers_as_inputs = written.initializers_were_inputs && !raised;
  if (!location.empty()) {
    to.external.emplace();
    to.external->location = location;
    to.external->append = [&](std::span<const std::byte> bytes) {
      made.weights.insert(made.weights.end(), bytes.begin(), bytes.end());
    };
  }
  made.bytes = onnx::write(written, to);
  return made;
}

std::string tradeoff(const OpenModel& model, const std::string& settings,
                     const std::shared_ptr<const samples::DataSet>& data, const std::vector<int64_t>& labels,
                     int64_t limit, int64_t points, const Workforce& workforce) {
  Settings given = read_settings(parse_json(settings, "settings"), nullptr, &model.opened->model.graph);
  take_samples(model.opened->model, data, given);
  if (limit <= 0) limit = samples::default_calibration_count(data->size(), true);
  BudgetCurve curve(model.opened, std::move(given), data, spread(*data, limit), labels, workforce);
  return to_text(trade_off(curve, points), false);
}

VariantMaker variants(const OpenModel& model, std::shared_ptr<const samples::DataSet> data, int64_t calibrate,
                      std::vector<std::string> names) {
  if (names.empty()) names = variant_names();
  return VariantMaker({model.opened, std::move(data), calibrate, std::move(names)});
}

std::string evaluate(const OpenModel& model, const OpenModel* reference,
                     const std::shared_ptr<const samples::DataSet>& data, const std::vector<int64_t>& labels,
                     const EvaluationOptions& options, const Workforce& workforce) {
  const simulate::Profile profile = profile_of(options.runtime);
  EvaluationJob job{simulate::compile(model.opened->model, profile), nullptr,
                    enum_from_word<evaluate::Metric>(options.metric, "metric"), options.group};
  if (reference != nullptr) {
    job.reference = simulate::compile(reference->opened->model, profile);
    expect_same_ports(*job.program, *job.reference, "reference");
  }
  return to_text(to_json(evaluate_samples(job, data, labels, spread(*data, 0), workforce)), false);
}

std::string compare(const OpenModel& in_float, const OpenModel& quantized,
                    const std::shared_ptr<const samples::DataSet>& data, const std::string& runtime, bool classes,
                    const std::string& output_roles, const Workforce& workforce) {
  const simulate::Profile profile = profile_of(runtime);
  config::OutputRoles roles;
  from_json(parse_json(output_roles, "output_roles"), roles, "output_roles");
  const auto program =
      report::CompareProgram::make(in_float.opened->model, quantized.opened->model, profile, classes, roles);
  const std::vector<int64_t> chosen = spread(*data, 0);
  const report::Comparison comparison =
      compare_samples(program, data, chosen, report::layer_samples(chosen), workforce);
  return to_text(comparison_json(comparison, *program), false);
}

RunOutputs run(const OpenModel& model, const std::shared_ptr<const samples::DataSet>& data, const std::string& runtime,
               const Workforce& workforce) {
  const auto program = simulate::compile(model.opened->model, profile_of(runtime));
  RunOutputs made;
  for (const run::Port& port : program->outputs()) made.names.push_back(port.name);
  made.samples = outputs_of_samples(program, data, spread(*data, 0), "run", workforce);
  return made;
}

std::string platforms() {
  Json list = Json::array();
  for (const tpc::PlatformLabel& one : tpc::builtin_platforms())
    list.push_back(
        {{"name", one.name}, {"version", one.version}, {"title", one.title}, {"description", one.description}});
  return to_text(list, false);
}

std::string platform(const std::string& platform, const std::string& config) {
  const Json json{{"platform", parse_json(platform, "platform")}, {"config", parse_json(config, "config")}};
  const Settings settings = read_settings(json, nullptr);
  return to_text(
      framework::effective_json(settings.platform, framework::effective_configs(settings.platform, settings.config)),
      false);
}

std::vector<framework::Layer> layers(const OpenModel& model, const std::string& settings, size_t which) {
  const Json json = parse_json(settings, "settings");
  std::vector<config::Override> overrides = config::read_overrides(json.at("overrides"), "overrides");
  Settings given = read_settings(json, nullptr);
  given.overrides.clear();
  return framework::chosen_layers(prepare(model.opened, std::move(given))->model.graph, std::move(overrides), which);
}

std::string checked(const std::string& class_name, const std::string& value) {
  const Json json = parse_json(value, class_name);
  Json made;
  if (class_name == "QuantizationConfig")
    made = to_json(config::read_quantization_config(json, class_name));
  else if (class_name == "FrameworkInfo")
    made = to_json(framework::read_framework_info(json, class_name));
  else if (class_name == "LayerFilterParams")
    for (const auto& one : framework::onnx_operators(framework::read_layer_filter(json, class_name)))
      made.push_back(to_json(one));
  else if (class_name == "TargetPlatformCapabilities")
    made = to_json(json.is_string() ? tpc::get_target_platform_capabilities_by_label(json.get<std::string>())
                                    : framework::read_platform(value, class_name));
  else if (class_name == "TrainableQuantizerWeightsConfig")
    made = checked_quantizer<trainable::TrainableQuantizerWeightsConfig>(json, class_name);
  else if (class_name == "TrainableQuantizerActivationConfig")
    made = checked_quantizer<trainable::TrainableQuantizerActivationConfig>(json, class_name);
  else
    throw Error(ErrorCode::kInternal, "There is no class \"" + class_name + "\" here.");
  return to_text(made, false);
}

}  // namespace tersor::python
