// SPDX-License-Identifier: Apache-2.0
// Names only: every function of the session and of the core's tables as JavaScript calls it, each behind guard().
#include <emscripten/bind.h>

#include "core/base/digest.h"
#include "core/base/json.h"
#include "core/config/search_settings.h"
#include "core/framework/platform_layers.h"
#include "core/job/json_settings.h"
#include "core/report/fastest_file.h"
#include "core/report/report.h"
#include "core/report/report_of.h"
#include "core/rounds/rounds.h"
#include "core/samples/format.h"
#include "core/samples/preprocessing.h"
#include "core/samples/selection.h"
#include "core/tpc/builtin.h"
#include "core/tpc/read.h"
#include "wasm/guard.h"
#include "wasm/js_source.h"
#include "wasm/session.h"

namespace tersor::wasm {

using emscripten::val;

val failure(const Error& error) {
  val fields = val::object();
  fields.set("code", std::string(to_word(error.code)));
  fields.set("message", error.message);
  fields.set("place", error.place);
  fields.set("hint", error.hint);
  val answer = val::object();
  answer.set("ok", false);
  answer.set("error", fields);
  return answer;
}

Session& session() {
  static Session only;
  return only;
}

namespace {

int64_t whole(double number, const char* what) {
  if (!(number >= 0 && number <= 9007199254740992.0) || number != static_cast<double>(static_cast<int64_t>(number)))
    throw Error(ErrorCode::kInvalidArgument, std::string(what) + " must be a whole number of 0 or more.", what);
  return static_cast<int64_t>(number);
}

ProgressFunction progress_of(const val& listener) {
  return [listener](const Progress& progress) {
    listener(std::string(progress.stage), static_cast<double>(progress.done), static_cast<double>(progress.total),
             std::string(progress.note));
    return true;
  };
}

val version() {
  return guard([] { return std::string(tool_version()); });
}

val platforms() {
  return guard([] {
    Json list = Json::array();
    for (const tpc::PlatformLabel& one : tpc::builtin_platforms())
      list.push_back(
          {{"name", one.name}, {"version", one.version}, {"title", one.title}, {"description", one.description}});
    return to_text(list, false);
  });
}

val target_platform_capabilities(const std::string& name, int version) {
  return guard([&] {
    const std::optional<int> wanted = version == 0 ? std::nullopt : std::optional<int>(version);
    return to_text(tpc::to_json(tpc::get_target_platform_capabilities(name, wanted)), false);
  });
}

val read_platform(const std::string& text) {
  return guard([&] { return to_text(tpc::to_json(framework::read_platform(text)), false); });
}

val quantization_config(const std::string& fields, const std::string& preset) {
  return guard([&] {
    const auto start = preset.empty() ? config::QuantizationConfig() : config::preset(preset);
    return to_text(config::to_json(config::read_quantization_config(std::string_view(fields), "config", start)), false);
  });
}

val describe_quantization_config() {
  return guard([] { return to_text(config::describe_quantization_config(), false); });
}

val preprocessing_preset(const std::string& name) {
  return guard([&] { return to_text(to_json(samples::preset(name, {})), false); });
}

val verdict(const std::string& report_text) {
  return guard([&] {
    const Json json = parse_json(report_text, "report");
    report::Report report;
    // what verdict_of() looks at; reading the rest would be 3 kB more to load
    from_json(json.at("settings"), report.settings, "report.settings");
    from_json(json.at("ranges"), report.ranges, "report.ranges");
    from_json(json.at("comparison"), report.comparison, "report.comparison");
    from_json(json.at("evaluation"), report.evaluation, "report.evaluation");
    from_json(json.at("samples"), report.samples, "report.samples");
    from_json(json.at("diagnostics"), report.diagnostics, "report.diagnostics");
    if (const Json& trial = json.at("trial"); !trial.is_null()) {
      calibrate::Choices& choices = report.trial.emplace();
      from_json(trial.at("held"), choices.held, "report.trial.held");
      from_json(trial.at("sqnr_db"), choices.sqnr_db, "report.trial.sqnr_db");
      from_json(trial.at("median_sqnr_db"), choices.median_sqnr_db, "report.trial.median_sqnr_db");
      from_json(trial.at("low_db"), choices.low_db, "report.trial.low_db");
      from_json(trial.at("high_db"), choices.high_db, "report.trial.high_db");
      from_json(trial.at("in_float"), choices.in_float, "report.trial.in_float");
    }
    report.model.size_bytes = json.at("model").at("size_bytes").get<int64_t>();
    report.output.size_bytes = json.at("output").at("size_bytes").get<int64_t>();
    if (const Json& time = json.at("time"); !time.is_null()) {
      report::TimeForecast& forecast = report.time.emplace();
      forecast.times_as_fast = time.at("times_as_fast").get<double>();
      forecast.measured = time.at("measured").get<bool>();
      for (const Json& one : time.at("elsewhere"))
        forecast.elsewhere.emplace_back().times_as_fast = one.at("times_as_fast").get<double>();
    }
    const Json& coverage = json.at("coverage");
    report.coverage.core_nodes = coverage.at("core_nodes").get<int64_t>();
    report.coverage.integer_core_nodes = coverage.at("integer_core_nodes").get<int64_t>();
    report.coverage.stays_float.resize(coverage.at("stays_float").size());
    for (const Json& row : coverage.at("rows"))
      from_json(row.at("support"), report.coverage.rows.emplace_back().support, "report.coverage.rows.support");
    return to_text(to_json(report::verdict_of(report)), false);
  });
}

/// {extensions, hidden_names}: what file names tell of samples.
val describe_sample_files() {
  return guard([] {
    Json hidden = Json::array();
    for (const std::string_view one : samples::hidden_names()) hidden.push_back(one);
    return to_text(Json{{"extensions", to_json(samples::known_extensions())}, {"hidden_names", std::move(hidden)}},
                   false);
  });
}

val default_calibration_count(double total) {
  return guard([&] { return static_cast<double>(samples::default_calibration_count(whole(total, "total"), true)); });
}

val sha256_of(const val& bytes) {
  return guard([&] { return to_array(sha256(copied(bytes).view)); });
}

val select(double total, const std::string& part, double count) {
  return guard([&] {
    const int64_t all = whole(total, "total");
    const samples::Split split = samples::split(all, part == "all" ? all : whole(count, "selection.count"));
    if (part != "all" && part != "calibration" && part != "evaluation")
      throw Error(ErrorCode::kInvalidArgument, "\"" + part + "\" is no part of a data set.", "selection.part",
                  "Give calibration, evaluation or all.");
    return to_text(to_json(part == "evaluation" ? split.evaluation : split.calibration), false);
  });
}

val open_model(const std::string& key, const val& table) {
  return guard([&] { return session().open_model(key, table); });
}
val close(const std::string& key) {
  return guard([&] { session().close(key); });
}
val coverage(const std::string& model, const std::string& settings) {
  return guard([&] { return session().coverage(model, settings); });
}
val resource_utilization(const std::string& model, const std::string& settings) {
  return guard(
      [&] { return to_text(config::to_json(expected_resources(*session().prepared(model, settings))), false); });
}
val graph(const std::string& model, const std::string& settings) {
  return guard([&] { return session().graph(model, settings); });
}
val runtime_nodes(const std::string& model, const std::string& settings) {
  return guard([&] { return session().runtime_nodes(model, settings); });
}
val weight_channels(const std::string& model, const std::string& settings, const std::string& name) {
  return guard([&] { return session().weight_channels(model, settings, name); });
}
val open_range(const std::string& key, const std::string& model, const std::string& settings, const val& statistics,
               const std::string& question) {
  return guard([&] { return session().open_range(key, model, settings, statistics, question); });
}
val range_figures(const std::string& key, double low, double high) {
  return guard([&] { return session().range_figures(key, low, high); });
}
val read_settings_of_file(const std::string& text, const std::string& name, const std::string& model) {
  return guard([&] { return session().read_settings_file(text, name, model); });
}
val layers(const std::string& model, const std::string& settings, double which) {
  return guard([&] { return session().layers(model, settings, static_cast<size_t>(which)); });
}
val open_data(const std::string& key, const std::string& model, const val& table, const std::string& preprocessing) {
  return guard([&] { return session().open_data(key, model, table, preprocessing); });
}
val check_data(const std::string& data) {
  return guard([&] { session().check_data(data); });
}
val inspect_data(const std::string& data) {
  return guard([&] { return session().inspect_data(data); });
}
val preview(const std::string& data, double sample) {
  return guard([&] { return session().preview(data, whole(sample, "index")); });
}
val preview_tensors(const std::string& model, const val& sample) {
  return guard([&] { return session().preview_tensors(model, sample); });
}
val labels_of_folders(const std::string& data) {
  return guard([&] { return session().labels_of_folders(data); });
}
val labels_of_file(const std::string& data, const val& table, double group) {
  return guard([&] { return session().labels_of_file(data, table, whole(group, "group")); });
}
val begin_job(const std::string& key, const std::string& kind, const std::string& settings) {
  return guard([&] { session().begin_job(key, kind, settings); });
}
val load_sample(const std::string& job, const val& sample) {
  return guard([&] { return session().load_sample(job, sample); });
}
val add_sample(const std::string& job) {
  return guard([&] { session().add_sample(job); });
}
val run_loaded(const std::string& job) {
  return guard([&] { return session().run_loaded(job); });
}
val note_digest(const std::string& job, const val& digest) {
  return guard([&] { session().note_digest(job, digest); });
}
val finish_job(const std::string& job) {
  return guard([&] { return session().finish_job(job); });
}
val merge_job(const std::string& job, const val& parts, const val& extra) {
  return guard([&] { return session().merge_job(job, parts, extra); });
}
val measures_on_samples(const std::string& settings) {
  return guard([&] { return read_settings(parse_json(settings, "settings"), nullptr).config.measures_on_samples(); });
}
val needs_whole(const std::string& text) {
  return guard([&] {
    const Settings settings = read_settings(parse_json(text, "settings"), nullptr);
    const config::QuantizationConfig& config = settings.config;
    return config.gradient_ptq_config.has_value() || config.mixes_precisions() || settings.format != FileFormat::kOnnx;
  });
}
val begin_sweep(const std::string& key, const std::string& settings, const val& statistics) {
  return guard([&] { return session().begin_sweep(key, settings, statistics); });
}
val sweep_step(const std::string& job, const val& before) {
  return guard([&] { return session().sweep_step(job, before); });
}
val merge_sweep_step(const std::string& job, const val& parts) {
  return guard([&] { return session().merge_sweep_step(job, parts); });
}
val next_sweep(const std::string& job) {
  return guard([&] { return session().next_sweep(job); });
}
val finish_sweep(const std::string& job) {
  return guard([&] { return session().finish_sweep(job); });
}
val stop_sweep(const std::string& job) {
  return guard([&] {
    session().stop_sweep(job);
    return val::null();
  });
}
val sweep_progress(const std::string& job) {
  return guard([&] { return session().sweep_progress(job); });
}
val sweep_checkpoint(const std::string& job) {
  return guard([&] { return session().sweep_checkpoint(job); });
}
val resume_sweep(const std::string& job, const val& checkpoint) {
  return guard([&] {
    session().resume_sweep(job, checkpoint);
    return val::null();
  });
}
val epochs_of_training(const val& checkpoint) {
  return guard([&] { return tersor::epochs_of_checkpoint(copied(checkpoint).view); });
}
val words_to_time(const std::string& settings) {
  return guard([&] {
    const Settings read = read_settings(parse_json(settings, "settings"), nullptr);
    return to_text(to_json(report::words_to_time(read.config)), false);
  });
}
val float_file(const std::string& model) {
  return guard([&] { return session().float_file(model); });
}
val are_same_file(const val& a, const val& b) {
  return guard([&] { return report::are_same_file(copied(a).view, copied(b).view); });
}
val fastest_file(const std::string& files, const std::string& times) {
  return guard([&] {
    std::vector<report::FileToTime> read;
    from_json(parse_json(files, "files"), read, "files");
    return to_text(to_json(report::fastest_file(read, report::read_times(times))), false);
  });
}
val quantize(const std::string& model, const std::string& settings, const val& statistics, const val& progress) {
  return guard([&] { return session().quantize(model, settings, statistics, progress_of(progress)); });
}

}  // namespace

EMSCRIPTEN_BINDINGS(tersor) {
  using emscripten::function;
  function("version", &version);
  function("platforms", &platforms);
  function("targetPlatformCapabilities", &target_platform_capabilities);
  function("readPlatform", &read_platform);
  function("quantizationConfig", &quantization_config);
  function("describeQuantizationConfig", &describe_quantization_config);
  function("describeSampleFiles", &describe_sample_files);
  function("defaultCalibrationCount", &default_calibration_count);
  function("preprocessingPreset", &preprocessing_preset);
  function("verdict", &verdict);
  function("sha256", &sha256_of);
  function("select", &select);
  function("openModel", &open_model);
  function("close", &close);
  function("coverage", &coverage);
  function("graph", &graph);
  function("resourceUtilization", &resource_utilization);
  function("runtimeNodes", &runtime_nodes);
  function("weightChannels", &weight_channels);
  function("openRange", &open_range);
  function("rangeFigures", &range_figures);
  function("layers", &layers);
  function("readSettings", &read_settings_of_file);
  function("openData", &open_data);
  function("checkData", &check_data);
  function("inspectData", &inspect_data);
  function("preview", &preview);
  function("previewTensors", &preview_tensors);
  function("labelsOfFolders", &labels_of_folders);
  function("labelsOfFile", &labels_of_file);
  function("beginJob", &begin_job);
  function("loadSample", &load_sample);
  function("addSample", &add_sample);
  function("runLoaded", &run_loaded);
  function("noteDigest", &note_digest);
  function("finishJob", &finish_job);
  function("mergeJob", &merge_job);
  function("measuresOnSamples", &measures_on_samples);
  function("needsWhole", &needs_whole);
  function("beginSweep", &begin_sweep);
  function("sweepStep", &sweep_step);
  function("mergeSweepStep", &merge_sweep_step);
  function("nextSweep", &next_sweep);
  function("finishSweep", &finish_sweep);
  function("stopSweep", &stop_sweep);
  function("sweepProgress", &sweep_progress);
  function("sweepCheckpoint", &sweep_checkpoint);
  function("resumeSweep", &resume_sweep);
  function("epochsOfCheckpoint", &epochs_of_training);
  function("wordsToTime", &words_to_time);
  function("floatFile", &float_file);
  function("areSameFile", &are_same_file);
  function("fastestFile", &fastest_file);
  function("quantize", &quantize);
}

}  // namespace tersor::wasm
