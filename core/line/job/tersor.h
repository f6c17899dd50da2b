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
#include "core/job/job.h"
#include "core/decide/corrected_model.h"
#include "core/decide/plan.h"
#include "core/sweep/sweep.h"
#include "core/tune/tuner.h"

namespace tersor {

/// A file larger than the float one is refused: that is of 64 kB or more, and nobody asked for it or for float weights.
bool refuses_growth(const Job& job);
/// The refusal, which says what takes the bytes.
Error growth_error(const std::string& what);

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
/// label_weight above 0; without them what was trained on any labels will do. Else they are watched on the samples held
/// aside. Error kUnsupportedModel where nothing can
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
