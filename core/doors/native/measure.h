// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "core/calibrate/statistics.h"
#include "core/job/tersor.h"
#include "core/native/calibrate_data.h"
#include "core/native/kept_samples.h"
#include "core/native/workers.h"
#include "core/samples/data_set.h"

namespace tersor {

/// The inputs of a calibrated sample: `at_hand` where that is not empty, else as `reader` gives them. Error kMismatch
/// where the data set is not the process's own (`is_own`) and has another sample in its place.
std::vector<Tensor> load_recorded(samples::SampleReader& reader, const samples::DataSet& data,
                                  const calibrate::SampleRecord& record, bool is_own, std::vector<Tensor> at_hand);

/// Room for the samples of a calibration that measure() follows; for none where nothing will be measured.
KeptSamples room_for_samples(const Job& job, const samples::DataSet& data);

/// Tries on samples held aside which corrections gain (core/trial/trial.h), where the settings ask for it and nobody
/// has tried yet, and adds what was chosen to the statistics. The job with these choices. The other arguments as of
/// measure().
std::shared_ptr<const Job> choose(const std::shared_ptr<const Job>& job, const samples::DataSet& data,
                                  const KeptSamples* kept, const Workforce& workforce,
                                  calibrate::Statistics& statistics);

/// What processes that share a measurement have of each other. Bytes are those of core/sweep/sweep_bytes.h.
struct SweepPartners {
  Shard shard;
  /// What the step came to, where it is known already; empty elsewhere.
  std::function<std::vector<std::byte>(size_t step)> known;
  /// Gives this process's sums of the step to all, and waits for those of every process, its own among them. None where
  /// the others did without, and what the step came to is known.
  std::function<std::vector<std::vector<std::byte>>(size_t step, std::span<const std::byte> own)> exchange;
  /// Makes known what the step came to.
  std::function<void(size_t step, std::span<const std::byte> outcome)> settle;
};

/// Adds to the statistics what effort and measured bias correction need, where the settings ask for them
/// (core/sweep/sweep.h); `decided` is their draft, before and afterwards. `data` is the data set that was calibrated
/// on. `kept`: what this process kept of the samples when it did so itself; null where the statistics are from a file,
/// and every sample is checked. Error kMismatch when it is another one. False where nothing asked for it, and no sample
/// was run. `partners`: other processes take other samples; each gets the same statistics, whatever their number.
bool measure(const Job& job, Draft& decided, const samples::DataSet& data, KeptSamples* kept,
             const Workforce& workforce, calibrate::Statistics& statistics, const SweepPartners* partners = nullptr);

}  // namespace tersor
