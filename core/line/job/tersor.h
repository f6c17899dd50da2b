// SPDX-License-Identifier: Apache-2.0
// The whole way from a model to its quantized file, as functions:
//
//   auto model = std::make_shared<const OpenedModel>(open_model(source));
//   auto job = prepare(model, settings);                       // which tensors to observe, with what settings
//   calibrate::Calibrator calibrator = calibrator_of(*job, size);  // one per thread or worker
//   for (each of its samples) calibrator.add({index, digest}, place, inputs);
//   calibrate::merge(statistics, calibrator.statistics());     // of all threads, in any order
//   if (auto swept = sweep(*job, draft))                       // rounds weights, corrects biases: see sweep/sweep.h
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
#include "core/decide/corrected_model.h"
#include "core/decide/plan.h"
#include "core/job/job.h"
#include "core/sweep/sweep.h"
#include "core/tune/tuner.h"

namespace tersor {

/// True if a file larger than the float file is an error: the float file has at least 64 kB, and the settings do not
/// have allow_larger_file, float weights or overrides.
bool refuses_growth(const Job& job);
/// The error for a file that is too large; `what` says what takes the bytes.
Error growth_error(const std::string& what);

/// A calibrator for the samples of a thread, from a data set of `data_set_size` samples.
calibrate::Calibrator calibrator_of(const Job& job, uint64_t data_set_size);

/// Statistics of no samples, to merge others into.
calibrate::Statistics empty_statistics(const Job& job);

/// Bytes of memory that calibration needs per thread or worker, for one sample at a time: constants as stored and as
/// the engine holds them, buffers of the run, and statistics. Absent if the buffers' sizes depend on the samples.
std::optional<int64_t> calibration_bytes(const Job& job);

/// What follows from the statistics alone.
struct Draft : ptq::CorrectedModel {
  ptq::QuantizationPlan plan = {};
  std::string digest = {};      // SHA-256 of the plan
  std::string unrounded = {};   // SHA-256 of the plan before weights were rounded by effort 1 or 2
  bool lacks_rounding = false;  // effort asks for rounded weights, but the statistics have none for this plan
};

/// Chooses all parameters. Error kMismatch if the statistics belong to another model or other settings; kInvalidSamples
/// if they hold no sample.
Draft draft(const Job& job, const calibrate::Statistics& statistics);

/// The sweep over the samples that effort and measured bias correction need. Returns null if the settings ask for
/// neither or if there is nothing to round or correct. Also returns null if the statistics hold the results of such a
/// sweep for the same plan. `options` limit the samples; the settings decide the rest.
std::unique_ptr<ptq::Sweep> sweep(const Job& job, const Draft& draft, ptq::SweepOptions options = {});

/// Stores the results of the sweep's steps in the statistics and, except for the biases, in the draft.
void keep_outcomes(const Job& job, const ptq::Sweep& sweep, std::vector<ptq::SweepOutcome> outcomes, Draft& draft,
                   calibrate::Statistics& statistics);

/// The training that gradient_ptq_config asks for; call it after the sweep. Returns null if it is not asked for, or if
/// the statistics hold the result of such a training for the same plan.
///
/// `labels` are those of the statistics' samples. A label_weight above 0 needs them; without labels, a result trained
/// on any labels is accepted. With label_weight 0 they are only evaluated, on the samples held out. Error
/// kUnsupportedModel if nothing can be trained; kInvalidLabels if labels are needed and a sample has none.
std::unique_ptr<tune::Tuner> tuner_of(const Job& job, const Draft& draft, const calibrate::Statistics& statistics,
                                      const std::vector<int64_t>& labels = {});

/// Stores the result of training in the statistics and the draft.
void keep_tuned(calibrate::TunedModel tuned, Draft& draft, calibrate::Statistics& statistics);

/// If training was stopped early, the job whose gradient_ptq_config has the number of steps taken, so that its recipe
/// reproduces the file; else the job itself.
std::shared_ptr<const Job> with_training(const std::shared_ptr<const Job>& job, const calibrate::TunedModel& tuned);

/// The draft's plan with the measured biases, the trained parameters, and the other measurements.
ptq::QuantizationPlan corrected_plan(const Job& job, const Draft& draft, const calibrate::MeasuredShifts& measured);

/// A quantized file, and the plan and recipe that produced it.
struct QuantizeResult {
  std::vector<std::byte> bytes;  // the file, in the format of the settings
  config::Recipe recipe;
  Draft draft;                            // the parameters before biases were corrected
  ptq::QuantizationPlan plan;             // with corrected biases
  Model model;                            // the model that the bytes hold, with QuantizeLinear and DequantizeLinear
  std::optional<TfliteFile> tflite = {};  // of such a file, its bytes aside
};

/// Chooses parameters from the statistics, applies them, checks the result and writes it. Errors as in draft(). Error
/// kUnsupportedModel for a file larger than the float file, if refuses_growth(). What would be measured on the samples
/// once more and is not in the statistics is left out, as the recipe says: weights are rounded to nearest (effort 0),
/// biases are corrected from the statistics (ANALYTIC), second moments are not.
QuantizeResult quantize(const Job& job, const calibrate::Statistics& statistics);
/// The same for a caller that already has the draft of these statistics; measurements may have been added since. Error
/// kInvalidConfig if the settings ask for measurements on the samples that the statistics do not hold.
QuantizeResult quantize(const Job& job, const calibrate::Statistics& statistics, Draft decided);

/// The recipe of a job and of the samples that it was calibrated with.
config::Recipe recipe_of(const Job& job, const calibrate::Statistics& statistics);

}  // namespace tersor
