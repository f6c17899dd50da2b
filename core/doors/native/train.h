// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/base/byte_buffer.h"
#include "core/job/tersor.h"
#include "core/native/kept_samples.h"
#include "core/native/workers.h"
#include "core/samples/data_set.h"

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

/// Trains where the settings ask for it (core/tune) and adds what it came to to statistics and draft. The job with the
/// number of epochs and steps that were taken, so that its recipe gives the same file again. The other arguments as of
/// measure(). Errors of tuner_of(); kOutOfMemory where one thread takes more memory than the machine has, and fewer
/// threads where it has not for all; kCancelled where the workforce's listener wants to stop.
std::shared_ptr<const Job> train(std::shared_ptr<const Job> job, Draft& decided, const samples::DataSet& data,
                                 const KeptSamples* kept, const TrainingRun& run, const Workforce& workforce,
                                 calibrate::Statistics& statistics);

}  // namespace tersor
