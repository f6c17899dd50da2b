// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/job/tersor.h"
#include "core/native/kept_samples.h"
#include "core/native/workers.h"
#include "core/samples/data_set.h"

namespace tersor {

/// What the model's inputs take, in graph order.
std::vector<samples::InputSpec> input_specs(const Graph& graph);

/// One of several parts of the samples, each for a process of its own.
struct Shard {
  int64_t number = 1;  // 1 ... count
  int64_t count = 1;
};

/// Calibrates on the chosen samples of a data set, those of the shard only. `kept` takes the inputs. Error
/// kOutOfMemory where this machine's memory is less than one thread takes; fewer threads than there are work where not
/// all fit, which the note of a progress says.
calibrate::Statistics calibrate_data(const Job& job, const samples::DataSet& data, const std::vector<int64_t>& chosen,
                                     const Shard& shard, const Workforce& workforce, KeptSamples& kept);

}  // namespace tersor
