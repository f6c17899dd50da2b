// SPDX-License-Identifier: Apache-2.0
// What settings take from the samples, before a job is prepared: the same in every door, for the same bytes.
#pragma once

#include <memory>

#include "core/calibrate/statistics.h"
#include "core/job/job.h"
#include "core/samples/data_set.h"

namespace tersor {

/// The preprocessing of the samples ("null" where they are no pictures), and the branches of Ifs that all of them take.
void take_samples(const Model& model, const std::shared_ptr<const samples::DataSet>& data, Settings& settings);
/// The same from the statistics of samples.
void take_samples(const std::shared_ptr<const OpenedModel>& opened, const calibrate::Statistics& statistics,
                  Settings& settings);

}  // namespace tersor
