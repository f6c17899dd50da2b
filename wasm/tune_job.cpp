// SPDX-License-Identifier: Apache-2.0
#include "wasm/tune_job.h"

#include <algorithm>
#include <map>
#include <optional>
#include <span>

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
    writer.put(lane.cross_entropy);
    writer.put(lane.has_answers);
    writer.put(lane.right);
    writer.put(lane.same);
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
    lane.cross_entropy = reader.get<double>();
    lane.has_answers = reader.get<bool>();
    lane.right = reader.get<int64_t>();
    lane.same = reader.get<int64_t>();
    lane.gradients = reader.get_all<float>();
    for (auto* numbers : {&lane.by_point, &lane.signal, &lane.noise}) *numbers = reader.get_all<double>();
  }
  return sums;
}

class TuneJob : public StepJob {
 public:
  TuneJob(const std::shared_ptr<const Job>& job, calibrate::Statistics statistics, const std::vector<int64_t>& labels);

  bool needed() const override { return tuner_ != nullptr; }
  std::optional<size_t> steps() const override { return static_cast<size_t>(tuner_->rounds()); }
  const std::vector<int64_t>& samples() const override { return samples_; }
  std::optional<size_t> lanes() const override { return tune::kLanes; }
  void add(int64_t number, std::span<const Tensor> inputs) override;
  ByteBuffer advance(size_t step, std::span<const std::byte> before) override;
  ByteBuffer merge(size_t step, std::span<const samples::Bytes> parts) const override;
  ByteBuffer finish(std::span<const samples::Bytes> outcomes) override;
  void stop() override { tuner_->stop(); }
  ByteBuffer checkpoint() const override { return tuner_->checkpoint(); }
  void restore(std::span<const std::byte> bytes) override { tuner_->restore(bytes); }
  Json progress() const override;

 private:
  std::shared_ptr<const Job> job_;
  calibrate::Statistics statistics_;
  Draft draft_;
  std::unique_ptr<tune::Tuner> tuner_;
  std::optional<tune::TuneRunner> runner_;
  int64_t bytes_ = 0;                             // that it takes at most
  mutable std::optional<double> work_;            // Tuner::work_of_mean_step, in the worker that is asked
  std::vector<int64_t> samples_;                  // by place
  std::map<size_t, std::vector<Tensor>> inputs_;  // of this worker's, by place
};

TuneJob::TuneJob(const std::shared_ptr<const Job>& job, calibrate::Statistics statistics,
                 const std::vector<int64_t>& labels)
    : job_(with_choices(job, statistics.choices)), statistics_(std::move(statistics)) {
  if (!job_->settings.config.gradient_ptq_config) return;
  draft_ = draft(*job_, statistics_);
  std::vector<int64_t> chosen;
  for (const calibrate::SampleRecord& sample : statistics_.samples)
    if (sample.index < labels.size()) chosen.push_back(labels[static_cast<size_t>(sample.index)]);
  tuner_ = tuner_of(*job_, draft_, statistics_, chosen);
  if (tuner_) bytes_ = tuner_->bytes_per_runner();
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
  if (!work_) work_ = tuner_->work_of_mean_step();
  return {{"step", now.step},
          {"steps", now.steps},
          {"loss", now.loss},
          {"before_db", now.before_db},
          {"best_db", now.best_db},
          {"last_db", now.last_db},
          {"before_right", to_json(now.before_right)},
          {"best_right", to_json(now.best_right)},
          {"last_right", to_json(now.last_right)},
          {"before_same", to_json(now.before_same)},
          {"last_same", to_json(now.last_same)},
          {"held", now.held},
          {"batch_size", job_->settings.config.gradient_ptq_config->batch_size},
          {"steps_per_epoch", tuner_->steps_per_epoch()},
          {"work_of_mean_step", *work_},
          {"bytes_per_worker", bytes_ == 0 ? Json(nullptr) : Json(bytes_)}};
}

}  // namespace

int epochs_of_checkpoint(std::span<const std::byte> bytes) {
  return tune::epochs_of_checkpoint(bytes);
}

std::unique_ptr<StepJob> make_tune_job(const std::shared_ptr<const Job>& job, calibrate::Statistics statistics,
                                       const std::vector<int64_t>& labels) {
  return std::make_unique<TuneJob>(job, std::move(statistics), labels);
}

}  // namespace tersor::wasm
