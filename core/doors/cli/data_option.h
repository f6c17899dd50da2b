// SPDX-License-Identifier: Apache-2.0
// The options that name samples, the same for every subcommand that takes them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/cli/command.h"
#include "core/graph/graph.h"
#include "core/samples/data_set.h"

namespace tersor::cli {

struct DataOption {
  std::vector<std::string> data;     // --data: folders, files, zip archives
  std::string preprocessing;         // --preprocessing: preset or JSON file; empty: that of the recipe, else a guess
  std::string recipe_preprocessing;  // JSON text from --recipe; empty: none
  std::string recipe_place;          // the file that it stands in
  std::string labels;                // --labels: file; empty: class folders
  int64_t limit = 0;                 // --limit: at most so many, spread evenly; 0: all
};

/// Adds --data, --preprocessing and --limit; --labels where `labelled`.
void add_data_option(CLI::App& command, DataOption& option, bool labelled);

/// The description that --preprocessing names; absent when nothing was given. Error kIo, kInvalidConfig.
std::optional<samples::Preprocessing> read_preprocessing_option(const std::string& preprocessing,
                                                                const std::vector<samples::InputSpec>& inputs);

/// Opens the data set; it has samples. Where nobody gave a preprocessing and the samples have classes, the presets are
/// tried on the model (try_preprocessings()). Says on stderr which files are skipped and which preprocessing was tried
/// or guessed, unless `quiet`.
std::shared_ptr<const samples::DataSet> open_data(const DataOption& option, const Model& model, bool quiet);

/// The labels of all samples (of all groups of `group` samples): from --labels, else from class folders.
std::vector<int64_t> open_labels(const DataOption& option, const samples::DataSet& data, int64_t group);

/// The same for single samples; empty where there are none.
std::vector<int64_t> labels_if_any(const DataOption& option, const samples::DataSet& data);

/// The numbers of the samples to calibrate with where others of the data set are to evaluate: as --limit says, else
/// samples::default_calibration_count().
std::vector<int64_t> samples_to_calibrate(const DataOption& option, const samples::DataSet& data);

/// The numbers of the samples to use: all, or as --limit says; whole groups of `group` samples.
std::vector<int64_t> chosen_samples(const DataOption& option, const samples::DataSet& data, int64_t group = 1);

}  // namespace tersor::cli
