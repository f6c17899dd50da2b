// SPDX-License-Identifier: Apache-2.0
// One worker's part of the passes over calibrated samples (core/rounds/gathering.h). Each worker has the whole
// gathering and a part of the samples; sums and outcomes cross as bytes, and all workers take the same outcomes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <vector>

#include "core/base/json.h"
#include "core/rounds/gathering.h"
#include "core/samples/source.h"

namespace tersor::wasm {

class GatherJob {
 public:
  GatherJob(std::shared_ptr<const Job> job, calibrate::Statistics statistics, Gathering::Options options);

  /// JSON of SweepPlan (protocol.ts) of the current pass; null if there is none.
  Json plan();
  Rounds& pass();
  /// Adds a sample by its number in the data set.
  void add(int64_t number, std::span<const Tensor> inputs);
  /// Takes the outcome of the round before, if there was one, and runs the next round. Returns the sums of this
  /// worker's samples; nothing if the pass is done.
  ByteBuffer advance(std::span<const std::byte> before);
  /// The outcome of a round, from the sums of all workers.
  ByteBuffer merge(std::span<const samples::Bytes> sums);
  /// Keeps the result of the pass, which is done, and begins the next one.
  void next();
  /// The .tstats file with the results of the passes so far.
  ByteBuffer finish() const { return calibrate::write(gathering_.gathered().statistics); }

 private:
  void begin_pass();
  void run(size_t list);

  Gathering gathering_;
  std::map<int64_t, size_t> samples_;             // indices into the pass's places, by number
  std::map<size_t, size_t> first_;                // lists of the first round, by sample
  std::set<size_t> own_;                          // this worker's samples
  std::map<size_t, std::vector<Tensor>> inputs_;  // of those that are still to be asked for
  std::unique_ptr<RoundRunner> runner_;           // of this round
  std::set<size_t> done_;                         // lists of the first round that were run as their samples came
};

}  // namespace tersor::wasm
