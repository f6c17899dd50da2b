// SPDX-License-Identifier: Apache-2.0
#include "wasm/trial_job.h"

#include <algorithm>

#include "core/base/byte_stream.h"
#include "core/sweep/sweep_bytes.h"

namespace tersor::wasm {

namespace {

void put(ByteWriter& writer, const std::optional<calibrate::Statistics>& statistics) {
  const ByteBuffer packed = statistics ? calibrate::pack(*statistics) : ByteBuffer{};
  writer.put_all(std::span<const std::byte>(packed));
}

std::optional<calibrate::Statistics> get_statistics(ByteReader& reader) {
  const std::vector<std::byte> packed = reader.get_all<std::byte>();
  if (packed.empty()) return std::nullopt;
  return calibrate::unpack(packed);
}

void put(ByteWriter& writer, const std::vector<HeldError>& errors) {
  writer.put(static_cast<uint64_t>(errors.size()));
  for (const HeldError& one : errors) {
    writer.put(static_cast<uint64_t>(one.sample));
    writer.put_all(std::span<const double>(one.signal));
    writer.put_all(std::span<const double>(one.noise));
  }
}

std::vector<HeldError> get_errors(ByteReader& reader) {
  std::vector<HeldError> errors(static_cast<size_t>(reader.get<uint64_t>()));
  for (HeldError& one : errors) {
    one.sample = static_cast<size_t>(reader.get<uint64_t>());
    one.signal = reader.get_all<double>();
    one.noise = reader.get_all<double>();
  }
  return errors;
}

void put(ByteWriter& writer, const std::vector<SampleDistances>& distances) {
  writer.put(static_cast<uint64_t>(distances.size()));
  for (const SampleDistances& one : distances) {
    writer.put(static_cast<uint64_t>(one.sample));
    writer.put_all(std::span<const double>(one.distances));
  }
}

std::vector<SampleDistances> get_distances(ByteReader& reader) {
  std::vector<SampleDistances> distances(static_cast<size_t>(reader.get<uint64_t>()));
  for (SampleDistances& one : distances) {
    one.sample = static_cast<size_t>(reader.get<uint64_t>());
    one.distances = reader.get_all<double>();
  }
  return distances;
}

ByteBuffer to_bytes(const TrialSums& sums) {
  ByteWriter writer;
  put(writer, sums.statistics);
  put(writer, sums.errors);
  put(writer, sums.distances);
  ptq::put(writer, sums.sweep);
  return writer.take();
}

TrialSums sums_of(std::span<const std::byte> bytes) {
  ByteReader reader(bytes);
  TrialSums sums;
  sums.statistics = get_statistics(reader);
  sums.errors = get_errors(reader);
  sums.distances = get_distances(reader);
  sums.sweep = ptq::get_sweep_sums(reader);
  return sums;
}

ByteBuffer to_bytes(const TrialOutcome& outcome) {
  ByteWriter writer;
  put(writer, outcome.statistics);
  put(writer, outcome.errors);
  put(writer, outcome.distances);
  writer.put(outcome.sweep.has_value());
  if (outcome.sweep) ptq::put(writer, *outcome.sweep);
  return writer.take();
}

TrialOutcome outcome_of(std::span<const std::byte> bytes) {
  ByteReader reader(bytes);
  TrialOutcome outcome;
  outcome.statistics = get_statistics(reader);
  outcome.errors = get_errors(reader);
  outcome.distances = get_distances(reader);
  if (reader.get<bool>()) outcome.sweep = ptq::get_sweep_outcome(reader);
  return outcome;
}

}  // namespace

TrialJob::TrialJob(std::shared_ptr<const Job> job, calibrate::Statistics statistics)
    : statistics_(std::move(statistics)) {
  if (!Trial::is_wanted(*job, statistics_)) return;
  trial_.emplace(std::move(job), statistics_);
  for (const size_t place : trial_->places())
    samples_.push_back(static_cast<int64_t>(statistics_.samples[place].index));
  std::sort(samples_.begin(), samples_.end());
}

void TrialJob::add(int64_t number, std::span<const Tensor> inputs) {
  const auto& places = trial_->places();
  const auto found = std::find_if(places.begin(), places.end(), [&](size_t place) {
    return static_cast<int64_t>(statistics_.samples[place].index) == number;
  });
  TERSOR_CHECK(found != places.end());
  states_[static_cast<size_t>(found - places.begin())].inputs.assign(inputs.begin(), inputs.end());
}

ByteBuffer TrialJob::advance(size_t step, std::span<const std::byte> before) {
  if (step > 0) trial_->take(outcome_of(before));
  if (trial_->done()) return {};
  TrialRunner runner(*trial_);
  for (const size_t sample : trial_->active())
    if (const auto mine = states_.find(sample); mine != states_.end()) runner.advance(sample, mine->second);
  return to_bytes(runner.sums());
}

ByteBuffer TrialJob::merge(size_t, std::span<const samples::Bytes> parts) const {
  TrialSums all;
  for (const samples::Bytes& part : parts) all.add(sums_of(part.view));
  return to_bytes(trial_->outcome(std::move(all)));
}

ByteBuffer TrialJob::finish(std::span<const samples::Bytes>) {
  statistics_.choices = trial_->choices();
  return calibrate::write(statistics_);
}

}  // namespace tersor::wasm
