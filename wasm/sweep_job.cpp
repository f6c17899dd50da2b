// SPDX-License-Identifier: Apache-2.0
#include "wasm/sweep_job.h"

#include <algorithm>
#include <array>
#include <string>

#include "core/base/byte_stream.h"
#include "core/sweep/sweep_bytes.h"

namespace tersor::wasm {

namespace {

ptq::SweepSums sums_of(std::span<const std::byte> bytes) {
  ByteReader reader(bytes);
  return ptq::get_sweep_sums(reader);
}

ptq::SweepOutcome outcome_of(std::span<const std::byte> bytes) {
  ByteReader reader(bytes);
  return ptq::get_sweep_outcome(reader);
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
    ByteBuffer sums = ptq::to_bytes(first_->sums());
    first_.reset();
    return sums;
  }
  sweep_->take(step - 1, outcome_of(before));
  ptq::SweepRunner runner(*sweep_, step, sweep_->program(step));
  for (auto& [place, state] : states_) runner.advance(place, state);
  return ptq::to_bytes(runner.sums());
}

ByteBuffer SweepJob::merge(size_t step, std::span<const samples::Bytes> parts) const {
  ptq::SweepSums all;
  for (const samples::Bytes& part : parts) all.add(sums_of(part.view));
  return ptq::to_bytes(sweep_->outcome(step, all));
}

ByteBuffer SweepJob::finish(std::span<const samples::Bytes> outcomes) {
  std::vector<ptq::SweepOutcome> all;
  for (const samples::Bytes& one : outcomes) all.push_back(outcome_of(one.view));
  keep_outcomes(*job_, *sweep_, std::move(all), draft_, statistics_);
  return calibrate::write(statistics_);
}

}  // namespace tersor::wasm
