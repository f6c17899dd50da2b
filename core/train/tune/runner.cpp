// SPDX-License-Identifier: Apache-2.0
// Samples through a round.
#include <algorithm>

#include "core/kernels/add_scaled.h"
#include "core/kernels/transcendental.h"
#include "core/tune/augment.h"
#include "core/tune/tuner_state.h"

namespace tersor::tune {

namespace {

/// -log of the probability of the label, mean of the rows.
double cross_entropy_of(const Tensor& logits, int64_t label) {
  const int64_t rows = logits.shape().rank() < 2 ? 1 : logits.shape()[0];
  const auto classes = static_cast<size_t>(logits.elements() / std::max<int64_t>(rows, 1));
  if (label < 0 || label >= static_cast<int64_t>(classes)) return 0;
  double sum = 0;
  for (size_t row = 0; row < static_cast<size_t>(rows); ++row) {
    const std::span<const float> one = logits.data<float>().subspan(row * classes, classes);
    const float most = *std::max_element(one.begin(), one.end());
    double all = 0;
    for (const float x : one) all += kernels::exponential(static_cast<double>(x) - static_cast<double>(most));
    sum += kernels::natural_logarithm(all) + static_cast<double>(most) -
           static_cast<double>(one[static_cast<size_t>(label)]);
  }
  return sum / static_cast<double>(rows);
}

/// The place of the largest score in each row; none where the rows are no lists of scores.
std::vector<int64_t> answers_in(const Tensor& scores) {
  const auto& dims = scores.shape().dims();
  if (scores.dtype() != DType::kFloat32 || dims.size() < 2 || scores.elements() == 0) return {};
  const int64_t classes = scores.elements() / dims[0];
  if (classes < 2 || *std::max_element(dims.begin() + 1, dims.end()) != classes) return {};
  std::vector<int64_t> answers;
  for (int64_t row = 0; row < dims[0]; ++row) {
    const auto one = scores.data<float>().subspan(static_cast<size_t>(row * classes), static_cast<size_t>(classes));
    answers.push_back(std::max_element(one.begin(), one.end()) - one.begin());
  }
  return answers;
}

}  // namespace

void TuneSums::add(TuneSums more) {
  for (LaneSums& lane : more.lanes) lanes.push_back(std::move(lane));
}

struct TuneRunner::State {
  explicit State(const Tuner::State& of) : tuner(of) {}

  run::Runner& runner(std::optional<run::Runner>& held, const std::shared_ptr<const run::Program>& program) {
    if (!held) held.emplace(program);
    return *held;
  }

  void weigh(size_t place, std::vector<Tensor> inputs, LaneSums& to) {
    const Teacher& teacher = tuner.teacher;
    // Random signs in the shape of each output.
    const std::vector<Tensor> outputs = runner(teaching, tuner.teaching).run(inputs);
    Random random(0x5eed + place);
    for (const Tensor& output : outputs) {
      std::vector<float> signs(static_cast<size_t>(output.elements()));
      for (float& sign : signs) sign = (random.next() >> 63) != 0 ? 1.0f : -1.0f;
      inputs.push_back(Tensor::of<float>(output.shape(), signs));
    }
    const std::vector<Tensor> found = runner(weighing, tuner.weighing).run(inputs);
    const auto squares = [](const Tensor& tensor) {
      double sum = 0;
      for (const float one : tensor.data<float>()) sum += static_cast<double>(one) * static_cast<double>(one);
      return sum;
    };
    const size_t points = teacher.values.size();
    to.by_point.assign(2 * points, 0);
    size_t next = points;
    for (size_t k = 0; k < points; ++k) {
      if (teacher.gradients[k].valid()) to.by_point[k] = squares(found[next++]);
      to.by_point[points + k] = squares(found[k]);
    }
  }

  void judge(std::vector<Tensor> inputs, int64_t label, LaneSums& to) {
    add_values(inputs, tuner.hard, label);
    const std::vector<Tensor> found = runner(judging, tuner.judging).run(inputs);
    if (tuner.has_labels()) to.cross_entropy += cross_entropy_of(found[0], label);
    if (tuner.are_answers) {
      const std::vector<int64_t> own = answers_in(found[0]);
      to.has_answers = !own.empty();
      const auto is_right = [&](int64_t answer) { return answer == label; };
      to.right += to.has_answers && std::all_of(own.begin(), own.end(), is_right) ? 1 : 0;
      to.same += to.has_answers && own == answers_in(found[1]) ? 1 : 0;
    }
    for (size_t k = 0; k + 1 < found.size(); k += 2) {
      double signal = 0, noise = 0;
      if (found[k].dtype() == DType::kFloat32 && found[k + 1].dtype() == DType::kFloat32 &&
          found[k].elements() == found[k + 1].elements()) {
        const auto own = found[k].data<float>(), floating = found[k + 1].data<float>();
        for (size_t e = 0; e < own.size(); ++e) {
          const double exact = floating[e], error = static_cast<double>(own[e]) - exact;
          signal += exact * exact;
          noise += error * error;
        }
      }
      to.signal.push_back(signal);
      to.noise.push_back(noise);
    }
  }

  void train(std::vector<Tensor> inputs, int64_t label, LaneSums& to) {
    add_values(inputs, tuner.soft, label);
    if (trains != tuner.training) training.reset();  // another step's
    trains = tuner.training;
    const std::vector<Tensor> found = runner(training, trains).run(inputs);
    size_t next = 0;
    for (; next < tuner.factors.size(); ++next) to.loss += static_cast<double>(found[next].data<float>()[0]);
    const bool first = to.gradients.empty();
    to.gradients.resize(tuner.offsets_of_step().back());
    size_t at = 0;
    for (; next < found.size(); ++next) {
      const std::span<const float> one = found[next].data<float>();
      if (first)
        std::copy(one.begin(), one.end(), to.gradients.begin() + static_cast<std::ptrdiff_t>(at));
      else
        kernels::add_scaled(1.0f, one.data(), one.size(), to.gradients.data() + at);
      at += one.size();
    }
  }

  void add_values(std::vector<Tensor>& inputs, const std::vector<Tensor>& values, int64_t label) const {
    inputs.insert(inputs.end(), values.begin(), values.end());
    if (tuner.has_labels()) inputs.push_back(Tensor::of<int64_t>(Shape{1}, {label}));
  }

  /// Now and then the sample is changed; one that is mixed with another of its lane has no label then.
  int64_t change(size_t place, const InputsOf& inputs_of, std::vector<Tensor>& inputs) const {
    Random random((static_cast<uint64_t>(tuner.step) << 32) + place);
    if (static_cast<double>(random.fraction()) >= tuner.augmentation()) return tuner.label_of(place);
    const bool moved = move_pictures(inputs, random);
    const std::vector<size_t>& lane = tuner.order[place % kLanes];
    const size_t other = lane[random.next() % lane.size()];
    if (other == place || (moved && random.fraction() < 0.5f)) return tuner.label_of(place);
    mix(inputs, inputs_of(other), 0.5f + 0.5f * random.fraction());
    return -1;
  }

  const Tuner::State& tuner;
  std::optional<run::Runner> training, judging, weighing, teaching;
  std::shared_ptr<const run::Program> trains;  // what `training` runs
  TuneSums sums;
};

TuneRunner::TuneRunner(const Tuner& tuner) : state_(std::make_unique<State>(*tuner.state_)) {}
TuneRunner::~TuneRunner() = default;
TuneRunner::TuneRunner(TuneRunner&&) noexcept = default;

void TuneRunner::run(const Lane& lane, const InputsOf& inputs_of) {
  using Round = Tuner::State::Round;
  LaneSums to;
  to.lane = lane.index;
  if (state_->tuner.round != Round::kWeigh) {  // it does not come again
    state_->weighing.reset();
    state_->teaching.reset();
  }
  for (const size_t place : lane.places) {
    std::vector<Tensor> inputs = inputs_of(place);
    switch (state_->tuner.round) {
      case Round::kWeigh:
        state_->weigh(place, std::move(inputs), to);
        break;
      case Round::kJudge:
        state_->judge(std::move(inputs), state_->tuner.label_of(place), to);
        break;
      case Round::kStep: {
        const int64_t label = state_->change(place, inputs_of, inputs);
        state_->train(std::move(inputs), label, to);
        break;
      }
      case Round::kDone:
        break;
    }
  }
  state_->sums.lanes.push_back(std::move(to));
}

TuneSums TuneRunner::sums() {
  return std::exchange(state_->sums, {});
}

}  // namespace tersor::tune
