// SPDX-License-Identifier: Apache-2.0
#include "core/rounds/training_rounds.h"

#include <numeric>
#include <utility>

#include "core/base/json.h"

namespace tersor {

TrainingRounds::TrainingRounds(std::unique_ptr<tune::Tuner> tuner, const Gathered& gathered)
    : tuner_(std::move(tuner)),
      batch_size_(gathered.job->settings.config.gradient_ptq_config->batch_size),
      places_(gathered.statistics.samples.size()),
      bytes_(tuner_->bytes_per_runner()) {
  std::iota(places_.begin(), places_.end(), size_t{0});
}

std::vector<std::vector<size_t>> TrainingRounds::lists() const {
  std::vector<std::vector<size_t>> lists;
  for (const tune::Lane& lane : tuner_->lanes()) lists.push_back(lane.places);
  return lists;
}

/// Its tuner's runner serves the next rounds too.
class TrainingRounds::Runner : public RoundRunner {
 public:
  explicit Runner(TrainingRounds& of) : of_(of) {
    if (of.idle_.empty()) of.idle_.push_back(std::make_unique<tune::TuneRunner>(*of.tuner_));
    runner_ = std::move(of.idle_.back());
    of.idle_.pop_back();
  }
  ~Runner() override { of_.idle_.push_back(std::move(runner_)); }
  void run(size_t list, const InputsOf& inputs_of) override { runner_->run(of_.tuner_->lanes()[list], inputs_of); }
  ByteBuffer sums() override { return to_bytes(runner_->sums()); }

 private:
  TrainingRounds& of_;
  std::unique_ptr<tune::TuneRunner> runner_;
};

std::unique_ptr<RoundRunner> TrainingRounds::runner() {
  return std::make_unique<Runner>(*this);
}

void TrainingRounds::keep(Gathered& gathered) {
  keep_tuned(tuner_->result(), gathered.draft, gathered.statistics);
  gathered.job = with_training(gathered.job, gathered.statistics.tuned);
}

Json TrainingRounds::progress() const {
  if (!work_) work_ = tuner_->work_of_mean_step();
  Json now = to_json(tuner_->progress());
  now["batch_size"] = batch_size_;
  now["steps_per_epoch"] = tuner_->steps_per_epoch();
  now["work_of_mean_step"] = *work_;
  now["bytes_per_worker"] = bytes_ == 0 ? Json(nullptr) : Json(bytes_);
  return now;
}

std::unique_ptr<Rounds> training_rounds(const Gathered& gathered, const std::vector<int64_t>& labels) {
  auto tuner = tuner_of(*gathered.job, gathered.draft, gathered.statistics, labels);
  return tuner ? std::make_unique<TrainingRounds>(std::move(tuner), gathered) : nullptr;
}

int epochs_of_checkpoint(std::span<const std::byte> bytes) {
  return tune::epochs_of_checkpoint(bytes);
}

}  // namespace tersor
