// SPDX-License-Identifier: Apache-2.0
#include "wasm/session.h"

#include "core/base/digest.h"
#include "core/base/json.h"
#include "core/framework/chosen_layers.h"
#include "core/job/json_settings.h"
#include "core/onnx/integer_edges.h"
#include "core/onnx/write.h"
#include "core/ops/registry.h"
#include "core/report/guess_remark.h"
#include "core/report/model_card.h"
#include "core/report/report_of.h"
#include "core/samples/given_arrays.h"
#include "core/samples/labels.h"
#include "core/samples/model_inputs.h"
#include "core/samples/preview.h"
#include "core/samples/sample_digest.h"
#include "core/simulate/program.h"
#include "core/tpc/read.h"
#include "wasm/js_source.h"
#include "wasm/model_files.h"

namespace tersor::wasm {

using emscripten::val;

namespace {

Error no_such(const std::string& what, const std::string& key) {
  return {ErrorCode::kInternal, "There is no " + what + " \"" + key + "\" in this worker."};
}

simulate::Profile profile_of(const Json& settings) {
  const Json& word = settings.at("runtime");
  return word.is_null() ? simulate::Profile::kX64
                        : enum_from_word<simulate::Profile>(word.get<std::string>(), "runtime");
}

DType dtype_of_array(const val& array) {
  const std::string name = array["constructor"]["name"].as<std::string>();
  static constexpr std::pair<std::string_view, DType> kTypes[] = {
      {"Float32Array", DType::kFloat32}, {"Float64Array", DType::kFloat64},    {"Int8Array", DType::kInt8},
      {"Uint8Array", DType::kUint8},     {"Uint8ClampedArray", DType::kUint8}, {"Int16Array", DType::kInt16},
      {"Uint16Array", DType::kUint16},   {"Int32Array", DType::kInt32},        {"Uint32Array", DType::kUint32},
      {"BigInt64Array", DType::kInt64},  {"BigUint64Array", DType::kUint64}};
  for (const auto& [word, dtype] : kTypes)
    if (name == word) return dtype;
  throw Error(ErrorCode::kInvalidSamples, "A " + name + " cannot be a sample.", {},
              "Give a typed array such as Float32Array.");
}

samples::GivenSample given_tensors(const val& sample, const std::vector<samples::InputSpec>& inputs,
                                   const std::string& place) {
  std::vector<samples::GivenArray> arrays;
  const val tensors = sample["tensors"];
  for (int i = 0, count = tensors["length"].as<int>(); i < count; ++i) {
    const val tensor = tensors[i];
    samples::GivenArray array;
    array.name = tensor["name"].as<std::string>();
    array.dtype = dtype_of_array(tensor["data"]);
    if (const val shape = tensor["shape"]; !shape.isNull()) {
      const std::vector<double> dims = emscripten::convertJSArrayToNumberVector<double>(shape);
      array.shape = Shape(std::vector<int64_t>(dims.begin(), dims.end()));
    }
    array.bytes = copied(tensor["data"]);
    arrays.push_back(std::move(array));
  }
  return samples::arrange(arrays, inputs, place);
}

Json summary(const samples::ValueSummary& values) {
  return {{"min", values.min}, {"mean", values.mean}, {"max", values.max}};
}

std::vector<std::byte> to_rgba(const samples::Picture& picture) {
  const auto pixels = static_cast<size_t>(picture.width * picture.height);
  std::vector<std::byte> rgba(4 * pixels, std::byte{255});
  for (size_t i = 0; i < pixels; ++i)
    for (size_t c = 0; c < 3; ++c) rgba[4 * i + c] = std::byte{picture.pixels[picture.channels == 1 ? i : 3 * i + c]};
  return rgba;
}

/// {info, rgba, values}; the values as float32, as they are shown.
val to_js(const samples::SamplePreview& preview) {
  Json info{{"index", preview.index}, {"name", preview.name}, {"path", preview.path}, {"picture", nullptr}};
  val result = val::object();
  result.set("rgba", val::null());
  if (preview.picture) {
    info["picture"] = {{"width", preview.picture->width}, {"height", preview.picture->height}};
    result.set("rgba", to_array(to_rgba(*preview.picture)));
  }
  info["tensors"] = Json::array();
  val values = val::array();
  for (const samples::TensorPreview& tensor : preview.tensors) {
    Json channels = Json::array();
    for (const samples::ValueSummary& one : tensor.channels) channels.push_back(summary(one));
    info["tensors"].push_back({{"input", tensor.input},
                               {"shape", tensor.tensor.shape().dims()},
                               {"whole", summary(tensor.whole)},
                               {"channels", std::move(channels)}});
    const std::vector<double> wide = tensor.tensor.to_doubles();
    const std::vector<float> narrow(wide.begin(), wide.end());
    values.call<void>("push", val(emscripten::typed_memory_view(narrow.size(), narrow.data())).call<val>("slice"));
  }
  result.set("info", to_text(info, false));
  result.set("values", values);
  return result;
}

void append(Json& list, val& values, const std::string& name, const Tensor& tensor) {
  list.push_back({{"name", name}, {"type", name_of(tensor.dtype())}, {"shape", tensor.shape().dims()}});
  values.call<void>("push", to_array(tensor.bytes()));
}

std::vector<samples::Bytes> parts_of(const val& parts) {
  std::vector<samples::Bytes> result;
  for (int i = 0, count = parts["length"].as<int>(); i < count; ++i) result.push_back(copied(parts[i]));
  return result;
}

std::string key_of(const Settings& settings) {
  std::string key = tpc::digest(settings.platform) + " " + to_text(config::to_json(settings.config), false) + " " +
                    to_text(config::to_json(settings.overrides), false) + " " + settings.framework_info + " " +
                    std::string(enum_word(settings.format));
  for (const auto& [name, is_then] : settings.taken_branches) key += " " + name + (is_then ? "=then" : "=else");
  return key;
}

}  // namespace

Session::OpenModel& Session::model(const std::string& key) {
  const auto found = models_.find(key);
  if (found == models_.end()) throw no_such("model", key);
  return found->second;
}

const std::shared_ptr<const samples::DataSet>& Session::data(const std::string& key) const {
  const auto found = data_.find(key);
  if (found == data_.end()) throw no_such("data set", key);
  return found->second;
}

std::string Session::open_model(const std::string& key, const val& table) {
  const auto source = std::make_shared<JsSource>(table);
  if (source->files().empty()) throw Error(ErrorCode::kInvalidArgument, "No model was given.");
  ModelFiles files(source);
  const onnx::Source& file = files.read(0);
  OpenedModel read = tersor::open_model(file, files.external());
  files.let_go(read.model);
  OpenModel opened;
  opened.opened = std::make_shared<const OpenedModel>(std::move(read));
  opened.name = source->files()[0].path;
  onnx::ModelInfo info = report::describe(opened.opened->model, file.bytes, opened.opened->file_sha256);
  info.size_bytes = static_cast<int64_t>(opened.opened->file_bytes);
  models_[key] = std::move(opened);
  return to_text(to_json(info), false);
}

void Session::keep_model(const std::string& key, OpenedModel opened) {
  models_[key].opened = std::make_shared<const OpenedModel>(std::move(opened));
}

void Session::close(const std::string& key) {
  models_.erase(key);
  data_.erase(key);
  trials_.erase(key);
  jobs_.erase(key);
  ranges_.erase(key);
}

/// The last job is kept: calibration and quantization use the same.
std::shared_ptr<const Job> Session::job_of(OpenModel& model, Settings settings) {
  std::string key = key_of(settings);
  if (!model.job || model.job_key != key) {
    model.job = nullptr;
    model.job = prepare(model.opened, std::move(settings));
    model.job_key = std::move(key);
  } else if (model.job->settings.preprocessing != settings.preprocessing) {
    model.job = with_preprocessing(*model.job, settings.preprocessing);
  }
  return model.job;
}

std::string Session::read_settings_file(const std::string& text, const std::string& name, const std::string& key) {
  const auto inputs =
      key.empty() ? std::vector<samples::InputSpec>() : samples::model_inputs(model(key).opened->model.graph);
  return to_text(tersor::read_settings_file(text, name, inputs.empty() ? samples::InputSpec() : inputs[0]), false);
}

std::shared_ptr<const Job> Session::prepared(const std::string& key, const std::string& settings) {
  return job_of(model(key), read_settings(parse_json(settings, "settings"), nullptr));
}

std::string Session::coverage(const std::string& key, const std::string& settings) {
  const auto job = prepared(key, settings);
  return to_text(to_json(expected_coverage(*job, static_cast<int64_t>(job->opened->file_bytes))), false);
}

std::string Session::graph(const std::string& key, const std::string& settings) {
  return to_text(to_json(expected_graph(*prepared(key, settings))), false);
}

std::string Session::runtime_nodes(const std::string& key, const std::string& settings) {
  const Settings chosen = read_settings(parse_json(settings, "settings"), nullptr);
  return to_text(to_json(report::runtime_nodes(model(key).opened->model, chosen.platform.prices)), false);
}

std::string Session::weight_channels(const std::string& key, const std::string& settings, const std::string& name) {
  const auto job = prepared(key, settings);
  return to_text(to_json(report::weight_channels(job->model.graph, job->attachment, job->settings.config, name)),
                 false);
}

std::string Session::open_range(const std::string& key, const std::string& model_key, const std::string& settings,
                                const val& statistics_file, const std::string& text) {
  const auto job = prepared(model_key, settings);
  const Json question = parse_json(text, "range");
  const quant::IntegerGrid grid{question.at("n_bits").get<int>(), question.at("is_signed").get<bool>(), false};
  report::ActivationRange range = activation_range_of(
      *job, calibrate::read(copied(statistics_file).view), question.at("tensor").get<std::string>(),
      enum_from_word<quant::QuantizationMethod>(question.at("method").get<std::string>(), "range.method"), grid);
  const std::string choices = to_text(to_json(report::range_choices(range, job->settings.config)), false);
  ranges_[key] = std::move(range);
  return choices;
}

std::string Session::range_figures(const std::string& key, double low, double high) const {
  const auto found = ranges_.find(key);
  if (found == ranges_.end()) throw no_such("range", key);
  return to_text(to_json(report::figures_of(found->second, low, high)), false);
}

val Session::layers(const std::string& key, const std::string& text, size_t which) {
  const Json json = parse_json(text, "settings");
  std::vector<config::Override> overrides = config::read_overrides(json.at("overrides"), "overrides");
  Settings settings = read_settings(json, nullptr);
  settings.overrides.clear();
  const auto job = job_of(model(key), std::move(settings));
  Json info = Json::array();
  val values = val::array();
  for (const framework::Layer& layer : framework::chosen_layers(job->model.graph, std::move(overrides), which)) {
    Json weights = Json::array();
    for (const framework::LayerWeight& weight : layer.weights) {
      weights.push_back({{"name", weight.name}, {"shape", weight.value.shape().dims()}});
      const Tensor aligned = weight.value.aligned();
      const auto data = aligned.data<float>();
      values.call<void>("push", val(emscripten::typed_memory_view(data.size(), data.data())).call<val>("slice"));
    }
    info.push_back({{"name", layer.name},
                    {"type", layer.type},
                    {"activation", layer.activation},
                    {"outputs", layer.outputs},
                    {"weights", std::move(weights)}});
  }
  val result = val::object();
  result.set("info", to_text(info, false));
  result.set("values", values);
  return result;
}

std::string Session::open_data(const std::string& key, const std::string& model_key, const val& table,
                               const std::string& preprocessing) {
  const OpenedModel& opened = *model(model_key).opened;
  const std::vector<samples::InputSpec> inputs = samples::model_inputs(opened.model.graph);
  samples::DataSetOptions options = data_set_options(opened.model);
  if (!preprocessing.empty() && !inputs.empty())
    options.preprocessing = samples::read_preprocessing(preprocessing, inputs[0], "preprocessing");
  auto set = samples::DataSet::open(std::make_shared<JsSource>(table), inputs, options);
  trials_.erase(key);
  if (const auto trial = try_preprocessings(opened.model, *set)) {
    set = set->with(trial->tried[trial->best].preprocessing);
    trials_[key] = *trial;
  }
  data_[key] = set;
  Json facts{{"count", set->size()}, {"classes", !set->classes().empty()}, {"remarks", Json::array()}};
  if (const auto remark = report::guess_remark(*set)) facts["remarks"].push_back(to_json(*remark));
  return to_text(facts, false);
}

void Session::check_data(const std::string& key) const {
  data(key)->require_samples();
}

std::string Session::inspect_data(const std::string& key) const {
  const samples::DataSet& set = *data(key);
  Json info{{"count", set.size()}, {"classes", Json::array()}};
  for (const samples::SampleClass& folder : set.classes())
    info["classes"].push_back({{"name", folder.name}, {"label", folder.number}, {"count", folder.count}});
  info["labels_from"] = to_json(set.label_source());
  info["labels"] = set.classes().empty() ? Json(nullptr) : to_json(samples::own_labels(set));
  info["inputs"] = Json::array();
  for (size_t i = 0; i < set.inputs().size(); ++i)
    info["inputs"].push_back({{"name", set.inputs()[i].name}, {"from", to_json(set.input_sources()[i])}});
  info["formats"] = to_json(set.formats());
  info["size_bytes"] = set.size_bytes();
  info["errors"] = Json::array();
  for (const samples::Problem& problem : set.problems())
    info["errors"].push_back({{"path", problem.path}, {"error", error_to_json(problem.error)}});
  info["batch"] = set.batch();
  info["skipped"] = Json::array();
  for (const samples::Skipped& skipped : set.skipped())
    info["skipped"].push_back({{"path", skipped.path}, {"reason", skipped.reason}});
  info["preprocessing"] = set.is_preprocessed() ? to_json(set.preprocessing()) : Json(nullptr);
  info["preprocessing_is_guess"] = set.is_guess();
  const auto trial = trials_.find(key);
  info["preprocessing_trial"] = trial == trials_.end() ? Json(nullptr) : to_json(trial->second);
  return to_text(info, false);
}

val Session::preview(const std::string& key, int64_t sample) const {
  const auto& set = data(key);
  if (sample < 0 || sample >= set->size())
    throw Error(ErrorCode::kInvalidArgument,
                "There is no sample " + std::to_string(sample) + "; there are " + std::to_string(set->size()) + ".",
                "samples");
  return to_js(samples::preview(set, sample));
}

val Session::preview_tensors(const std::string& key, const val& sample) {
  const auto index = static_cast<int64_t>(sample["index"].as<double>());
  const std::string place = "samples[" + std::to_string(index) + "]";
  const std::vector<samples::InputSpec> inputs = samples::model_inputs(model(key).opened->model.graph);
  return to_js(samples::preview(given_tensors(sample, inputs, place).inputs, inputs, index));
}

std::string Session::labels_of_folders(const std::string& key) const {
  return to_text(to_json(samples::own_labels(*data(key))), false);
}

std::string Session::labels_of_file(const std::string& key, const val& table, int64_t group) const {
  const JsSource source(table);
  const samples::DataSet& set = *data(key);
  const samples::Bytes bytes = source.read_all(0);
  return to_text(to_json(samples::read_labels({source.files()[0].path, bytes.view, bytes.owner}, set, group,
                                              set.preprocessing().label_offset)),
                 false);
}

void Session::begin_job(const std::string& key, const std::string& kind, const std::string& text) {
  const Json settings = parse_json(text, "settings");
  RunningJob running;
  const Json& data_key = settings.at("data");
  if (!data_key.is_null()) running.data = data(data_key.get<std::string>());
  if (running.data) running.reader.emplace(running.data);
  const std::string model_key = settings.at(kind == "compare" ? "float" : "model").get<std::string>();
  OpenModel& opened = model(model_key);
  running.inputs = samples::model_inputs(opened.opened->model.graph);
  if (kind == "calibrate") {
    Settings chosen = read_settings(settings, nullptr);
    if (running.data) take_samples(opened.opened->model, running.data, chosen);
    running.job = make_calibration(*job_of(opened, std::move(chosen)), settings.at("of").get<uint64_t>());
  } else if (kind == "evaluate") {
    std::optional<std::vector<int64_t>> reference;
    if (const Json& answers = settings.at("reference"); !answers.is_null())
      reference = answers.get<std::vector<int64_t>>();
    running.job = make_evaluation(simulate::compile(opened.opened->model, profile_of(settings)),
                                  enum_from_word<evaluate::Metric>(settings.at("metric").get<std::string>(), "metric"),
                                  settings.at("group").get<int64_t>(), std::move(reference));
  } else if (kind == "run") {
    running.runner = std::make_unique<run::Runner>(simulate::compile(opened.opened->model, profile_of(settings)));
    running.model = {opened.opened, &opened.opened->model};
  } else if (kind == "ranges") {
    running.job = make_ranges(opened.opened);
  } else {
    const Model& quantized = model(settings.at("quantized").get<std::string>()).opened->model;
    const Json& chosen = settings.at("samples");
    const bool layers = chosen.is_null() || !chosen.empty();
    const auto roles =
        read_settings(parse_json(settings.at("asked").get<std::string>(), "settings"), nullptr).config.output_roles;
    running.job = make_comparison(
        report::CompareProgram::make(opened.opened->model, quantized, profile_of(settings),
                                     settings.at("classes").get<bool>(), roles.value_or(config::OutputRoles()),
                                     layers ? report::Depth::kLayers : report::Depth::kOutputs),
        chosen.is_null() ? report::first_layer_samples() : report::layer_samples(chosen.get<std::vector<int64_t>>()));
  }
  jobs_[key] = std::move(running);
}

Session::RunningJob& Session::running(const std::string& key) {
  const auto found = jobs_.find(key);
  if (found == jobs_.end()) throw no_such("job", key);
  return found->second;
}

val Session::load_sample(const std::string& key, const val& sample) {
  RunningJob& running = this->running(key);
  JobSample& given = running.loaded.emplace();
  given.index = static_cast<int64_t>(sample["index"].as<double>());
  if (const val label = sample["label"]; !label.isNull()) given.label = static_cast<int64_t>(label.as<double>());
  if (running.reader) {
    given.place = running.data->place(given.index);
    given.inputs = running.reader->load(given.index);
    given.batch = running.data->batch();
  } else {
    given.place = "samples[" + std::to_string(given.index) + "]";
    samples::GivenSample arranged = given_tensors(sample, running.inputs, given.place);
    given.inputs = std::move(arranged.inputs);
    given.batch = arranged.batch;
  }
  if (!running.job || !running.job->wants_digests()) return val::null();
  given.digested = samples::digested_bytes(given.inputs);
  return as_view(given.digested);
}

void Session::add_sample(const std::string& key) {
  RunningJob& running = this->running(key);
  TERSOR_CHECK(running.loaded);
  const JobSample& given = *running.loaded;
  if (running.gather)
    running.gather->add(given.index, given.inputs);
  else
    running.job->add(given);
  running.loaded.reset();
}

val Session::run_loaded(const std::string& key) {
  RunningJob& running = this->running(key);
  TERSOR_CHECK(running.runner && running.loaded);
  const std::vector<Tensor>& inputs = running.loaded->inputs;
  Json info;
  val values = val::array();
  const Model& model = *running.model;
  const auto add = [&](Json& info, const std::vector<ValueId>& edges, std::span<const Tensor> tensors,
                       bool as_in_file) {
    info = Json::array();
    for (size_t i = 0; i < tensors.size(); ++i)
      append(info, values, model.graph.name_of(edges[i]),
             as_in_file ? onnx::file_form(model, edges[i], tensors[i]) : tensors[i]);
  };
  try {
    const std::vector<Tensor> outputs = running.runner->run(inputs);
    const auto& [from, to] = std::pair(model.graph.inputs, model.graph.outputs);
    add(info["inputs"], from, inputs, false);
    add(info["outputs"], to, outputs, false);
    if (!model.narrow.empty()) {
      add(info["file"]["inputs"], from, inputs, true);
      add(info["file"]["outputs"], to, outputs, true);
    }
  } catch (const Error& error) {
    throw error.within(running.loaded->place);
  }
  running.loaded.reset();
  val result = val::object();
  result.set("info", to_text(info, false));
  result.set("values", values);
  return result;
}

void Session::note_digest(const std::string& key, const val& digest) {
  RunningJob& running = this->running(key);
  TERSOR_CHECK(running.job);
  running.job->note_digest(to_hex(copied(digest).view));
}

val Session::finish_job(const std::string& key) {
  return to_array(running(key).job->finish());
}

std::string Session::begin_sweep(const std::string& key, const std::string& text, const val& statistics_file) {
  const Json settings = parse_json(text, "settings");
  Settings chosen = read_settings(settings, nullptr);
  RunningJob running;
  const Json& data_key = settings.at("data");
  if (!data_key.is_null()) running.data = data(data_key.get<std::string>());
  if (running.data) running.reader.emplace(running.data);
  OpenModel& opened = model(settings.at("model").get<std::string>());
  running.inputs = samples::model_inputs(opened.opened->model.graph);
  calibrate::Statistics statistics = calibrate::read(copied(statistics_file).view);
  take_samples(opened.opened, statistics, chosen);
  const auto job = job_of(opened, std::move(chosen));
  Gathering::Options options;
  if (const Json& labels = settings.at("labels"); !labels.is_null())
    options.labels = labels.get<std::vector<int64_t>>();
  options.trains = settings.at("trains").get<bool>();
  running.gather = std::make_unique<GatherJob>(job, std::move(statistics), std::move(options));
  const Json plan = running.gather->plan();
  if (!plan.is_null()) jobs_[key] = std::move(running);
  return to_text(plan, false);
}

val Session::sweep_step(const std::string& key, const val& before) {
  return to_array(running(key).gather->advance(copied(before).view));
}

val Session::merge_sweep_step(const std::string& key, const val& parts) {
  return to_array(running(key).gather->merge(parts_of(parts)));
}

std::string Session::next_sweep(const std::string& key) {
  GatherJob& gather = *running(key).gather;
  gather.next();
  return to_text(gather.plan(), false);
}

val Session::finish_sweep(const std::string& key) {
  return to_array(running(key).gather->finish());
}

void Session::stop_sweep(const std::string& key) {
  running(key).gather->pass().stop();
}

std::string Session::sweep_progress(const std::string& key) {
  return to_text(running(key).gather->pass().progress(), false);
}

val Session::sweep_checkpoint(const std::string& key) {
  return to_array(running(key).gather->pass().checkpoint());
}

void Session::resume_sweep(const std::string& key, const val& checkpoint) {
  running(key).gather->pass().restore(copied(checkpoint).view);
}

val Session::merge_job(const std::string& key, const val& parts, const val& extra) {
  const samples::Bytes statistics = extra.isNull() ? samples::Bytes{} : copied(extra);
  const JobResult result = running(key).job->merge(parts_of(parts), statistics.view);
  if (const auto* text = std::get_if<std::string>(&result)) return val(*text);
  return to_array(std::get<ByteBuffer>(result));
}

val Session::float_file(const std::string& key) {
  return to_array(onnx::write(model(key).opened->model));
}

Session::Calibrated Session::calibrated(const std::string& key, const Json& json, const val& statistics_file) {
  OpenModel& opened = model(key);
  const samples::Bytes file = copied(statistics_file);
  Calibrated made;
  Settings settings = read_settings(json, &made.recipe);
  if (!file.view.empty()) {
    made.statistics = calibrate::read(file.view);
    take_samples(opened.opened, made.statistics, settings);
  }
  made.job = job_of(opened, std::move(settings));
  if (file.view.empty()) made.statistics = empty_statistics(*made.job);
  made.job = with_training(with_choices(made.job, made.statistics.choices), made.statistics.tuned);
  return made;
}

val Session::quantize(const std::string& key, const std::string& text, const val& statistics_file,
                      const ProgressFunction& progress) {
  const OpenModel& opened = model(key);
  const Json json = parse_json(text, "settings");
  report_progress(progress, {"choose", 0, 1, {}});
  const auto [job, statistics, recipe] = calibrated(key, json, statistics_file);
  check_recipe(recipe, recipe_of(*job, statistics), json, "allowMismatch");
  const QuantizeResult made = tersor::quantize(*job, statistics, draft(*job, statistics));
  report_progress(progress, {"choose", 1, 1, {}});

  const report::Report report = report_of(*job, made, opened.name, static_cast<int64_t>(opened.opened->file_bytes));
  val result = val::object();
  result.set("model", to_array(made.bytes));
  result.set("computed", made.tflite ? to_array(onnx::write(made.model)) : val::null());
  result.set("recipe", config::write_recipe(made.recipe));
  result.set("report", to_text(to_json(report), false));
  report_progress(progress, {"write", 1, 1, {}});
  return result;
}

}  // namespace tersor::wasm
