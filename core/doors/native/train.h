// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "core/base/byte_buffer.h"
#include "core/native/drive.h"
#include "core/rounds/gathering.h"
#include "core/tune/tuner.h"

namespace tersor {

/// How training goes, beside what the settings say. What is not given does nothing.
struct TrainingRun {
  std::optional<double> minutes;                // that it may take; else as many epochs as the settings say
  std::span<const std::byte> resume = {};       // bytes of a checkpoint to go on from, which has its own epochs
  std::vector<int64_t> labels = {};             // of all samples of the data set, for label_weight; or none
  std::function<void(const ByteBuffer&)> keep;  // takes a checkpoint, every 30 seconds and at the end
  std::function<void(const tune::TuneProgress&, int64_t batch)> watch;  // after each round
  std::function<void(const tune::Tuner&, int threads)> begin;           // before the first round
  std::function<bool()> stops;  // asked after each round: true ends it with the best so far
};

/// Takes the training of a gathering, its current pass, through its rounds. Error kOutOfMemory if one thread needs more
/// memory than the machine has; fewer threads are used if all together do. Error kCancelled if the listener wants to
/// stop.
void train(Gathering& gathering, SampleInputs& inputs, const TrainingRun& run, const ProgressFunction& progress);

}  // namespace tersor
