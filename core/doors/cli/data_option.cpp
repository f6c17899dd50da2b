// SPDX-License-Identifier: Apache-2.0
#include "core/cli/data_option.h"

#include <cinttypes>

#include "core/cli/files.h"
#include "core/cli/print.h"
#include "core/native/calibrate_data.h"
#include "core/native/folder_source.h"
#include "core/samples/format.h"
#include "core/samples/labels.h"
#include "core/samples/selection.h"
#include "core/trial/try_preprocessings.h"

namespace tersor::cli {

namespace {

/// The usual ending of each format.
std::string known_endings() {
  std::string list;
  for (const samples::Format& format : samples::formats()) {
    const auto extensions = samples::extensions_of(format);
    if (!extensions.empty()) list += (list.empty() ? "" : ", ") + std::string(extensions.front());
  }
  return list;
}

}  // namespace

void add_data_option(CLI::App& command, DataOption& option, bool labelled) {
  CLI::Option* const data = command
                                .add_option("--data", option.data,
                                            "Samples: a folder, a file (" + known_endings() +
                                                ") or a .zip of such; may be given several times")
                                ->allow_extra_args(false)
                                ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
                                ->required();
  command
      .add_option(
          "--preprocessing", option.preprocessing,
          "How pictures and recordings become tensors: imagenet, unit, signed, raw, or a JSON file; default: what "
          "labels tell, else a guess")
      ->needs(data);
  command.add_option("--limit", option.limit, "Use at most this many samples, spread evenly; default 0: all")
      ->check(count_from(0))
      ->needs(data);
  if (labelled)
    command.add_option(
        "--labels", option.labels,
        "Labels: .npy, CSV `sample,label`, or one per line; default: class folders, or what the samples' files say");
}

std::optional<samples::Preprocessing> read_preprocessing_option(const std::string& preprocessing,
                                                                const std::vector<samples::InputSpec>& inputs) {
  if (preprocessing.empty()) return std::nullopt;
  const samples::InputSpec input = inputs.empty() ? samples::InputSpec{} : inputs[0];
  for (const std::string& name : samples::preset_names())
    if (name == preprocessing) return samples::preset(name, input);
  try {
    return samples::read_preprocessing(map_file(preprocessing).text(), input, preprocessing);
  } catch (const Error& error) {
    if (error.code != ErrorCode::kIo) throw;
    throw Error(error.code, error.message, error.place,
                suggestion(preprocessing, samples::preset_names()) + "Give a JSON file, or one of the presets " +
                    joined(samples::preset_names()) + ".");
  }
}

namespace {

/// The data set as the labels say that it is to be read; as it is where they do not tell.
std::shared_ptr<const samples::DataSet> read_as_labels_say(std::shared_ptr<const samples::DataSet> data,
                                                           const Model& model, bool quiet) {
  const auto trial = try_preprocessings(model, *data);
  if (!trial) return data;
  const TriedPreprocessing& best = trial->tried[trial->best];
  if (!quiet)
    print_error("note: preprocessing \"%s\", tried on samples with labels: %s\n", best.name.c_str(),
                trial->text().c_str());
  if (!quiet && trial->is_chance() && best.reordered == 0)
    print_error(
        "note: no preset is right more often than guessing; check the class folders, or describe the "
        "preprocessing in a JSON file (--preprocessing)\n");
  return data->with(best.preprocessing);
}

}  // namespace

std::shared_ptr<const samples::DataSet> open_data(const DataOption& option, const Model& model, bool quiet) {
  const std::vector<samples::InputSpec> inputs = input_specs(model.graph);
  samples::DataSetOptions options = data_set_options(model);
  options.preprocessing = read_preprocessing_option(option.preprocessing, inputs);
  if (!options.preprocessing && !option.recipe_preprocessing.empty() && !inputs.empty())
    options.preprocessing =
        samples::read_preprocessing(option.recipe_preprocessing, inputs[0], option.recipe_place + ".preprocessing");
  const auto data = read_as_labels_say(
      samples::DataSet::open(open_samples(option.data, option.labels, note_read), inputs, options), model, quiet);
  if (!quiet) {
    constexpr size_t kShown = 5;
    const auto& skipped = data->skipped();
    for (size_t i = 0; i < skipped.size() && i < kShown; ++i)
      print_error("skipped: %s (%s)\n", skipped[i].path.c_str(), skipped[i].reason.c_str());
    if (skipped.size() > kShown) print_error("skipped: %zu more files\n", skipped.size() - kShown);
    if (data->batch() > 1)
      print_error("note: the model has a fixed batch of %" PRId64 "; each sample fills all of its rows\n",
                  data->batch());
    if (data->is_guess())
      print_error("note: no --preprocessing was given; guessed \"%s\" from the model's input\n",
                  std::string(data->guess()).c_str());
    if (!option.preprocessing.empty() && !data->is_preprocessed() && data->preprocessing().label_offset == 0)
      print_error("note: --preprocessing: it has no effect on these samples, which are taken as they are\n");
  }
  data->require_samples();
  return data;
}

std::vector<int64_t> open_labels(const DataOption& option, const samples::DataSet& data, int64_t group) {
  if (option.labels.empty() && group == 1) return samples::own_labels(data);
  if (option.labels.empty())
    throw Error(ErrorCode::kInvalidLabels, "There are no labels.", {}, "Give one for each group with --labels.");
  const FileBytes file = map_file(option.labels);
  return samples::read_labels({option.labels, file.bytes, file.owner}, data, group, data.preprocessing().label_offset);
}

std::vector<int64_t> labels_if_any(const DataOption& option, const samples::DataSet& data) {
  const bool has_labels = !option.labels.empty() || !data.classes().empty();
  return has_labels ? open_labels(option, data, 1) : std::vector<int64_t>();
}

std::vector<int64_t> samples_to_calibrate(const DataOption& option, const samples::DataSet& data) {
  const int64_t count = option.limit > 0 ? option.limit : samples::default_calibration_count(data.size(), true);
  return samples::spread_evenly(data.size(), count);
}

std::vector<int64_t> chosen_samples(const DataOption& option, const samples::DataSet& data, int64_t group) {
  const int64_t groups = data.size() / group;
  if (data.size() % group != 0)
    throw Error(ErrorCode::kInvalidSamples,
                std::to_string(data.size()) + " samples do not divide into groups of " + std::to_string(group) + ".",
                joined(option.data), "Check --group.");
  std::vector<int64_t> chosen;
  for (int64_t first : samples::spread_evenly(groups, option.limit == 0 ? groups : (option.limit + group - 1) / group))
    for (int64_t i = 0; i < group; ++i) chosen.push_back(first * group + i);
  return chosen;
}

}  // namespace tersor::cli
