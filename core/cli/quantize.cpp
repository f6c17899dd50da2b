// SPDX-License-Identifier: Apache-2.0
// tersor quantize MODEL.onnx (--data DATA | --stats FILE) -o OUT.onnx
// tersor tune MODEL.onnx --data DATA -o OUT.onnx
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/base/names.h"
#include "core/cli/budget_curve.h"
#include "core/cli/files.h"
#include "core/cli/model_file.h"
#include "core/cli/print.h"
#include "core/cli/progress_line.h"
#include "core/cli/settings_option.h"
#include "core/cli/statistics_files.h"
#include "core/cli/watch_training.h"
#include "core/given_settings.h"
#include "core/mixed/configurable.h"
#include "core/native/calibrate_data.h"
#include "core/native/gather.h"
#include "core/native/join_statistics.h"
#include "core/native/make_report.h"
#include "core/native/size_text.h"
#include "core/report/coverage.h"
#include "core/report/range_remarks.h"
#include "core/report/saturation_remark.h"
#include "core/report_of.h"
#include "core/simulate/program.h"
#include "core/trial.h"

namespace tersor::cli {

namespace {

constexpr double kLabelWeight = 0.5;  // of tersor tune --labels

struct QuantizeOptions {
  std::string model, output, save_recipe;
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

std::vector<report::FloatNode> in_float(const QuantizeResult& result) {
  return report::float_nodes(result.draft.model.graph, result.plan.outcomes);
}

int64_t count_of(const ptq::QuantizationPlan& plan, ptq::NodeOutcome::Arithmetic arithmetic) {
  int64_t count = 0;
  for (const ptq::NodeOutcome& outcome : plan.outcomes) count += outcome.arithmetic == arithmetic ? 1 : 0;
  return count;
}

/// A line for each reason, in the graph's order: which operators, how many nodes; all their names where `verbose`.
void print_in_float(const std::vector<report::FloatNode>& nodes, bool verbose) {
  std::vector<std::vector<const report::FloatNode*>> lines;
  for (const report::FloatNode& node : nodes) {
    const auto line =
        std::find_if(lines.begin(), lines.end(), [&](const auto& one) { return one[0]->reason == node.reason; });
    (line == lines.end() ? lines.emplace_back() : *line).push_back(&node);
  }
  for (const auto& line : lines) {
    std::vector<std::pair<std::string, int>> operators;
    for (const report::FloatNode* node : line) {
      const auto known =
          std::find_if(operators.begin(), operators.end(), [&](const auto& one) { return one.first == node->op; });
      (known == operators.end() ? operators.emplace_back(node->op, 0) : *known).second += 1;
    }
    std::string text;
    for (const auto& [op, count] : operators)
      text += (text.empty() ? "" : ", ") + (count == 1 ? "" : std::to_string(count) + " ") + op;
    print("  in float: %s: %s\n", text.c_str(), line[0]->reason.c_str());
    if (!verbose) continue;
    for (const report::FloatNode* node : line) print("    %s \"%s\"\n", node->op.c_str(), node->name.c_str());
  }
}

/// "3.7 times smaller", "1.2 times as large".
std::string change_of_size(double before, double after) {
  char text[64];
  if (after < before)
    std::snprintf(text, sizeof text, "%.1f times smaller", before / after);
  else
    std::snprintf(text, sizeof text, "%.1f times as large", after / before);
  return text;
}

/// The answer: size, expected speed, what runs in integers.
void print_answer(const QuantizeResult& result, const std::optional<report::TimeForecast>& time,
                  const std::string& output, size_t before) {
  using Arithmetic = ptq::NodeOutcome::Arithmetic;
  const auto& [samples, of, digest] = result.recipe.data_set;
  const auto size = static_cast<double>(result.bytes.size());
  print("%s: %.1f kB, was %.1f kB (%s); %s samples; %s@v%d\n", output.c_str(), size / 1e3,
        static_cast<double>(before) / 1e3, change_of_size(static_cast<double>(before), size).c_str(),
        (std::to_string(samples) + (samples < of ? " of " + std::to_string(of) : "")).c_str(),
        result.recipe.platform.name.c_str(), result.recipe.platform.version);
  if (time) print("%s\n", time->sentence.c_str());
  print("%lld operators in integers, %lld of them with a float result; %lld in float\n",
        static_cast<long long>(count_of(result.plan, Arithmetic::kInteger) +
                               count_of(result.plan, Arithmetic::kIntegerFloatOutput)),
        static_cast<long long>(count_of(result.plan, Arithmetic::kIntegerFloatOutput)),
        static_cast<long long>(count_of(result.plan, Arithmetic::kFloat)));
}

/// What trying on samples held aside has changed; --report has all that was tried.
void print_choices(const calibrate::Choices& choices) {
  const auto held = static_cast<long long>(choices.held);
  for (const calibrate::TriedChange& one : choices.tried)
    if (one.taken && one.change.rfind("float ", 0) != 0)
      print(
          "tried on %lld samples held aside: %s raises the SQNR of the outputs from %.1f to %.1f dB; the file has it\n",
          held, one.change.c_str(), one.before_db, one.after_db);
  for (const std::string& name : choices.in_float)
    print("in float: constant \"%s\": 8 bits of it cost too much on %lld samples held aside\n", name.c_str(), held);
}

/// How many operators have how many bits, and what that takes; each of them where `verbose`.
void print_bits(const calibrate::BitConfiguration& bits, bool verbose) {
  if (bits.empty()) return;
  std::map<std::pair<int64_t, int64_t>, int, std::greater<>> counts;
  const auto text_of = [](int64_t weights, int64_t activation) {
    const auto one = [](const char* of, int64_t n_bits) {
      return n_bits == mixed::kFloatBits ? std::string(of) + " in float"
                                         : std::string(of) + " of " + std::to_string(n_bits) + " bits";
    };
    std::string text = weights == 0 ? "" : one("weights", weights);
    if (activation != 0) text += (text.empty() ? "" : ", ") + one("output", activation);
    return text;
  };
  // Without what no candidate of the operator differs in.
  const auto chosen_of = [](const calibrate::SearchedOperator& one) {
    const auto& chosen = one.candidates[static_cast<size_t>(one.chosen)];
    const auto differs = [&](auto member) {
      return std::any_of(one.candidates.begin(), one.candidates.end(),
                         [&](const auto& other) { return other.*member != chosen.*member; });
    };
    using Candidate = calibrate::SearchedCandidate;
    return std::pair(differs(&Candidate::weights_n_bits) ? chosen.weights_n_bits : 0,
                     differs(&Candidate::activation_n_bits) ? chosen.activation_n_bits : 0);
  };
  for (const calibrate::SearchedOperator& one : bits.operators) ++counts[chosen_of(one)];
  print("bits: %s of weights, at most %s of activations at once; chosen for %zu operators on %lld samples\n",
        size_text(static_cast<int64_t>(bits.taken.weights_memory)).c_str(),
        size_text(static_cast<int64_t>(bits.taken.activation_memory)).c_str(), bits.operators.size(),
        static_cast<long long>(bits.images));
  for (const auto& [chosen, count] : counts)
    print("  %d with %s\n", count, text_of(chosen.first, chosen.second).c_str());
  if (!verbose) return;
  for (const calibrate::SearchedOperator& one : bits.operators) {
    const auto [weights, activation] = chosen_of(one);
    print("    %s \"%s\": %s\n", one.op.c_str(), one.node.c_str(), text_of(weights, activation).c_str());
  }
}

void print_training(const calibrate::Tuning& tuning) {
  if (tuning.plan.empty()) return;
  print("trained: %lld of %lld steps on %lld samples; on %lld held aside the outputs have %.1f dB, before %.1f: %s\n",
        static_cast<long long>(tuning.steps), static_cast<long long>(tuning.steps_planned),
        static_cast<long long>(tuning.samples), static_cast<long long>(tuning.held), tuning.after_db, tuning.before_db,
        tuning.taken ? "kept" : "not better, so nothing of it is kept");
  if (tuning.before_right && tuning.after_right)
    print("  with labels: %lld of these answers are right, before %lld; cross-entropy %.3f, before %.3f\n",
          static_cast<long long>(*tuning.after_right), static_cast<long long>(*tuning.before_right),
          tuning.after_cross_entropy.value_or(0), tuning.before_cross_entropy.value_or(0));
  for (const std::string& one : tuning.frozen) print("  %s\n", one.c_str());
}

/// What to do about the error, where there is something.
void print_advice(const report::Verdict& verdict) {
  for (const std::string& cause : verdict.causes) print("  %s\n", cause.c_str());
  for (const std::string& caution : verdict.cautions) print("  %s\n", caution.c_str());
  for (const std::string& layer : verdict.worst_layers) print("  much of the error: %s\n", layer.c_str());
}

struct Cost {
  int passes = 0;  // over the samples, those of the report included
  double seconds = 0;
  std::optional<int64_t> bytes_per_thread;  // of calibrating; absent where it is not known
};

void print_cost(const Cost& cost) {
  print("cost: %d %s over the samples, %.2f s", cost.passes, cost.passes == 1 ? "pass" : "passes", cost.seconds);
  if (cost.bytes_per_thread) print("; at most %s of memory for each thread", size_text(*cost.bytes_per_thread).c_str());
  print("\n");
}

void print_json(const QuantizeResult& result, const std::optional<report::Verdict>& verdict, const Cost& cost,
                const std::optional<report::TimeForecast>& time, const std::string& output, size_t before,
                const std::vector<Diagnostic>& warnings, const calibrate::Statistics& statistics) {
  using Arithmetic = ptq::NodeOutcome::Arithmetic;
  Json nodes_in_float = Json::array();
  for (const report::FloatNode& node : in_float(result)) nodes_in_float.push_back(to_json(node));
  Json json{{"output", output},
            {"size_bytes", result.bytes.size()},
            {"model_size_bytes", before},
            {"samples", result.recipe.data_set.samples},
            {"platform", result.recipe.platform.name + "@v" + std::to_string(result.recipe.platform.version)},
            {"in_integers", count_of(result.plan, Arithmetic::kInteger)},
            {"in_integers_with_float_result", count_of(result.plan, Arithmetic::kIntegerFloatOutput)},
            {"in_float", nodes_in_float},
            {"warnings", to_json(warnings)}};
  const calibrate::Tuning& training = statistics.tuned.tuning;
  json["trial"] = statistics.choices.settings.empty() ? Json(nullptr) : to_json(statistics.choices);
  json["training"] = training.plan.empty() ? Json(nullptr) : to_json(training);
  json["cost"] = {{"passes", cost.passes}, {"seconds", cost.seconds}};
  if (cost.bytes_per_thread) json["cost"]["memory_bytes_per_thread"] = *cost.bytes_per_thread;
  if (time) json["time"] = to_json(*time);
  if (verdict) json["verdict"] = to_json(*verdict);
  print("%s\n", to_text(json).c_str());
}

/// What was read or gathered, and the samples where they are at hand. A recipe brings its preprocessing where none is
/// given.
struct GatheredData {
  Gathered gathered;
  std::shared_ptr<const samples::DataSet> data;
};

/// The smallest model, or the one with the fewest operators in float, that is as good as --accuracy and --sqnr ask.
GatheredData gather_within(QuantizeOptions& options, Settings settings,
                           const std::shared_ptr<const OpenedModel>& opened) {
  const char* option = options.accuracy ? "--accuracy" : "--sqnr";
  const auto data = open_data(options.data, opened->model, options.json || options.quiet);
  settings.preprocessing = preprocessing_text(*data);
  settings.own_statistics_only = options.report_path.empty();
  const std::vector<int64_t> labels = options.report.labels = labels_if_any(options.data, *data);
  if (options.accuracy && labels.empty())
    throw Error(ErrorCode::kInvalidLabels, "There are no labels to count right answers with.", option,
                "Give --labels, or samples in class folders; --sqnr needs none.");
  BudgetCurve curve(opened, std::move(settings), data, samples_to_calibrate(options.data, *data), labels,
                    options.workforce);
  const double in_float = curve.in_float().result.value.value_or(0);
  std::string most;  // what the largest budget reaches, which is looked at first
  auto point = curve.smallest([&](const BudgetPoint& one) {
    const double value = one.evaluation.result.value.value_or(0), sqnr = one.evaluation.sqnr_db.value_or(200);
    if (most.empty()) {
      char text[128];
      std::snprintf(text, sizeof text, "%.2f %% right answers (float: %.2f %%) and an SQNR of %.2f dB", 100 * value,
                    100 * in_float, sqnr);
      most = text;
    }
    const bool right = !options.accuracy || 100 * (in_float - value) <= *options.accuracy + 1e-9;
    return right && (!options.sqnr || sqnr >= *options.sqnr);
  });
  if (!point)
    throw Error(ErrorCode::kInvalidConfig,
                "No choice is as good as that: with the most bits that the platform offers there are " + most + ".",
                option, "Allow more, give more samples, or try --prefer accuracy, --effort 2 or another platform.");
  return {{point->job, std::move(point->statistics), std::move(point->draft), 2}, data};
}

/// Labels of the samples, for the answer, and for training where it is to take them.
void read_labels(QuantizeOptions& options, const Settings& settings, const samples::DataSet& data) {
  options.report.labels = labels_if_any(options.data, data);
  const auto& training = settings.config.gradient_ptq_config;
  if (training && training->label_weight > 0) options.training.labels = options.report.labels;
}

GatheredData gather_data(QuantizeOptions& options, Settings settings,
                         const std::shared_ptr<const OpenedModel>& opened) {
  if (options.accuracy || options.sqnr) return gather_within(options, std::move(settings), opened);
  if (!options.stats.empty()) {
    calibrate::Statistics statistics = read_statistics(options.stats);
    check_parts(statistics, options.anyway);
    settings.preprocessing = statistics.provenance.preprocessing;
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
    return {gather(job, empty_statistics(*job), nullptr, options.workforce), nullptr};
  }
  const auto data = open_data(options.data, opened->model, options.json || options.quiet);
  settings.preprocessing = preprocessing_text(*data);
  settings.own_statistics_only = options.report_path.empty();
  read_labels(options, settings, *data);
  const auto job = prepare(opened, std::move(settings));
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
                                     options.settings.platform};
  inputs.insert(inputs.end(), options.data.data.begin(), options.data.data.end());
  inputs.insert(inputs.end(), options.stats.begin(), options.stats.end());
  for (const std::string& input : inputs)
    if (is_read(output, input))
      throw CLI::ValidationError("quantize",
                                 "\"" + output + "\" would be written over, and this job reads it; give another name");
}

/// The files to write, by which two names of one are equal; as they are where the system cannot follow them.
std::vector<std::filesystem::path> outputs_of(const QuantizeOptions& options) {
  std::vector<std::filesystem::path> outputs;
  for (const std::string& path : {options.output, options.save_recipe, options.report_path}) {
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
  std::set<std::filesystem::path> different;
  for (const std::filesystem::path& path : outputs_of(options)) {
    if (!different.insert(path).second)
      throw CLI::ValidationError("quantize",
                                 "\"" + path.string() + "\" is to be written twice; give each file its own name");
    check_not_read(path.string(), options);
    expect_writable(path.string());
  }
  enum_from_word<simulate::Profile>(options.report.runtime, "--runtime");
}

void print_notes(const std::vector<Diagnostic>& notes) {
  for (const Diagnostic& note : notes)
    print_error("note: %s%s%s\n", note.place.empty() ? "" : (note.place + ": ").c_str(), note.message.c_str(),
                note.hint.empty() ? "" : (" " + note.hint).c_str());
}

void print_labels_note(const report::Report& report) {
  for (const Diagnostic& one : report.diagnostics)
    if (one.code == kLabelsNotCounted) print_notes({one});
}

/// Where no report counts on samples which sums saturate.
void print_saturation_warning(const QuantizeResult& result) {
  if (result.draft.attachment.export_rules.placement != tpc::Placement::kOperands) return;
  const auto warning = report::saturation_warning(result.draft.model.graph, result.plan);
  if (warning) print("%s\n  %s\n", warning->message.c_str(), warning->hint.c_str());
}

std::string file_name(const std::string& path) {
  return path.substr(path.find_last_of('/') + 1);
}

/// What the answer needs where nobody asked for a report: outputs on fewer samples, and only where these are not good
/// enough, what makes their error. Absent where it fails, for the file is written already.
std::optional<report::Report> judge(ReportRequest request, const std::string& model_name, size_t model_bytes,
                                    const Job& job, const QuantizeResult& result,
                                    const calibrate::Statistics& statistics,
                                    const std::shared_ptr<const samples::DataSet>& data) {
  request.compared = kAnswerSamples;
  request.layers = false;
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
  ModelFile file = open_model(options.model);
  const size_t before = file.bytes;
  const auto opened = std::make_shared<const OpenedModel>(opened_model(std::move(file)));
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
  if (!options.resume.empty()) state = map_file(options.resume);
  options.training.resume = state.bytes;
  watch_training(options.checkpoint, options.quiet || options.json, options.training);
  for (const std::filesystem::path& path : outputs_of(options)) expect_writable(path.string());
  auto [gathered, data] = gather_data(options, std::move(settings), opened);
  auto& [job, statistics, decided, passes] = gathered;
  check_recipe(recipe, recipe_of(*job, statistics), !options.settings.platform.empty(), options.anyway);
  const QuantizeResult result = quantize(*job, statistics, std::move(decided));
  if (!options.quiet) print_notes(remarks_on(*job, result));
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
  if (wants_report) files.push_back({options.report_path, bytes_of(report_text)});
  write_files(files);
  if (!wants_report && data && !options.quiet)
    report = judge(options.report, file_name(options.model), before, *job, result, statistics, data);
  const auto verdict = report ? report->verdict : std::nullopt;
  if (report && !options.quiet) print_labels_note(*report);
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  const Cost cost{passes + (wants_report && data ? 1 : 0), spent.count(), calibration_bytes(*job)};
  const auto time = report ? report->time : time_forecast_of(*job, result);
  if (options.json)
    return print_json(result, verdict, cost, time, options.output, before, opened->model.warnings, statistics);
  if (options.quiet) return;
  if (verdict) print("%s: %s\n", std::string(enum_word(verdict->usability)).c_str(), verdict->reason.c_str());
  print_answer(result, time, options.output, before);
  if (verdict) print_advice(*verdict);
  print_bits(statistics.choices.bits, options.verbose);
  print_choices(statistics.choices);
  print_training(statistics.tuned.tuning);
  if (!report || !report->comparison || report->comparison->layer_samples == 0) print_saturation_warning(result);
  print_in_float(in_float(result), options.verbose);
  print_warnings(opened->model.warnings);
  print_cost(cost);
}

}  // namespace

namespace {

std::shared_ptr<QuantizeOptions> add_options(CLI::App* command) {
  auto options = std::make_shared<QuantizeOptions>();
  command->add_option("MODEL", options->model, "A float ONNX model")->required();
  command->add_option("-o,--output", options->output, "The ONNX file to write; - writes to standard output")
      ->required();
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
  command->add_option("--save-recipe", options->save_recipe, "Write what makes this file again");
  command->add_option("--report", options->report_path,
                      "Write a report (JSON): error by layer, what stays float and why");
  command
      ->add_option("--runtime", options->report.runtime, "Whose arithmetic the report is in: x64, wasm, arm64 or avx2")
      ->capture_default_str();
  command->add_flag("--classes", options->report.classes,
                    "The first output is scores of classes, though no Softmax stands at its end: the report counts "
                    "same answers");
  command->add_flag(
      "--anyway", options->anyway,
      "Follow a recipe of another model or other samples, and take statistics of which parts are missing");
  command->add_option("--threads", options->workforce.threads, "Threads; default: one for each core")
      ->check(thread_limit());
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
  command->add_option("--resume", options->resume, "Go on from a file of --checkpoint");
  options->trains = true;
  command->callback([options] { quantize_model(*options); });
}

}  // namespace tersor::cli
