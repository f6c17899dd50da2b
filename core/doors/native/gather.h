// SPDX-License-Identifier: Apache-2.0
// All that quantize() takes of samples, pass by pass.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/job/tersor.h"
#include "core/native/calibrate_data.h"
#include "core/native/train.h"
#include "core/native/workers.h"
#include "core/samples/data_set.h"

namespace tersor {

struct Gathered {
  std::shared_ptr<const Job> job;  // with what was chosen by trying
  calibrate::Statistics statistics;
  Draft draft;
  int passes = 0;  // over the samples
};

/// Refuses before the work what is known to be refused at the end: a file of which the forecast, which rather says too
/// little, is more than a tenth larger than the float one. Error kUnsupportedModel.
void check_expected_size(const Job& job);

/// Calibrates on the chosen samples of a data set, tries, measures (measure.h) and trains (train.h). `job` as prepare()
/// made it.
Gathered gather(const std::shared_ptr<const Job>& job, const samples::DataSet& data, const std::vector<int64_t>& chosen,
                const Workforce& workforce, const TrainingRun& training = {});

/// Statistics of one shard, for a file: of a whole data set with what was tried and measured, of a part without, which
/// takes all samples.
calibrate::Statistics calibrate_shard(const std::shared_ptr<const Job>& job, const samples::DataSet& data,
                                      const std::vector<int64_t>& chosen, const Shard& shard,
                                      const Workforce& workforce);

/// The same as gather() from statistics, on whose samples the rest is tried and measured; `data` null: what they hold
/// has to do.
Gathered gather(const std::shared_ptr<const Job>& job, calibrate::Statistics statistics, const samples::DataSet* data,
                const Workforce& workforce, const TrainingRun& training = {});

}  // namespace tersor
