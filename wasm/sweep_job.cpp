// SPDX-License-Identifier: Apache-2.0
#include "wasm/sweep_job.h"

#include <algorithm>
#include <array>
#include <string>

#include "core/base/byte_stream.h"
#include "wasm/sweep_bytes.h"

namespace tersor::wasm {

namespace {

void put(ByteWriter& writer, const ptq::ChannelSums& channels) {
  writer.put(channels.elements);
  std::vector<uint64_t> words;
  for (size_t k = 0; k < channels.sums.size(); ++k) {
    const calibrate::ExactSum sum = channels.sums.sum(k);
    words.insert(words.end(), sum.words().begin(), sum.words().end());
  }
  writer.put_all(std::span<const uint64_t>(words));
}

ptq::ChannelSums get_channels(ByteReader& reader) {
  ptq::ChannelSums channels;
  channels.elements = reader.get<uint64_t>();
  const std::vector<uint64_t> words = reader.get_all<uint64_t>();
  std::array<uint64_t, calibrate::ExactSum::kWords> one;
  TERSOR_CHECK(words.size() % one.size() == 0);
  channels.sums = calibrate::ExactSums(words.size() / one.size());
  for (size_t k = 0; k < channels.sums.size(); ++k) {
    std::copy_n(words.begin() + static_cast<std::ptrdiff_t>(k * one.size()), one.size(), one.begin());
    channels.sums.add(k, calibrate::ExactSum(one));
  }
  return channels;
}

}  // namespace

void put(ByteWriter& writer, const ptq::SweepSums& sums) {
  for (const auto& half : sums.inputs.words) writer.put_all(std::span<const int64_t>(half));
  put(writer, sums.outputs);
  put(writer, sums.in_float);
}

ptq::SweepSums get_sweep_sums(ByteReader& reader) {
  ptq::SweepSums sums;
  for (auto& half : sums.inputs.words) half = reader.get_all<int64_t>();
  sums.outputs = get_channels(reader);
  sums.in_float = get_channels(reader);
  return sums;
}

void put(ByteWriter& writer, const ptq::SweepOutcome& outcome) {
  writer.put_all(std::span<const double>(outcome.shifts));
  writer.put(outcome.weight.has_value());
  if (!outcome.weight) return;
  writer.put_all(std::span<const char>(outcome.weight->name));
  writer.put_all(std::span<const float>(outcome.weight->scales));
  writer.put_all(std::span<const int8_t>(outcome.weight->codes));
  writer.put(outcome.weight->noise_ratio);
}

ptq::SweepOutcome get_sweep_outcome(ByteReader& reader) {
  ptq::SweepOutcome outcome;
  outcome.shifts = reader.get_all<double>();
  if (!reader.get<bool>()) return outcome;
  const std::vector<char> name = reader.get_all<char>();
  outcome.weight = calibrate::RoundedWeight{std::string(name.begin(), name.end()), {}, {}, 1};
  outcome.weight->scales = reader.get_all<float>();
  outcome.weight->codes = reader.get_all<int8_t>();
  outcome.weight->noise_ratio = reader.get<double>();
  return outcome;
}

namespace {

template <class T>
ByteBuffer to_bytes(const T& value) {
  ByteWriter writer;
  tersor::wasm::put(writer, value);
  return writer.take();
}

ptq::SweepSums sums_of(std::span<const std::byte> bytes) {
  ByteReader reader(bytes);
  return get_sweep_sums(reader);
}

ptq::SweepOutcome outcome_of(std::span<const std::byte> bytes) {
  ByteReader reader(bytes);
  return get_sweep_outcome(reader);
}

}  // namespace

SweepJob::SweepJob(const std::shared_ptr<const Job>& job, calibrate::Statistics statistics)
    : job_(with_choices(job, statistics.choices)),
      statistics_(std::move(statistics)),
      draft_(draft(*job_, statistics_)),
      sweep_(sweep(*job_, draft_)) {
  if (!sweep_) return;
  for (const size_t place : sweep_->places())
    samples_.push_back(static_cast<int64_t>(statistics_.samples[place].index));
}

void SweepJob::add(int64_t number, std::span<const Tensor> inputs) {
  const auto found = std::find(samples_.begin(), samples_.end(), number);
  TERSOR_CHECK(found != samples_.end());
  if (!start_) start_.emplace(*sweep_, sweep_->float_program());
  if (!first_) first_.emplace(*sweep_, 0, sweep_->program(0));
  auto& [place, state] = states_.emplace_back(found - samples_.begin(), (*start_)(inputs));
  // Most inputs are needed in the first step alone, which leaves them as integers.
  first_->advance(place, state);
}

ByteBuffer SweepJob::advance(size_t step, std::span<const std::byte> before) {
  start_.reset();
  if (step == 0) {
    if (!first_) first_.emplace(*sweep_, 0, sweep_->program(0));
    ByteBuffer sums = to_bytes(first_->sums());
    first_.reset();
    return sums;
  }
  sweep_->take(step - 1, outcome_of(before));
  ptq::SweepRunner runner(*sweep_, step, sweep_->program(step));
  for (auto& [place, state] : states_) runner.advance(place, state);
  return to_bytes(runner.sums());
}

ByteBuffer SweepJob::merge(size_t step, std::span<const samples::Bytes> parts) const {
  ptq::SweepSums all;
  for (const samples::Bytes& part : parts) all.add(sums_of(part.view));
  return to_bytes(sweep_->outcome(step, all));
}

ByteBuffer SweepJob::finish(std::span<const samples::Bytes> outcomes) {
  std::vector<ptq::SweepOutcome> all;
  for (const samples::Bytes& one : outcomes) all.push_back(outcome_of(one.view));
  keep_outcomes(*job_, *sweep_, std::move(all), draft_, statistics_);
  return calibrate::write(statistics_);
}

}  // namespace tersor::wasm
