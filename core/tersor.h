// SPDX-License-Identifier: Apache-2.0
// The line as functions, all that a caller needs:
//
//   auto model = std::make_shared<const OpenedModel>(open_model(source));
//   auto job = prepare(model, settings);                       // which tensors to watch, with what settings
//   calibrate::Calibrator calibrator = calibrator_of(*job, size);  // one per thread or worker
//   for (each of its samples) calibrator.add({index, digest}, place, inputs);
//   calibrate::merge(statistics, calibrator.statistics());     // of all threads, in any order
//   if (auto swept = sweep(*job, draft))                       // rounds weights, corrects biases: see ptq/sweep.h
//     keep_outcomes(*job, *swept, outcomes, draft, statistics);
//   if (auto tuner = tuner_of(*job, draft, statistics))        // trains weights and biases: see tune/tuner.h
//     keep_tuned(tuner->result(), draft, statistics);
//   QuantizeResult result = quantize(*job, statistics);        // model bytes, recipe, plan
//
// Same model, settings and samples give the same bytes, whatever the number of threads and the machine.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/calibrate/calibrator.h"
#include "core/calibrate/statistics.h"
#include "core/config/quantization_config.h"
#include "core/config/recipe.h"
#include "core/framework/attach.h"
#include "core/onnx/source.h"
#include "core/passes/pipeline.h"
#include "core/ptq/choose_arithmetic.h"
#include "core/ptq/corrected_model.h"
#include "core/ptq/placement.h"
#include "core/ptq/plan.h"
#include "core/ptq/sweep.h"
#include "core/tune/tuner.h"
#include "core/tpc/target_platform_capabilities.h"

namespace tersor {

/// The version of this program, as in "0.1.0".
std::string_view tool_version();

/// A model file as read, with the digest of its bytes (and of the weights it keeps in files of their own).
struct OpenedModel {
  Model model;
  std::string digest;
  std::string file_sha256;  // of the file alone
  uint64_t file_bytes = 0;  // with those weights
};

OpenedModel open_model(Model model, std::span<const std::byte> file);
/// Reads and checks an ONNX file. Errors of onnx::read.
OpenedModel open_model(const onnx::Source& source, const onnx::ExternalData& external = {});

/// What a person chose.
struct Settings {
  tpc::TargetPlatformCapabilities platform;
  config::QuantizationConfig config;
  std::vector<config::Override> overrides = {};  // for single nodes
  /// JSON text of the fields of FrameworkInfo that replace the defaults; empty: none.
  std::string framework_info = {};
  /// Classes of QuantizeConfigs that overrides may name; null: the built-in ones.
  std::shared_ptr<const framework::QuantizeScope> quantize_scope = nullptr;
  /// JSON text of the preprocessing that the samples go through; "null" when they are taken as they are.
  std::string preprocessing = "null";
  /// The statistics are for this job alone, neither kept nor reported: what its settings do not read is not gathered.
  bool own_statistics_only = false;
  /// Names of constants that stay in float where the platform would store them in integers.
  std::vector<std::string> float_constants = {};
  /// What a search chose for each operator; empty: every operator has the platform's base configuration.
  calibrate::BitConfiguration bits = {};
};

struct BodyJob;  // private to core/tersor.cpp

/// A float model made ready for calibration and quantization. Immutable, may be shared between threads.
struct Job {
  std::shared_ptr<const OpenedModel> opened;
  Settings settings;
  Model model;  // prepared: raised to operator set 13, folded
  std::vector<passes::PassResult> passes;
  framework::Attachment attachment;
  ptq::ArithmeticChoice arithmetic;  // what stays in float because of time
  ptq::Placement placement;
  std::vector<calibrate::Request> requests;  // the tensors to watch
  config::RecipePlatform platform;           // with the digest of its table
  calibrate::Provenance provenance;
  std::vector<Diagnostic> notes;                // remarks for a person, of platform and settings
  std::shared_ptr<const run::Program> program;  // runs the float model and shows what is watched
  /// The weights that bodies of If, Loop and Scan read, as kernels of a model of their own; null where there are none,
  /// and where activations are quantized.
  std::shared_ptr<const BodyJob> bodies = nullptr;
  /// What a person asked for, where `settings` are what trying on samples held aside has made of that; else null.
  std::shared_ptr<const Job> asked = nullptr;
  std::shared_ptr<quant::RangeMemo> ranges = nullptr;  // of all drafts, while several are made; else null
};

/// Runs the passes, lays the platform on the graph and decides where quantizers stand. Error kUnsupportedModel when the
/// model is quantized already, is float16, holds operators that cannot be run, or has nothing to quantize;
/// kInvalidConfig for settings that the platform does not allow or that do not act yet.
std::shared_ptr<const Job> prepare(std::shared_ptr<const OpenedModel> opened, Settings settings);

/// The same job for samples that go through another preprocessing, which nothing else of it depends on.
std::shared_ptr<const Job> with_preprocessing(const Job& job, const std::string& preprocessing);

/// The job with what was found by trying (core/trial.h) in its settings; the job itself where the statistics hold no
/// choices that were made for these settings.
std::shared_ptr<const Job> with_choices(const std::shared_ptr<const Job>& job, const calibrate::Choices& choices);

/// SHA-256 of all that choices depend on beside the samples.
std::string choices_key(const Job& job);

/// The model is a file that this program wrote.
bool is_written_here(const Model& model);

/// Error kUnsupportedModel when the model is quantized already or holds float16 weights.
void check_quantizable(const Model& model);

/// A calibrator for one thread's part of the samples, of a data set of that many.
calibrate::Calibrator calibrator_of(const Job& job, uint64_t data_set_size);

/// Statistics of no sample, to merge others into.
calibrate::Statistics empty_statistics(const Job& job);

/// Bytes that calibration takes in one thread or worker, one sample at a time: constants as they are stored and as the
/// engine holds them, buffers of the run, statistics. None where the buffers cannot be known before the samples.
std::optional<int64_t> calibration_bytes(const Job& job);

/// What statistics alone decide.
struct Draft : ptq::CorrectedModel {
  ptq::QuantizationPlan plan = {};
  std::string digest = {};      // SHA-256 of the plan
  std::string unrounded = {};   // SHA-256 of the plan before weights were rounded by effort 1 or 2
  bool lacks_rounding = false;  // effort asks for rounded weights, and the statistics hold none for this plan
};

/// Chooses parameters. Error kMismatch when the statistics belong to another model or other settings; kInvalidSamples
/// when they hold no sample.
Draft draft(const Job& job, const calibrate::Statistics& statistics);

/// The sweep over the samples that effort and measured bias correction need; none when the settings ask for neither,
/// when there is nothing to round or correct, or when the statistics hold what such a sweep came to for the same plan.
/// `options` say how many samples it may take; what it is for follows from the settings.
std::unique_ptr<ptq::Sweep> sweep(const Job& job, const Draft& draft, ptq::SweepOptions options = {});

/// Puts what each step of the sweep came to into the statistics and, but for the biases, into the draft.
void keep_outcomes(const Job& job, const ptq::Sweep& sweep, std::vector<ptq::SweepOutcome> outcomes, Draft& draft,
                   calibrate::Statistics& statistics);

/// The training that gradient_ptq_config asks for; null where it does not, and where the statistics hold what such a
/// training came to for the same plan. To be called after the sweep. `labels`: of the statistics' samples, for a
/// label_weight above 0; without them what was trained on any labels will do. Error kUnsupportedModel where nothing can
/// be trained, kInvalidLabels where labels are wanted and there is not one for each sample.
std::unique_ptr<tune::Tuner> tuner_of(const Job& job, const Draft& draft, const calibrate::Statistics& statistics,
                                      const std::vector<int64_t>& labels = {});

/// Puts what training came to into the statistics and the draft.
void keep_tuned(calibrate::TunedModel tuned, Draft& draft, calibrate::Statistics& statistics);

/// Where training was stopped, the job whose gradient_ptq_config says after how many steps, so that its recipe gives
/// the same file again; else the job itself.
std::shared_ptr<const Job> with_training(const std::shared_ptr<const Job>& job, const calibrate::TunedModel& tuned);

/// The draft's plan with the biases that were measured for it, what was trained, and what else was measured.
ptq::QuantizationPlan corrected_plan(const Job& job, const Draft& draft, const calibrate::MeasuredShifts& measured);

struct QuantizeResult {
  std::vector<std::byte> bytes;  // the ONNX file
  config::Recipe recipe;
  Draft draft;                 // what was decided before biases were corrected
  ptq::QuantizationPlan plan;  // with corrected biases
  Model model;                 // what the bytes hold
};

/// Chooses parameters from the statistics, carries them out, checks the result and writes it. Errors of draft();
/// kInvalidConfig when the settings ask for what has to be measured on the samples and the statistics do not hold it;
/// kUnsupportedModel for a file that is larger than a float one of 64 kB or more, unless allow_larger_file is set.
QuantizeResult quantize(const Job& job, const calibrate::Statistics& statistics);
/// The same for a caller that has the draft of these statistics already (what was measured may have been added since).
QuantizeResult quantize(const Job& job, const calibrate::Statistics& statistics, Draft decided);

/// The recipe of a job and the samples it was calibrated with.
config::Recipe recipe_of(const Job& job, const calibrate::Statistics& statistics);

}  // namespace tersor
