// SPDX-License-Identifier: Apache-2.0
#include "wasm/sweep_job.h"

#include <algorithm>
#include <cstring>

namespace tersor::wasm {

namespace {

using Words = std::array<uint64_t, calibrate::ExactSum::kWords>;

std::vector<std::byte> to_bytes(const ptq::ChannelSums& sums) {
  std::vector<std::byte> bytes(sizeof sums.elements + sums.sums.size() * sizeof(Words));
  std::memcpy(bytes.data(), &sums.elements, sizeof sums.elements);
  for (size_t c = 0; c < sums.sums.size(); ++c)
    std::memcpy(bytes.data() + sizeof sums.elements + c * sizeof(Words), sums.sums[c].words().data(), sizeof(Words));
  return bytes;
}

ptq::ChannelSums from_bytes(std::span<const std::byte> bytes) {
  ptq::ChannelSums sums;
  TERSOR_CHECK(bytes.size() >= sizeof sums.elements && (bytes.size() - sizeof sums.elements) % sizeof(Words) == 0);
  std::memcpy(&sums.elements, bytes.data(), sizeof sums.elements);
  for (size_t at = sizeof sums.elements; at < bytes.size(); at += sizeof(Words)) {
    Words words;
    std::memcpy(words.data(), bytes.data() + at, sizeof words);
    sums.sums.emplace_back(words);
  }
  return sums;
}

}  // namespace

SweepJob::SweepJob(std::shared_ptr<const Job> job, calibrate::Statistics statistics)
    : statistics_(std::move(statistics)), draft_(draft(*job, statistics_)), sweep_(bias_sweep(*job, draft_)) {}

std::vector<int64_t> SweepJob::samples() const {
  std::vector<int64_t> numbers;
  for (const size_t place : sweep_samples(*sweep_, statistics_))
    numbers.push_back(static_cast<int64_t>(statistics_.samples[place].index));
  return numbers;
}

std::vector<std::byte> SweepJob::advance(size_t step, const std::vector<double>& shifts) {
  run::Runner runner(sweep_->program(step));
  ptq::ChannelSums sums;
  for (ptq::SweepState& state : states_) sweep_->advance(step, runner, state, shifts, sums);
  return to_bytes(sums);
}

std::vector<double> SweepJob::merge(size_t step, const std::vector<std::vector<std::byte>>& parts) const {
  ptq::ChannelSums all;
  for (const auto& part : parts) all.add(from_bytes(part));
  return sweep_->shifts(step, all);
}

std::vector<std::byte> SweepJob::finish(const std::vector<std::vector<double>>& shifts) {
  TERSOR_CHECK(shifts.size() == steps());
  statistics_.measured = {draft_.digest, {}};
  for (size_t step = 0; step < steps(); ++step)
    statistics_.measured.outputs.push_back({sweep_->output(step), shifts[step]});
  return calibrate::write(statistics_);
}

}  // namespace tersor::wasm
