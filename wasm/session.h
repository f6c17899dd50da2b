// SPDX-License-Identifier: Apache-2.0
// What one worker holds: open models, data sets and running jobs, by keys that the page's side chooses. Coarse calls;
// structures cross as JSON, bytes as Uint8Array.
#pragma once

#include <emscripten/val.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/json_fwd.h"
#include "core/base/progress.h"
#include "core/job/tersor.h"
#include "core/report/coverage.h"
#include "core/report/range_choices.h"
#include "core/run/program.h"
#include "core/samples/data_set.h"
#include "core/trial/take_samples.h"
#include "core/trial/try_preprocessings.h"
#include "wasm/gather_job.h"
#include "wasm/sample_job.h"

namespace tersor::wasm {

class Session {
 public:
  /// The table's first file is the model, the others are what it may name for its weights. JSON of the model's
  /// information.
  std::string open_model(const std::string& key, const emscripten::val& table);
  /// Lets go of a model, data set or job; nothing happens where there is none of that key.
  void close(const std::string& key);

  /// JSON of read_settings_file(), see core/job/json_settings.h; `model`: whose first input counts; empty: none.
  std::string read_settings_file(const std::string& text, const std::string& name, const std::string& model);

  /// The model made ready with these settings, {platform, config, overrides}, for calls that ask something of it.
  std::shared_ptr<const Job> prepared(const std::string& model, const std::string& settings);

  std::shared_ptr<const OpenedModel> opened(const std::string& model) { return this->model(model).opened; }
  /// Keeps a model that is already read.
  void keep_model(const std::string& key, OpenedModel opened);
  /// What `settings` and a .tstats file come to; of an empty file there are no samples.
  struct Calibrated {
    std::shared_ptr<const Job> job;  // with what the statistics hold of trials and training
    calibrate::Statistics statistics;
    std::optional<config::Recipe> recipe;  // of the settings
  };
  Calibrated calibrated(const std::string& model, const Json& settings, const emscripten::val& statistics);

  /// `settings`: {platform, config}. JSON of report::Coverage.
  std::string coverage(const std::string& model, const std::string& settings);

  /// JSON of report::GraphView.
  std::string graph(const std::string& model, const std::string& settings);
  /// JSON list of report::RuntimeNode; of `settings` the platform's prices count.
  std::string runtime_nodes(const std::string& model, const std::string& settings);
  /// JSON of report::WeightChannels, of the operator of that name.
  std::string weight_channels(const std::string& model, const std::string& settings, const std::string& name);
  /// Keeps what a tensor's range is chosen from under `key`. `question`: {tensor, method, n_bits, is_signed}. JSON list
  /// of report::RangeChoice.
  std::string open_range(const std::string& key, const std::string& model, const std::string& settings,
                         const emscripten::val& statistics, const std::string& question);
  /// JSON of report::RangeFigures.
  std::string range_figures(const std::string& key, double low, double high) const;

  /// The layers that number `which` of the given overrides chooses in the prepared model: {info, values}, info
  /// being JSON of {name, type, activation, outputs, weights: [{name, shape}]} each, values all weights' as float32.
  emscripten::val layers(const std::string& model, const std::string& settings, size_t which);

  /// `preprocessing`: JSON, a preset's name, or empty for a guess. JSON {count, classes, remarks}.
  std::string open_data(const std::string& key, const std::string& model, const emscripten::val& table,
                        const std::string& preprocessing);
  /// Error where a file cannot be a sample, or where there is none.
  void check_data(const std::string& data) const;
  std::string inspect_data(const std::string& data) const;
  emscripten::val preview(const std::string& data, int64_t sample) const;
  emscripten::val preview_tensors(const std::string& model, const emscripten::val& sample);

  /// JSON list of numbers: the label of every sample, label_offset included.
  std::string labels_of_folders(const std::string& data) const;
  std::string labels_of_file(const std::string& data, const emscripten::val& table, int64_t group) const;

  /// `kind` is calibrate, evaluate or compare; see sample_job.h for their settings. Or it is run, for run_loaded().
  void begin_job(const std::string& key, const std::string& kind, const std::string& settings);
  /// The sample for the next add_sample(). What its digest is taken of, as a Uint8Array on the core's own memory, which
  /// the next call may move; null where the job wants none.
  emscripten::val load_sample(const std::string& job, const emscripten::val& sample);
  void add_sample(const std::string& job);
  /// What the model of a job of kind run makes of the sample that was loaded: {info, values}, info being JSON {inputs,
  /// outputs}, lists of {name, type, shape}; values the bytes of all of them, in that order.
  emscripten::val run_loaded(const std::string& job);
  /// `digest`: 32 bytes, of the sample that was added last.
  void note_digest(const std::string& job, const emscripten::val& digest);
  /// This worker's part, for merge_job() of another.
  emscripten::val finish_job(const std::string& job);
  /// What the job came to, with the others' parts: bytes or a text, as SampleJob::merge() gives them. `extra`:
  /// statistics for a comparison, or null.
  emscripten::val merge_job(const std::string& job, const emscripten::val& parts, const emscripten::val& extra);

  /// The passes that settings and statistics ask for, as a job of that key: JSON of GatherJob::plan(). `settings` are
  /// as of a calibration, with {labels, trains}. Samples are added with add_sample().
  std::string begin_sweep(const std::string& key, const std::string& settings, const emscripten::val& statistics);
  emscripten::val sweep_step(const std::string& key, const emscripten::val& before);
  emscripten::val merge_sweep_step(const std::string& key, const emscripten::val& parts);
  /// After the last step of a pass: JSON of the plan of the next one.
  std::string next_sweep(const std::string& key);
  emscripten::val finish_sweep(const std::string& key);
  /// Ends the sweep early where it can.
  void stop_sweep(const std::string& key);
  /// JSON, null where there is nothing to watch.
  std::string sweep_progress(const std::string& key);
  /// Where the sweep stands, for resume_sweep() of another of the same; empty where it cannot be gone on with.
  emscripten::val sweep_checkpoint(const std::string& key);
  void resume_sweep(const std::string& key, const emscripten::val& checkpoint);

  /// The model as a single file, without weights beside it: a Uint8Array.
  emscripten::val float_file(const std::string& model);
  /// `settings`: {platform, config, overrides, recipe, allow_mismatch}. {model, recipe, report}.
  emscripten::val quantize(const std::string& model, const std::string& settings, const emscripten::val& statistics,
                           const ProgressFunction& progress);

 private:
  struct OpenModel {
    std::shared_ptr<const OpenedModel> opened;
    std::string name;  // of the file
    // The last float line made ready, with the settings it was made for.
    std::string job_key;
    std::shared_ptr<const Job> job;
  };

  struct RunningJob {
    std::shared_ptr<const samples::DataSet> data;  // null: tensors are given
    std::optional<samples::SampleReader> reader;
    std::vector<samples::InputSpec> inputs;
    std::unique_ptr<SampleJob> job;
    std::unique_ptr<GatherJob> gather;
    std::unique_ptr<run::Runner> runner;  // one of the three
    std::shared_ptr<const Model> model;   // that the runner runs
    std::optional<JobSample> loaded;      // the next to be added
  };

  RunningJob& running(const std::string& key);
  OpenModel& model(const std::string& key);
  const std::shared_ptr<const samples::DataSet>& data(const std::string& key) const;
  std::shared_ptr<const Job> job_of(OpenModel& model, Settings settings);

  std::map<std::string, OpenModel> models_;
  std::map<std::string, std::shared_ptr<const samples::DataSet>> data_;
  std::map<std::string, PreprocessingTrial> trials_;  // of data sets that were read as their labels say
  std::map<std::string, RunningJob> jobs_;
  std::map<std::string, report::ActivationRange> ranges_;
};

/// The one of this worker.
Session& session();

}  // namespace tersor::wasm
