// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "core/job/tersor.h"
#include "core/native/calibrate_data.h"
#include "core/native/drive.h"
#include "core/native/train.h"
#include "core/native/workers.h"
#include "core/rounds/gathering.h"
#include "core/samples/data_set.h"

namespace tersor {

/// Refuses before the work what is known to be refused at the end: a file of which the forecast, which rather says too
/// little, is more than a tenth larger than the float one. Error kUnsupportedModel.
void check_expected_size(const Job& job);

/// Calibrates on the chosen samples of a data set, and takes the passes that the settings ask for (rounds/gathering.h).
/// `job` is as prepare() made it.
Gathered gather(const std::shared_ptr<const Job>& job, const samples::DataSet& data, const std::vector<int64_t>& chosen,
                const Workforce& workforce, const TrainingRun& training = {});

/// The statistics of a shard, for a file: those of a whole data set with the results of the passes after calibration, a
/// part's without, because these take all samples.
calibrate::Statistics calibrate_shard(const std::shared_ptr<const Job>& job, const samples::DataSet& data,
                                      const std::vector<int64_t>& chosen, const Shard& shard,
                                      const Workforce& workforce);

/// The same from statistics, whose samples the passes take. If `data` is null, what the statistics hold must do.
Gathered gather(const std::shared_ptr<const Job>& job, calibrate::Statistics statistics, const samples::DataSet* data,
                const Workforce& workforce, const TrainingRun& training = {});

/// Takes the passes over the samples of a data set. `kept` is as of SampleInputs. `partners`: gives the processes that
/// share the sweep, once the plan is known; empty: none do.
void take_passes(Gathering& gathering, const samples::DataSet& data, const KeptSamples* kept,
                 const Workforce& workforce, const TrainingRun& training = {},
                 const std::function<SweepPartners(const Gathered&)>& partners = {});

/// Room for the samples of a calibration that passes follow; for none if the settings ask for no pass.
KeptSamples room_for_samples(const Job& job, const samples::DataSet& data);

}  // namespace tersor
