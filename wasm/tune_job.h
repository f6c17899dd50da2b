// SPDX-License-Identifier: Apache-2.0
// One worker's part of a training (core/tune/tuner.h): it has the samples of some lanes and takes them through each
// round; what the lanes add up to crosses as bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/job/tersor.h"
#include "wasm/step_job.h"

namespace tersor::wasm {

/// n_epochs of the training that the checkpoint is of. The light engine is not asked for that either.
int epochs_of_checkpoint(std::span<const std::byte> bytes);

/// `labels`: of the samples by their numbers in the data set, or none. The light engine has none to give
/// (without_training.cpp) and is not asked.
std::unique_ptr<StepJob> make_tune_job(const std::shared_ptr<const Job>& job, calibrate::Statistics statistics,
                                       const std::vector<int64_t>& labels);

}  // namespace tersor::wasm
