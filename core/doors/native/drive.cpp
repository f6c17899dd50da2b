// SPDX-License-Identifier: Apache-2.0
#include "core/native/drive.h"

#include <algorithm>

#include "core/samples/sample_digest.h"

namespace tersor {

namespace {

constexpr int64_t kMostBytes = int64_t{1} << 30;  // of samples that are kept for later rounds

using Bytes = std::span<const std::byte>;

/// The lists of samples of this round that a process runs.
std::vector<size_t> lists_of(size_t lists, const Shard& shard) {
  std::vector<size_t> own;
  for (size_t k = static_cast<size_t>(shard.number - 1); k < lists; k += static_cast<size_t>(shard.count))
    own.push_back(k);
  return own;
}

ByteBuffer joined(const Rounds& pass, const auto& parts) {
  return pass.joined(std::vector<Bytes>(parts.begin(), parts.end()));
}

ByteBuffer sums_of_round(Rounds& pass, SampleInputs& inputs, const std::vector<size_t>& own, int threads,
                         StageCount* progress) {
  const int used = static_cast<int>(std::clamp<size_t>(own.size(), 1, static_cast<size_t>(threads)));
  std::vector<std::unique_ptr<RoundRunner>> runners;
  for (int k = 0; k < used; ++k) runners.push_back(pass.runner());
  const bool again = pass.asks_again();
  fan_out(used, static_cast<int64_t>(own.size()), [&](int thread, int64_t item) {
    runners[static_cast<size_t>(thread)]->run(
        own[static_cast<size_t>(item)], [&](size_t sample) { return inputs.at(thread, pass.places()[sample], again); });
    if (progress != nullptr) progress->step();
  });
  std::vector<ByteBuffer> parts;
  for (auto& runner : runners) {
    parts.push_back(runner->sums());
    runner = nullptr;
  }
  return parts.size() == 1 ? std::move(parts[0]) : joined(pass, parts);
}

void take_with(Rounds& pass, size_t step, Bytes own, const SweepPartners& partners) {
  if (const auto known = partners.known(step); !known.empty()) return pass.take(known);
  const auto parts = partners.exchange(step, own);
  if (parts.empty()) return pass.take(partners.known(step));
  const ByteBuffer outcome = pass.outcome(joined(pass, parts));
  partners.settle(step, outcome);
  pass.take(outcome);
}

}  // namespace

SampleInputs::SampleInputs(const samples::DataSet& data, const KeptSamples* kept,
                           const calibrate::Statistics& statistics, int threads)
    : data_(data), kept_(kept), records_(statistics.samples), again_(records_.size()), room_(kMostBytes) {
  const std::shared_ptr<const samples::DataSet> shared(std::shared_ptr<const void>(), &data);
  for (int k = 0; k < threads; ++k) readers_.emplace_back(shared);
}

std::vector<Tensor> SampleInputs::at(int thread, size_t place, bool again) {
  if (!again) return load(thread, records_[place]);
  if (!again_[place].empty()) return again_[place];
  std::vector<Tensor> inputs = load(thread, records_[place]);
  int64_t bytes = 0;
  for (const Tensor& input : inputs) bytes += static_cast<int64_t>(input.byte_count());
  if (room_.fetch_sub(bytes) >= bytes) again_[place] = inputs;
  return inputs;
}

std::vector<Tensor> SampleInputs::load(int thread, const calibrate::SampleRecord& record) {
  const auto index = static_cast<int64_t>(record.index);
  samples::SampleReader& reader = readers_[static_cast<size_t>(thread)];
  if (kept_ != nullptr) {
    std::vector<Tensor> at_hand = kept_->look_at(index);
    return at_hand.empty() ? reader.load(index) : at_hand;
  }
  if (index < data_.size()) {
    std::vector<Tensor> inputs = reader.load(index);
    if (samples::sample_digest(inputs) == record.digest) return inputs;
  }
  throw Error(ErrorCode::kMismatch,
              "Sample " + std::to_string(record.index) + " of the data set is not the one the statistics were made of.",
              index < data_.size() ? data_.place(index) : "samples",
              "Give the samples that were calibrated on, or calibrate again.");
}

void run_round(Rounds& pass, SampleInputs& inputs, int threads, StageCount* progress) {
  pass.take(pass.outcome(sums_of_round(pass, inputs, lists_of(pass.lists().size(), {}), threads, progress)));
}

void drive(Rounds& pass, SampleInputs& inputs, const ProgressFunction& progress, const SweepPartners* partners) {
  std::optional<StageCount> count;
  for (size_t step = 0; !pass.done(); ++step) {
    const auto own = lists_of(pass.lists().size(), partners != nullptr ? partners->shard : Shard{});
    // Rounds of an unknown number are counted one by one.
    if (!count || !pass.count())
      count.emplace(progress, std::string(pass.stage()), static_cast<int64_t>(own.size() * pass.count().value_or(1)));
    const ByteBuffer sums = sums_of_round(pass, inputs, own, inputs.threads(), &*count);
    if (partners != nullptr)
      take_with(pass, step, sums, *partners);
    else
      pass.take(pass.outcome(sums));
  }
}

}  // namespace tersor
