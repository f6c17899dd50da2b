// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/native/calibrate_data.h"
#include "core/native/kept_samples.h"
#include "core/native/stage_count.h"
#include "core/native/workers.h"
#include "core/rounds/rounds.h"
#include "core/samples/data_set.h"

namespace tersor {

/// What processes that share a sweep have of each other. Bytes are those of Rounds.
struct SweepPartners {
  Shard shard;
  /// The outcome of the step if it is known already; else empty.
  std::function<std::vector<std::byte>(size_t step)> known;
  /// Gives this process's sums of the step to all, and waits for those of every process, its own among them. Returns
  /// none if the others did without and the outcome is known.
  std::function<std::vector<std::vector<std::byte>>(size_t step, std::span<const std::byte> own)> exchange;
  /// Makes the outcome of the step known.
  std::function<void(size_t step, std::span<const std::byte> outcome)> settle;
};

/// The inputs of calibrated samples, for passes over them.
class SampleInputs {
 public:
  /// `kept`: samples that this process kept when it calibrated on them itself; null if the statistics are from a file,
  /// and every sample is checked. All must outlive this.
  SampleInputs(const samples::DataSet& data, const KeptSamples* kept, const calibrate::Statistics& statistics,
               int threads);

  int threads() const { return static_cast<int>(readers_.size()); }
  /// The sample at this index of the calibrated samples. `again`: it is kept, if there is room. Threads may ask at the
  /// same time, each for other samples. Error kMismatch if the data set has another sample in its place.
  std::vector<Tensor> at(int thread, size_t place, bool again);

 private:
  std::vector<Tensor> load(int thread, const calibrate::SampleRecord& record);

  const samples::DataSet& data_;
  const KeptSamples* kept_;
  std::vector<calibrate::SampleRecord> records_;
  std::vector<samples::SampleReader> readers_;
  std::vector<std::vector<Tensor>> again_;
  std::atomic<int64_t> room_;
};

/// Takes a pass through one round, on at most so many threads. `progress`: counts lists of samples; may be null.
void run_round(Rounds& pass, SampleInputs& inputs, int threads, StageCount* progress = nullptr);

/// Takes a pass through all its rounds. `partners`: other processes run other samples of it; each comes to the same.
void drive(Rounds& pass, SampleInputs& inputs, const ProgressFunction& progress,
           const SweepPartners* partners = nullptr);

}  // namespace tersor
