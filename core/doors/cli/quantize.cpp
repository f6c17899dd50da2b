// SPDX-License-Identifier: Apache-2.0
// tersor quantize MODEL.onnx (--data DATA | --stats FILE) -o OUT.onnx
// tersor tune MODEL.onnx --data DATA -o OUT.onnx
#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/base/names.h"
#include "core/cli/files.h"
#include "core/cli/model_file.h"
#include "core/cli/print.h"
#include "core/cli/progress_line.h"
#include "core/cli/quantize_answer.h"
#include "core/cli/runtime_timer.h"
#include "core/cli/settings_option.h"
#include "core/cli/statistics_files.h"
#include "core/cli/watch_training.h"
#include "core/job/given_settings.h"
#include "core/native/budget_curve.h"
#include "core/native/calibrate_data.h"
#include "core/native/gather.h"
#include "core/native/gather_within.h"
#include "core/native/join_statistics.h"
#include "core/native/make_report.h"
#include "core/native/size_text.h"
#include "core/onnx/usage_notes.h"
#include "core/report/label_order_remark.h"
#include "core/report/range_remarks.h"
#include "core/report/report_of.h"
#include "core/simulate/program.h"
#include "core/tflite/board_source.h"
#include "core/tflite/read.h"
#include "core/trial/take_samples.h"
#include "core/trial/trial.h"

namespace tersor::cli {

namespace {

constexpr double kLabelWeight = 0.5;  // of tersor tune --labels

struct QuantizeOptions {
  std::string model, output, format, save_recipe, source;
  std::vector<std::string> stats;
  DataOption data;
  SettingsOption settings;
  TrainingRun training;
  bool trains = false;        // tersor tune
  std::optional<int> epochs;  // of training
  std::string checkpoint, resume;
  Workforce workforce{0, progress_line()};
  std::string report_path;  // empty: none is wanted
  ReportRequest report;
  std::optional<double> accuracy, sqnr;  // what the smallest file is looked for with
  std::string file_size;                 // that the best file is looked for within
  bool measure = false;
  Timer timer;  // where it measures
  bool anyway = false;
  bool json = false, quiet = false, verbose = false;
};

void check_recipe(const std::optional<config::Recipe>& recipe, const config::Recipe& now, bool platform_given,
                  bool anyway) {
  if (!recipe) return;
  const std::vector<std::string> found = differences(*recipe, now, platform_given);
  for (const std::string& one : found)
    if (anyway) print_error("note: %s\n", one.c_str());
  if (!found.empty() && !anyway)
    throw Error(ErrorCode::kMismatch, joined(found, " "), "--recipe", "To follow it all the same, add --anyway.");
}

void check_parts(const calibrate::Statistics& statistics, bool anyway) {
  const std::string missing = missing_parts(statistics);
  if (missing.empty()) return;
  if (!anyway)
    throw Error(ErrorCode::kMismatch, missing, "--stats",
                "Give the other parts as well. To go on with these alone, add --anyway.");
  print_error("warning: --stats: %s\n", missing.c_str());
}

/// What was read or gathered, and the samples where they are at hand. A recipe brings its preprocessing where none is
/// given.
struct GatheredData {
  Gathered gathered;
  std::shared_ptr<const samples::DataSet> data;
  std::string aim = {};  // that was asked for, and how it is met; a sentence
};

/// The smallest model, or the one with the fewest operators in float, that is as good as --accuracy and --sqnr ask.
GatheredData gather_aimed(QuantizeOptions& options, Settings settings,
                          const std::shared_ptr<const OpenedModel>& opened) {
  const auto data = open_data(options.data, opened->model, options.json || options.quiet);
  take_samples(opened->model, data, settings);
  settings.own_statistics_only = options.report_path.empty();
  options.report.labels = labels_if_any(options.data, *data);
  options.report.evaluated = data->size();  // the verdict counts what the aim is judged on
  GatheredWithin within =
      gather_within(opened, std::move(settings), data, options.report.labels, samples_to_calibrate(options.data, *data),
                    {options.accuracy, options.sqnr}, options.accuracy ? "--accuracy" : "--sqnr", options.workforce);
  return {std::move(within.gathered), data, std::move(within.met)};
}

/// The model whose file has at most the bytes of --file-size.
GatheredData gather_within_file(QuantizeOptions& options, Settings settings,
                                const std::shared_ptr<const OpenedModel>& opened) {
  const auto bytes = static_cast<size_t>(amount_of(options.file_size, "--file-size"));
  const auto data = open_data(options.data, opened->model, options.json || options.quiet);
  take_samples(opened->model, data, settings);
  settings.own_statistics_only = options.report_path.empty();
  options.report.labels = labels_if_any(options.data, *data);
  BudgetCurve curve(opened, std::move(settings), data, samples_to_calibrate(options.data, *data), {},
                    options.workforce);
  BudgetPoint point = curve.largest_file(bytes);
  const std::string aim = "The aim of a file of at most " + size_text(static_cast<int64_t>(bytes)) +
                          " is met: " + size_text(static_cast<int64_t>(point.bytes())) + ".";
  return {{point.job, std::move(point.statistics), std::move(point.draft), 2}, data, aim};
}

/// Labels of the samples, for the answer, and for training where it is to take them.
void read_labels(QuantizeOptions& options, const Settings& settings, const samples::DataSet& data) {
  options.report.labels = labels_if_any(options.data, data);
  const auto& training = settings.config.gradient_ptq_config;
  if (training) options.training.labels = options.report.labels;
}

GatheredData gather_data(QuantizeOptions& options, Settings settings,
                         const std::shared_ptr<const OpenedModel>& opened) {
  if (options.accuracy || options.sqnr) return gather_aimed(options, std::move(settings), opened);
  if (!options.file_size.empty()) return gather_within_file(options, std::move(settings), opened);
  if (!options.stats.empty()) {
    calibrate::Statistics statistics = read_statistics(options.stats);
    check_parts(statistics, options.anyway);
    take_samples(opened, statistics, settings);
    const auto job = prepare(opened, std::move(settings));
    if (options.data.data.empty()) {
      if (Trial::is_wanted(*job, statistics))
        print_error(
            "note: --stats: nothing was tried on samples held aside (holdout) for these settings; with --data it "
            "is, and a calibration of the whole data set with the same settings keeps what it came to\n");
      return {gather(job, std::move(statistics), nullptr, options.workforce), nullptr};
    }
    const auto data = open_data(options.data, opened->model, options.quiet);
    read_labels(options, job->settings, *data);
    Gathered gathered = gather(job, std::move(statistics), data.get(), options.workforce, options.training);
    if (gathered.passes == 0 && options.report_path.empty())
      print_error("note: --data: it is not used; all that these settings take is in the statistics\n");
    return {std::move(gathered), data};
  }
  if (options.data.data.empty()) {
    const auto job = prepare(opened, std::move(settings));
    check_expected_size(*job);
    return {gather(job, empty_statistics(*job), nullptr, options.workforce), nullptr};
  }
  const auto data = open_data(options.data, opened->model, options.json || options.quiet);
  take_samples(opened->model, data, settings);
  settings.own_statistics_only = options.report_path.empty() && !options.measure;
  read_labels(options, settings, *data);
  const auto job = prepare(opened, std::move(settings));
  check_expected_size(*job);
  return {gather(job, *data, chosen_samples(options.data, *data), options.workforce, options.training), data};
}

/// Two names of one file, or a sample of the folder `input`.
bool is_read(const std::string& output, const std::string& input) {
  namespace fs = std::filesystem;
  std::error_code none;
  if (input.empty() || output == kStandardStream || !fs::exists(output, none) || !fs::exists(input, none)) return false;
  if (fs::equivalent(output, input, none)) return true;
  const fs::path path = fs::absolute(output, none);
  const bool ours = path.extension() == ".onnx" || path.extension() == ".json";
  return !ours && fs::is_directory(input, none) && fs::equivalent(path.parent_path(), input, none);
}

/// Nothing that the job reads is written over.
void check_not_read(const std::string& output, const QuantizeOptions& options) {
  std::vector<std::string> inputs = {options.model, options.settings.config, options.settings.recipe,
                                     options.settings.platform, options.data.labels};
  if (output != options.checkpoint) inputs.push_back(options.resume);  // one file may be gone on from and kept up
  inputs.insert(inputs.end(), options.data.data.begin(), options.data.data.end());
  inputs.insert(inputs.end(), options.stats.begin(), options.stats.end());
  for (const std::string& input : inputs)
    if (is_read(output, input))
      throw CLI::ValidationError("quantize",
                                 "\"" + output + "\" would be written over, and this job reads it; give another name");
}

/// What is asked for, or else what the name of the file says.
FileFormat format_of(const QuantizeOptions& options) {
  return options.format.empty() ? tersor::format_of(options.output)
                                : enum_from_word<FileFormat>(options.format, "--format");
}

/// Of the C++ source of a .tflite file; empty where none is asked for.
std::string header_beside(const std::string& source) {
  return source.empty() ? "" : std::filesystem::path(source).replace_extension(".h").string();
}

/// The array is named after the file.
tflite::BoardSource board_of(const std::vector<std::byte>& file, const std::string& source) {
  std::string name = std::filesystem::path(source).stem().string();
  for (char& letter : name)
    if (std::isalnum(static_cast<unsigned char>(letter)) == 0) letter = '_';
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) != 0) name = "model_" + name;
  return tflite::board_source(tflite::read(file, nullptr), file, name,
                              std::filesystem::path(header_beside(source)).filename().string());
}

/// The .tflite file as C++ for a board: the source and its header.
std::vector<FileToWrite> source_files(const std::string& path, const tflite::BoardSource& board) {
  return {{path, bytes_of(board.source)}, {header_beside(path), bytes_of(board.header)}};
}

/// The files to write, by which two names of one are equal; as they are where the system cannot follow them.
std::vector<std::filesystem::path> outputs_of(const QuantizeOptions& options) {
  std::vector<std::filesystem::path> outputs;
  for (const std::string& path : {options.output, options.save_recipe, options.report_path, options.checkpoint,
                                  options.source, header_beside(options.source)}) {
    if (path.empty()) continue;
    if (path == kStandardStream) {
      outputs.emplace_back(path);
      continue;
    }
    std::error_code failed;
    const std::filesystem::path real = std::filesystem::weakly_canonical(std::filesystem::absolute(path), failed);
    outputs.push_back(failed ? std::filesystem::path(path) : real);
  }
  return outputs;
}

/// Faults of the command line that would else come to light only when all the work is done.
void check_options(const QuantizeOptions& options) {
  if ((options.accuracy || options.sqnr) && (!options.stats.empty() || options.data.data.empty()))
    throw CLI::ValidationError("quantize", "--accuracy and --sqnr need --data, and take no --stats");
  if (!options.file_size.empty()) {
    amount_of(options.file_size, "--file-size");
    if (!options.stats.empty() || options.data.data.empty())
      throw CLI::ValidationError("quantize", "--file-size needs --data, and takes no --stats");
  }
  std::set<std::filesystem::path> different;
  for (const std::filesystem::path& path : outputs_of(options)) {
    if (!different.insert(path).second)
      throw CLI::ValidationError("quantize",
                                 "\"" + path.string() + "\" is to be written twice; give each file its own name");
    check_not_read(path.string(), options);
    expect_writable(path.string());
  }
  enum_from_word<simulate::Profile>(options.report.runtime, "--runtime");
  const bool is_tflite = format_of(options) == FileFormat::kTflite;
  if (is_tflite != (tersor::format_of(options.output) == FileFormat::kTflite))
    throw CLI::ValidationError("--format",
                               "the name given with --output says another; leave --format out or rename it");
  if (!options.source.empty() && !is_tflite)
    throw CLI::ValidationError("--source", "it is the source of a .tflite file: give --output a name that ends so");
  if (options.measure && is_tflite)
    throw CLI::ValidationError("--measure", "files are timed in ONNX Runtime, which runs no .tflite files");
}

void print_notes(const std::vector<Diagnostic>& notes) {
  for (const Diagnostic& note : notes) print_note(note);
}

void print_labels_note(const report::Report& report) {
  for (const Diagnostic& one : report.diagnostics)
    if (one.code == kLabelsNotCounted || one.code == report::kLabelsReordered) print_note(one);
}

/// The report that an answer is said from where nobody asked for one. Absent where it fails, for the file is written
/// already.
std::optional<report::Report> judge(ReportRequest request, const std::string& model_name, size_t model_bytes,
                                    const Job& job, const QuantizeResult& result,
                                    const calibrate::Statistics& statistics,
                                    const std::shared_ptr<const samples::DataSet>& data) {
  try {
    return make_report(request, model_name, model_bytes, job, result, statistics, data);
  } catch (const Error& error) {
    print_error("note: the outputs were not compared with the float model's: %s\n", error.what());
    return std::nullopt;
  }
}

void quantize_model(QuantizeOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  check_options(options);
  StageTimes times;
  options.workforce.progress = times.watch(std::move(options.workforce.progress));
  ModelFile file = open_model(options.model);
  const size_t before = file.bytes;
  const auto opened = std::make_shared<const OpenedModel>(opened_model(std::move(file)));
  check_quantizable(opened->model);  // before samples are held against it
  const std::optional<config::Recipe> recipe = read_recipe_option(options.settings);
  if (recipe) {
    options.data.recipe_preprocessing = recipe->preprocessing;
    options.data.recipe_place = options.settings.recipe;
    const config::RecipeDataSet& used = recipe->data_set;
    if (options.data.limit == 0 && used.samples < used.of) options.data.limit = used.samples;
  }
  Settings settings = read_settings(options.settings, recipe, &opened->model.graph);
  auto& training = settings.config.gradient_ptq_config;
  if (options.trains && !training) training.emplace();
  if (options.epochs) training->n_epochs = *options.epochs;
  // Who gives labels to training alone wants them in it.
  const bool labels_are_its = options.trains && !options.data.labels.empty() && !options.accuracy;
  if (labels_are_its && training->label_weight == 0) training->label_weight = kLabelWeight;
  FileBytes state;
  if (!options.resume.empty()) {
    state = map_file(options.resume);
    tune::epochs_of_checkpoint(state.bytes);  // what is none is said before anything is computed
  }
  options.training.resume = state.bytes;
  watch_training(options.checkpoint, options.quiet || options.json, options.training);
  for (const std::filesystem::path& path : outputs_of(options)) expect_writable(path.string());
  if (options.measure) options.timer = runtime_timer();
  std::vector<Diagnostic> warnings = opened->model.warnings;
  if (settings.config.inference_mode)
    std::erase_if(warnings, [](const Diagnostic& one) { return one.code == onnx::kTrainingMode; });
  if (!options.quiet && !options.json) print_notes(warnings);
  settings.format = format_of(options);
  const bool trains = training.has_value();
  auto [gathered, data, aim] = gather_data(options, std::move(settings), opened);
  if (trains) times.end("train");
  if (options.timer) {
    FastestGathered fastest =
        gather_fastest(opened, std::move(gathered), data.get(), options.timer, options.workforce, options.training);
    gathered = std::move(fastest.gathered), options.report.time = std::move(fastest.time);
  }
  auto& [job, statistics, decided, passes] = gathered;
  check_recipe(recipe, recipe_of(*job, statistics), !options.settings.platform.empty(), options.anyway);
  QuantizeResult result = quantize(*job, statistics, std::move(decided));
  times.end("write");
  if (!options.quiet) print_notes(remarks_on(*job, result));
  if (result.tflite && !result.tflite->is_simulated && !options.quiet)
    print_error(
        "note: %s: it has operators on floats, so the figures are of the same integers in ONNX Runtime; TensorFlow "
        "Lite "
        "rounds otherwise\n",
        options.output.c_str());
  options.report.workforce = options.workforce;
  options.report.foreign = !options.stats.empty();
  const bool wants_report = !options.report_path.empty();
  std::optional<report::Report> report;
  if (wants_report)
    report = make_report(options.report, file_name(options.model), before, *job, result, statistics, data);
  const std::string recipe_text = config::write_recipe(result.recipe);
  const std::string report_text = wants_report ? to_text(to_json(*report)) + "\n" : "";
  std::vector<FileToWrite> files = {{options.output, result.bytes}};
  if (!options.save_recipe.empty()) files.push_back({options.save_recipe, bytes_of(recipe_text)});
  tflite::BoardSource board;
  if (!options.source.empty()) {
    board = board_of(result.bytes, options.source);
    for (const FileToWrite& one : source_files(options.source, board)) files.push_back(one);
  }
  if (wants_report) files.push_back({options.report_path, bytes_of(report_text)});
  write_files(files);
  if (!wants_report && data && !options.quiet)
    report = judge(options.report, file_name(options.model), before, *job, result, statistics, data);
  if (report && !options.quiet) print_labels_note(*report);
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  const Cost cost{spent.count(), times.stages(), calibration_bytes(*job)};
  const auto time = report ? report->time : options.report.time ? options.report.time : time_forecast_of(*job, result);
  const QuantizeAnswer answer{
      result, statistics, report, time, cost, options.output, aim, before, job->opened->model.warnings};
  if (options.json) return print_json(answer);
  if (options.quiet) return;
  print_text(answer, options.verbose);
}

}  // namespace

namespace {

std::shared_ptr<QuantizeOptions> add_options(CLI::App* command) {
  auto options = std::make_shared<QuantizeOptions>();
  command->add_option("MODEL", options->model, "A float ONNX model")->required();
  command
      ->add_option("-o,--output", options->output,
                   "The file to write: ONNX, or for TensorFlow Lite where its name ends in .tflite; - writes ONNX to "
                   "standard output")
      ->required();
  command->add_option("--format", options->format,
                      "onnx (operators between DequantizeLinear and QuantizeLinear, QDQ), qoperator (QLinearConv and "
                      "the like, for old versions of ONNX Runtime) or tflite; default: as the name says");
  add_data_option(*command, options->data, true);
  command->get_option("--labels")
      ->description(
          "Labels to count right answers with: .npy, CSV `sample,label`, or one per line; default: class folders");
  command->get_option("--data")->required(false);
  command->add_option("--stats", options->stats,
                      "Statistics of tersor calibrate, instead of calibrating on --data; several are merged");
  add_settings_option(*command, options->settings, true);
  command
      ->add_option("--accuracy", options->accuracy,
                   "The smallest file with at most so many percentage points of accuracy less than the float model, on "
                   "the labels; default: no such aim")
      ->check(amount(true));
  command->add_option("--sqnr", options->sqnr,
                      "The smallest file whose outputs have at least this SQNR, in dB; default: no such aim");
  command
      ->add_option("--file-size", options->file_size,
                   "The best file of at most so many bytes: 75000, 200kB, 1.5MB; default: no such aim")
      ->excludes("--accuracy")
      ->excludes("--sqnr");
  command
      ->add_flag(
          "--measure", options->measure,
          "Take the fastest of the files that are as accurate, timed here for some seconds in the onnxruntime of "
          "python3 (or TERSOR_PYTHON); the recipe repeats the choice without measuring")
      ->excludes("--accuracy")
      ->excludes("--sqnr")
      ->excludes("--file-size");
  command->add_option("--source", options->source,
                      "Write the .tflite file as C++ for a board too, and a header (.h) beside it with the size of its "
                      "arena and its operators");
  command->add_option("--save-recipe", options->save_recipe, "Write what makes this file again");
  command->add_option("--report", options->report_path,
                      "Write a report (JSON): error by layer, what stays float and why");
  command
      ->add_option(
          "--runtime", options->report.runtime,
          "Whose arithmetic the report is in: x64, wasm, arm64 or avx2; that of a .tflite file is tflite-micro")
      ->capture_default_str();
  command->add_flag("--classes", options->report.classes,
                    "The first output is scores of classes, though no Softmax stands at its end: the report counts "
                    "same answers");
  command->add_flag(
      "--anyway", options->anyway,
      "Follow a recipe of another model or other samples, and take statistics of which parts are missing");
  add_threads(*command, options->workforce.threads);
  command->add_flag("--json", options->json, "Print JSON");
  command->add_flag("--verbose", options->verbose, "Name every node that stays in float");
  command->add_flag("--quiet", options->quiet, "Print errors only")->excludes("--verbose")->excludes("--json");
  return options;
}

}  // namespace

void add_quantize(CLI::App& program) {
  CLI::App* command = program.add_subcommand("quantize", "Write an int8 model from a float model and samples");
  command->footer(
      "Examples:\n  tersor quantize model.onnx --data pictures/ -o model.int8.onnx --report report.json\n  tersor "
      "quantize model.onnx --data x.npy --platform qnn --prefer accuracy -o model.qnn.onnx");
  const auto options = add_options(command);
  command->callback([options] { quantize_model(*options); });
}

void add_tune(CLI::App& program) {
  CLI::App* command = program.add_subcommand(
      "tune", "The same as quantize, then train rounding, biases and ranges on the samples, with or without labels");
  command->footer(
      "Examples:\n  tersor tune model.onnx --data pictures/ --platform any --set weights_n_bits=4 --minutes 2 -o "
      "model.int4.onnx\n  tersor tune model.onnx --data x.npy --epochs 20 --checkpoint state.bin -o model.int8.onnx");
  const auto options = add_options(command);
  command->get_option("--labels")
      ->description(
          "Train towards these labels too (label_weight 0.5): .npy, CSV `sample,label`, or one per line; with "
          "--accuracy they are for that");
  command
      ->add_option("--minutes", options->training.minutes,
                   "Train for about so many minutes; default: as long as the epochs take")
      ->check(amount(false));
  command->add_option("--epochs", options->epochs, "Go through the samples so often; default 20")
      ->check(count_from(1, 100000))
      ->excludes("--minutes");
  command->add_option("--checkpoint", options->checkpoint,
                      "Write where training stands to this file, every 30 seconds and at the end");
  command->add_option(
      "--resume", options->resume,
      "Go on from a file of --checkpoint, with the same model, samples and settings; with --minutes for "
      "as many epochs as it was written with");
  options->trains = true;
  command->callback([options] { quantize_model(*options); });
}

}  // namespace tersor::cli
