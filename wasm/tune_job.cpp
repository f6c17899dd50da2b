// SPDX-License-Identifier: Apache-2.0
#include "wasm/tune_job.h"

#include <algorithm>

#include "core/base/byte_stream.h"
#include "core/base/json.h"

namespace tersor::wasm {

namespace {

ByteBuffer to_bytes(const tune::TuneSums& sums) {
  ByteWriter writer;
  writer.put(static_cast<uint64_t>(sums.lanes.size()));
  for (const tune::LaneSums& lane : sums.lanes) {
    writer.put(static_cast<uint64_t>(lane.lane));
    writer.put(lane.loss);
    writer.put_all(std::span<const float>(lane.gradients));
    for (const auto* numbers : {&lane.by_point, &lane.signal, &lane.noise})
      writer.put_all(std::span<const double>(*numbers));
  }
  return writer.take();
}

tune::TuneSums sums_of(std::span<const std::byte> bytes) {
  ByteReader reader(bytes);
  tune::TuneSums sums;
  sums.lanes.resize(static_cast<size_t>(reader.get<uint64_t>()));
  for (tune::LaneSums& lane : sums.lanes) {
    lane.lane = static_cast<size_t>(reader.get<uint64_t>());
    lane.loss = reader.get<double>();
    lane.gradients = reader.get_all<float>();
    for (auto* numbers : {&lane.by_point, &lane.signal, &lane.noise}) *numbers = reader.get_all<double>();
  }
  return sums;
}

}  // namespace

TuneJob::TuneJob(const std::shared_ptr<const Job>& job, calibrate::Statistics statistics)
    : job_(with_choices(job, statistics.choices)), statistics_(std::move(statistics)) {
  if (!job_->settings.config.gradient_ptq_config) return;
  draft_ = draft(*job_, statistics_);
  tuner_ = tuner_of(*job_, draft_, statistics_);
  for (const calibrate::SampleRecord& sample : statistics_.samples)
    samples_.push_back(static_cast<int64_t>(sample.index));
}

void TuneJob::add(int64_t number, std::span<const Tensor> inputs) {
  const auto found = std::find(samples_.begin(), samples_.end(), number);
  TERSOR_CHECK(found != samples_.end());
  inputs_[static_cast<size_t>(found - samples_.begin())].assign(inputs.begin(), inputs.end());
}

ByteBuffer TuneJob::advance(size_t step, std::span<const std::byte> before) {
  if (step > 0) tuner_->take(sums_of(before));
  if (tuner_->done()) return {};
  if (!runner_) runner_.emplace(*tuner_);
  for (const tune::Lane& lane : tuner_->lanes()) {
    const auto mine = [&](size_t place) { return inputs_.count(place) != 0; };
    const auto count = std::count_if(lane.places.begin(), lane.places.end(), mine);
    if (count == 0) continue;
    TERSOR_CHECK(count == static_cast<std::ptrdiff_t>(lane.places.size()));
    runner_->run(lane, [&](size_t place) { return inputs_.at(place); });
  }
  return to_bytes(runner_->sums());
}

ByteBuffer TuneJob::merge(size_t, std::span<const samples::Bytes> parts) const {
  tune::TuneSums all;
  for (const samples::Bytes& part : parts) all.add(sums_of(part.view));
  return to_bytes(all);
}

ByteBuffer TuneJob::finish(std::span<const samples::Bytes> outcomes) {
  // The loop ends where as many rounds were run as were announced, before the last was taken.
  if (!tuner_->done() && !outcomes.empty()) tuner_->take(sums_of(outcomes.back().view));
  keep_tuned(tuner_->result(), draft_, statistics_);
  return calibrate::write(statistics_);
}

Json TuneJob::progress() const {
  const tune::TuneProgress now = tuner_->progress();
  return {{"step", now.step},           {"steps", now.steps},     {"loss", now.loss},
          {"before_db", now.before_db}, {"best_db", now.best_db}, {"steps_per_epoch", tuner_->steps_per_epoch()}};
}

}  // namespace tersor::wasm
