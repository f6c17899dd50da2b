// SPDX-License-Identifier: Apache-2.0
#include "core/tune/tuner.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/base/byte_stream.h"
#include "core/base/error.h"
#include "core/kernels/add_scaled.h"
#include "core/passes/edit.h"
#include "core/quant/error_functions.h"
#include "core/quant/quantizer.h"
#include "core/run/program.h"
#include "core/tensor/rounding.h"
#include "core/trainable/annealing.h"
#include "core/trainable/layer_weights.h"
#include "core/trainable/quantization_wrapper.h"
#include "core/trainable/trainable_quantizers.h"
#include "core/tune/optimizer.h"
#include "core/tune/student.h"

namespace tersor::tune {

namespace {

constexpr size_t kWeighed = 32;     // samples that points are weighed on, as MCT has it
constexpr int64_t kJudgements = 8;  // along the way
constexpr size_t kLeastHeld = 8, kMostHeld = 64;
constexpr float kFirstStep = 0.3f;  // how far from its rounding, in steps, a weight starts towards its float value

/// Numbers without a pattern: SplitMix64 (Steele et al. 2014).
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }

 private:
  uint64_t state_;
};

int64_t judged_every(int64_t steps) {
  return std::max<int64_t>(1, steps / kJudgements);
}

/// A kernel's weight in training.
struct TrainedWeight {
  std::unique_ptr<trainable::BaseTrainableQuantizer> quantizer;
  quant::QuantizationParams params;
  std::vector<float> units;   // by weight: its step, which STE moves it in parts of
  std::vector<float> latent;  // what is quantized; STE trains it
  std::vector<int8_t> codes;  // at the start
};

double decibels(const std::vector<double>& signal, const std::vector<double>& noise) {
  constexpr double kMost = 200;
  double sum = 0;
  for (size_t k = 0; k < signal.size(); ++k)
    sum += noise[k] <= 0 || signal[k] <= 0 ? kMost : std::min(kMost, quant::decibels(signal[k], noise[k]));
  return signal.empty() ? 0 : sum / static_cast<double>(signal.size());
}

/// The scale of each weight, in the order of its elements.
std::vector<float> scales_by_element(const quant::QuantizationParams& params, const Shape& shape) {
  std::vector<float> scales(static_cast<size_t>(shape.elements()), params.scale[0]);
  if (!params.channel_axis) return scales;
  const int64_t inner = shape.elements(*params.channel_axis + 1, shape.rank()), channels = shape[*params.channel_axis];
  for (size_t k = 0; k < scales.size(); ++k)
    scales[k] = params.scale[static_cast<size_t>(static_cast<int64_t>(k) / inner % channels)];
  return scales;
}

}  // namespace

std::vector<size_t> held_places(size_t samples) {
  std::vector<size_t> held;
  if (samples < 2 * kLeastHeld) return held;
  const size_t count = std::clamp(samples / 8, kLeastHeld, kMostHeld), every = samples / count;
  for (size_t k = every - 1; held.size() < count; k += every) held.push_back(k);
  return held;
}

void TuneSums::add(TuneSums more) {
  for (LaneSums& lane : more.lanes) lanes.push_back(std::move(lane));
}

struct Tuner::State {
  enum class Round { kWeigh, kJudge, kStep, kDone };

  /// What a judgement found best.
  struct Best {
    std::vector<calibrate::RoundedWeight> weights;
    std::vector<calibrate::MeasuredShift> biases;
    std::vector<calibrate::TunedActivation> activations;
  };

  void restore(std::span<const std::byte> bytes);

  explicit State(const Problem& problem)
      : config(problem.config),
        key(problem.key),
        input_shapes(problem.input_shapes),
        student(
            make_student(problem.model, problem.plan, {config.train_bias, config.train_ranges}, problem.input_shapes)),
        teacher(make_teacher(problem.model, problem.plan, problem.input_shapes)) {
    split(problem.samples);
    for (const TrainedInput& one : student.trained) start(one, problem.plan);
    offsets.push_back(0);
    for (const TrainedInput& one : student.trained)
      offsets.push_back(offsets.back() + (one.gradient.valid() ? static_cast<size_t>(one.start.elements()) : 0));
    compile();
    steps_per_epoch = static_cast<int64_t>((trained_on.size() + batch_size() - 1) / batch_size());
    steps = steps_per_epoch * config.n_epochs;
    factors.assign(student.points.size(), 0);
    begin_weighing();
  }

  size_t batch_size() const { return static_cast<size_t>(config.batch_size); }
  int64_t last_step() const { return std::min(steps, config.most_steps.value_or(steps)); }
  double rate_of_weights() const {
    constexpr double kOfRoundings = 0.1, kOfWeights = 0.001;
    return config.learning_rate.value_or(trains_roundings() ? kOfRoundings : kOfWeights);
  }
  bool trains_roundings() const { return config.rounding_type == config::RoundingType::kSoftQuantizer; }

  void split(size_t samples) {
    if (samples < 2 * kLeastHeld)
      throw Error(ErrorCode::kInvalidSamples,
                  "Training needs at least " + std::to_string(2 * kLeastHeld) + " samples, and there are " +
                      std::to_string(samples) + ".",
                  "samples", "Give some hundred samples: with fewer, training learns those by heart.");
    held = held_places(samples);
    for (size_t k = 0; k < samples; ++k)
      if (!std::binary_search(held.begin(), held.end(), k)) trained_on.push_back(k);
  }

  void start(const TrainedInput& one, const ptq::QuantizationPlan& plan) {
    const std::span<const float> values = one.start.data<float>();
    if (one.kind == TrainedInput::Kind::kWeight) {
      const ptq::KernelPlan& kernel = plan.kernels[one.index];
      TrainedWeight weight;
      weight.params = kernel.weight;
      weight.units = scales_by_element(weight.params, one.start.shape());
      const Tensor codes = kernel.codes.empty() ? quant::quantize(one.start, kernel.weight)
                                                : Tensor::of<int8_t>(one.start.shape(), kernel.codes);
      const Tensor rounded = quant::dequantize(codes, kernel.weight);
      weight.latent.resize(values.size());
      for (size_t k = 0; k < values.size(); ++k) {
        const float rest = (values[k] - rounded.data<float>()[k]) / weight.units[k];
        weight.latent[k] = rounded.data<float>()[k] + weight.units[k] * std::clamp(rest, -kFirstStep, kFirstStep);
      }
      weight.quantizer =
          quantizers.make(trainable::weights_config_of(weight.params, std::numeric_limits<double>::min()),
                          trains_roundings() ? "SOFT" : "STE", true);
      weight.quantizer->initialize_quantization(weight.latent, one.start.shape().dims(), one.name);
      weights.push_back(std::move(weight));
      values_of.emplace_back();
      adam.emplace_back(values.size());
      sgd.emplace_back();
      return;
    }
    weights.emplace_back();
    values_of.emplace_back(values.begin(), values.end());
    adam.emplace_back(one.kind == TrainedInput::Kind::kScale ? values.size() : 0);
    sgd.emplace_back(one.kind == TrainedInput::Kind::kBias ? values.size() : 0);
    if (one.kind == TrainedInput::Kind::kScale) {
      const ptq::ActivationPlan& activation = plan.activations[one.index];
      grids.push_back({one.name, activation.params});
    }
  }

  void compile() {
    run::ProgramOptions options;
    for (const Point& point : student.points) options.fetched.push_back(point.loss);
    for (const TrainedInput& one : student.trained)
      if (one.gradient.valid()) options.fetched.push_back(one.gradient);
    training = run::Program::compile(student.model, gradient::operators(), options);
    options.fetched.clear();
    for (const auto& [own, floating] : student.outputs)
      options.fetched.push_back(own), options.fetched.push_back(floating);
    judging = run::Program::compile(student.model, gradient::operators(), options);
    options.fetched = teacher.values;
    for (const ValueId gradient : teacher.gradients)
      if (gradient.valid()) options.fetched.push_back(gradient);
    weighing = run::Program::compile(teacher.model, gradient::operators(), options);
    run::ProgramOptions outputs;
    outputs.fetched = teacher.outputs;
    teaching = run::Program::compile(teacher.forward, gradient::operators(), outputs);
  }

  // Rounds.

  void one_lane_each(const std::vector<size_t>& places) {
    lanes.clear();
    for (const size_t place : places) lanes.push_back({lanes.size(), {place}});
  }
  void begin_weighing() {
    round = Round::kWeigh;
    one_lane_each(
        {trained_on.begin(), trained_on.begin() + static_cast<std::ptrdiff_t>(std::min(kWeighed, trained_on.size()))});
  }
  void begin_judging() {
    round = Round::kJudge;
    hard = values_now(false);
    one_lane_each(held);
  }
  /// Lane k has the samples at places k, k + kLanes, ...: who has those only can run it whole.
  void begin_step() {
    round = Round::kStep;
    soft = values_now(true);
    const int64_t epoch = step / steps_per_epoch, at = step % steps_per_epoch;
    if (epoch != shuffled_for) shuffle(epoch);
    lanes.clear();
    for (size_t k = 0; k < kLanes; ++k) {
      const auto count = static_cast<int64_t>(order[k].size());
      const auto first = order[k].begin() + count * at / steps_per_epoch,
                 end = order[k].begin() + count * (at + 1) / steps_per_epoch;
      if (first != end) lanes.push_back({lanes.size(), {first, end}});
    }
  }
  void shuffle(int64_t epoch) {
    for (auto& lane : order) lane.clear();
    for (const size_t place : trained_on) order[place % kLanes].push_back(place);
    Random random(static_cast<uint64_t>(epoch) + 1);
    for (auto& lane : order)
      for (size_t k = lane.size(); k > 1; --k) std::swap(lane[k - 1], lane[random.next() % k]);
    shuffled_for = epoch;
  }

  void take(TuneSums sums) {
    std::sort(sums.lanes.begin(), sums.lanes.end(),
              [](const LaneSums& a, const LaneSums& b) { return a.lane < b.lane; });
    TERSOR_CHECK(sums.lanes.size() == lanes.size());
    switch (round) {
      case Round::kWeigh:
        return take_weights(sums);
      case Round::kJudge:
        return take_judgement(sums);
      case Round::kStep:
        return take_step(std::move(sums));
      case Round::kDone:
        return;
    }
  }

  void take_weights(const TuneSums& sums) {
    const size_t points = teacher.values.size();
    std::vector<std::vector<double>> scores;
    std::vector<double> squares(points, 0);
    for (const LaneSums& lane : sums.lanes) {
      scores.emplace_back(lane.by_point.begin(), lane.by_point.begin() + static_cast<std::ptrdiff_t>(points));
      for (size_t k = 0; k < points; ++k) squares[k] += lane.by_point[points + k];
    }
    std::vector<double> weight(points, 1.0 / static_cast<double>(points));
    if (config.hessian_weights)
      weight = trainable::layer_weights(trainable::mean_hessian_scores(scores), trainable::LogScores::kOffset);
    for (size_t k = 0; k < student.points.size(); ++k) {
      const auto found = std::find(teacher.values.begin(), teacher.values.end(), student.points[k].teacher);
      const auto at = static_cast<size_t>(found - teacher.values.begin());
      const double square = squares[at] / static_cast<double>(sums.lanes.size());
      factors[k] =
          square > 0 ? static_cast<float>(weight[at] / square / static_cast<double>(student.points.size())) : 0;
    }
    begin_judging();
  }

  void take_judgement(const TuneSums& sums) {
    std::vector<double> signal(student.outputs.size(), 0), noise(student.outputs.size(), 0);
    for (const LaneSums& lane : sums.lanes)
      for (size_t k = 0; k < signal.size(); ++k) signal[k] += lane.signal[k], noise[k] += lane.noise[k];
    const double found = decibels(signal, noise);
    if (!is_judged) {
      tuning.before_db = best_db = found;
      is_judged = true;
    } else if (found > best_db) {
      best_db = found;
      best = hard_state();
    }
    next();
  }

  void next() {
    if (step >= last_step() || is_stopped) {
      round = Round::kDone;
      lanes.clear();
      return;
    }
    begin_step();
  }

  void take_step(TuneSums sums) {
    double sum = 0;
    size_t samples = 0;
    for (const Lane& lane : lanes) samples += lane.places.size();
    for (const LaneSums& lane : sums.lanes) sum += lane.loss;
    loss = sum / static_cast<double>(samples);
    if (!std::isfinite(loss)) {
      is_stopped = true;  // the best of before stays
      diverged = true;
      return begin_judging();
    }
    std::vector<float>& total = sums.lanes[0].gradients;
    for (size_t k = 1; k < sums.lanes.size(); ++k)
      kernels::add_scaled(1.0f, sums.lanes[k].gradients.data(), total.size(), total.data());
    const float part = 1.0f / static_cast<float>(samples);
    for (float& one : total) one *= part;
    ++step;
    for (size_t k = 0; k < student.trained.size(); ++k)
      if (student.trained[k].gradient.valid())
        move(k, std::span<const float>(total).subspan(offsets[k], offsets[k + 1] - offsets[k]));
    epoch_loss += loss;
    if (step % steps_per_epoch == 0) {
      const double mean = epoch_loss / static_cast<double>(steps_per_epoch);
      if (step == steps_per_epoch) tuning.first_loss = mean;
      tuning.last_loss = mean;
      epoch_loss = 0;
    }
    if (is_stopped || step >= last_step() || step % judged_every(steps) == 0) return begin_judging();
    begin_step();
  }

  /// One step of input k, whose gradient is `by`.
  void move(size_t k, std::span<const float> by) {
    const std::vector<float> whole{1};
    const double left = 1 - static_cast<double>(step - 1) / static_cast<double>(steps);
    switch (student.trained[k].kind) {
      case TrainedInput::Kind::kBias:
        return sgd[k].step(config.learning_rate_bias, by, values_of[k]);
      case TrainedInput::Kind::kScale: {
        const float unit = values_of[k][0], least = unit / 2;
        adam[k].step(step, config.learning_rate_ranges * left, std::span(&unit, 1), by, values_of[k]);
        values_of[k][0] = std::max(values_of[k][0], least);
        return;
      }
      case TrainedInput::Kind::kWeight:
        break;
    }
    TrainedWeight& weight = weights[k];
    for (trainable::Variable& variable : weight.quantizer->variables())
      std::fill(variable.gradient.begin(), variable.gradient.end(), 0.0f);
    std::vector<float> by_latent(by.size());
    weight.quantizer->gradient(weight.latent, by, by_latent);
    if (!trains_roundings())
      return adam[k].step(step, rate_of_weights() * left, weight.units, by_latent, weight.latent);
    const double beta = trainable::regularizer_beta(std::min(step - 1, steps), steps);
    weight.quantizer->regularize(beta, config.regularization_factor);
    for (trainable::Variable* variable : weight.quantizer->get_trainable_variables(trainable::VariableGroup::WEIGHTS))
      adam[k].step(step, rate_of_weights(), whole, variable->gradient, variable->value);
  }

  /// What the programs are given for the trained inputs and behind them, as they are now.
  std::vector<Tensor> values_now(bool in_training) {
    std::vector<Tensor> values;
    for (size_t k = 0; k < student.trained.size(); ++k) {
      const Shape& shape = student.trained[k].start.shape();
      if (student.trained[k].kind != TrainedInput::Kind::kWeight) {
        values.push_back(Tensor::of<float>(shape, values_of[k]));
        continue;
      }
      std::vector<float> quantized(weights[k].latent.size());
      weights[k].quantizer->call(weights[k].latent, quantized, in_training);
      values.push_back(Tensor::of<float>(shape, quantized));
    }
    float fraction = 1;
    if (in_training && config.gradual_activation_quantization)
      fraction = static_cast<float>(trainable::quantized_fraction(step, std::max<int64_t>(steps, 1), {}));
    values.push_back(Tensor::of<float>(Shape{1}, {fraction}));
    values.push_back(Tensor::of<float>(Shape{static_cast<int64_t>(factors.size())}, factors));
    return values;
  }

  Best hard_state() const {
    Best state;
    size_t scale = 0;
    for (size_t k = 0; k < student.trained.size(); ++k) {
      const TrainedInput& one = student.trained[k];
      const std::span<const float> now = hard[k].data<float>();
      switch (one.kind) {
        case TrainedInput::Kind::kWeight: {
          const quant::QuantizationParams& params = weights[k].params;
          const Tensor codes = quant::quantize(hard[k], params);
          std::vector<int8_t> bytes;
          for (const int64_t code : codes.to_int64s()) bytes.push_back(static_cast<int8_t>(code));
          state.weights.push_back({one.name, params.scale, std::move(bytes), 1});
          break;
        }
        case TrainedInput::Kind::kBias:
          state.biases.push_back({one.name, {now.begin(), now.end()}});
          break;
        case TrainedInput::Kind::kScale:
          state.activations.push_back({one.name, now[0], grids[scale++].second.zero_point[0]});
          break;
      }
    }
    return state;
  }

  config::GradientPTQConfig config;
  std::string key;
  std::vector<Shape> input_shapes;
  Student student;
  Teacher teacher;
  trainable::TrainableQuantizers quantizers;
  std::vector<size_t> trained_on, held;       // places among the samples
  std::vector<TrainedWeight> weights;         // by trained input; empty where it is none
  std::vector<std::vector<float>> values_of;  // the same of biases and scales
  std::vector<Adam> adam;
  std::vector<Sgd> sgd;
  std::vector<std::pair<std::string, quant::QuantizationParams>> grids;  // of trained scales, in their order
  std::vector<size_t> offsets;                                           // into the joined gradient
  std::vector<float> factors;                                            // by point
  std::vector<Tensor> soft, hard;                                        // of a step, and of a judgement
  std::shared_ptr<const run::Program> training, judging, weighing, teaching;

  Round round = Round::kWeigh;
  std::vector<Lane> lanes;
  int64_t step = 0, steps = 0, steps_per_epoch = 1;
  std::array<std::vector<size_t>, kLanes> order;  // of each lane's samples
  int64_t shuffled_for = -1;
  bool is_judged = false, is_stopped = false, diverged = false;
  double loss = 0, epoch_loss = 0, best_db = 0;
  std::optional<Best> best;
  calibrate::Tuning tuning;
};

Tuner::Tuner(const Problem& problem) : state_(std::make_unique<State>(problem)) {}
Tuner::~Tuner() = default;

bool Tuner::done() const {
  return state_->round == State::Round::kDone;
}
const std::vector<Lane>& Tuner::lanes() const {
  return state_->lanes;
}
void Tuner::take(TuneSums sums) {
  state_->take(std::move(sums));
}
void Tuner::stop() {
  state_->is_stopped = true;
}

TuneProgress Tuner::progress() const {
  return {state_->step, state_->last_step(), state_->loss, state_->tuning.before_db, state_->best_db};
}

calibrate::TunedModel Tuner::result() const {
  calibrate::TunedModel result;
  result.tuning = state_->tuning;
  result.tuning.plan = state_->key;
  result.tuning.steps = state_->step;
  result.tuning.steps_planned = state_->steps;
  result.tuning.samples = static_cast<int64_t>(state_->trained_on.size());
  result.tuning.held = static_cast<int64_t>(state_->held.size());
  result.tuning.after_db = state_->best_db;
  result.tuning.frozen = state_->student.frozen;
  if (state_->diverged)
    result.tuning.frozen.push_back("The loss was no longer finite after " + std::to_string(state_->step) +
                                   " steps; what was best before is kept. Try a smaller learning rate.");
  result.tuning.taken = state_->best.has_value();
  if (!state_->best) return result;
  result.weights = state_->best->weights;
  result.biases = state_->best->biases;
  result.tuning.activations = state_->best->activations;
  return result;
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

  void judge(std::vector<Tensor> inputs, LaneSums& to) {
    inputs.insert(inputs.end(), tuner.hard.begin(), tuner.hard.end());
    const std::vector<Tensor> found = runner(judging, tuner.judging).run(inputs);
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

  void train(std::vector<Tensor> inputs, LaneSums& to) {
    inputs.insert(inputs.end(), tuner.soft.begin(), tuner.soft.end());
    const std::vector<Tensor> found = runner(training, tuner.training).run(inputs);
    size_t next = 0;
    for (; next < tuner.student.points.size(); ++next) to.loss += static_cast<double>(found[next].data<float>()[0]);
    const bool first = to.gradients.empty();
    to.gradients.resize(tuner.offsets.back());
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

  const Tuner::State& tuner;
  std::optional<run::Runner> training, judging, weighing, teaching;
  TuneSums sums;
};

TuneRunner::TuneRunner(const Tuner& tuner) : state_(std::make_unique<State>(*tuner.state_)) {}
TuneRunner::~TuneRunner() = default;
TuneRunner::TuneRunner(TuneRunner&&) noexcept = default;

void TuneRunner::run(const Lane& lane, const std::function<std::vector<Tensor>(size_t place)>& inputs_of) {
  using Round = Tuner::State::Round;
  LaneSums to;
  to.lane = lane.index;
  for (const size_t place : lane.places) {
    std::vector<Tensor> inputs = inputs_of(place);
    switch (state_->tuner.round) {
      case Round::kWeigh:
        state_->weigh(place, std::move(inputs), to);
        break;
      case Round::kJudge:
        state_->judge(std::move(inputs), to);
        break;
      case Round::kStep:
        state_->train(std::move(inputs), to);
        break;
      case Round::kDone:
        break;
    }
  }
  state_->sums.lanes.push_back(std::move(to));
}

TuneSums TuneRunner::sums() {
  return std::exchange(state_->sums, {});
}

int64_t Tuner::steps_per_epoch() const {
  return state_->steps_per_epoch;
}

int64_t Tuner::rounds() const {
  const int64_t steps = state_->last_step(), every = judged_every(state_->steps);
  return 2 + steps + (steps + every - 1) / every;
}

namespace {

std::vector<Shape> shapes_of(const run::Program& program, const std::vector<Shape>& inputs) {
  std::vector<Shape> shapes = inputs;
  for (size_t k = inputs.size(); k < program.inputs().size(); ++k) {
    std::vector<int64_t> dims;
    for (const Dim& dim : *program.inputs()[k].shape) dims.push_back(dim.value);
    shapes.emplace_back(std::move(dims));
  }
  return shapes;
}

}  // namespace

int64_t Tuner::bytes_per_runner() const {
  return state_->training->peak_bytes(shapes_of(*state_->training, state_->input_shapes));
}

int64_t Tuner::macs_per_sample() const {
  return state_->training->macs(shapes_of(*state_->training, state_->input_shapes));
}

namespace {

constexpr std::string_view kMagic = "tersortc";
constexpr uint32_t kVersion = 1;

[[noreturn]] void broken() {
  throw Error(ErrorCode::kInvalidArgument, "This is no whole checkpoint of a training.", "checkpoint",
              "Give the file that --checkpoint wrote; it may have been cut short while it was copied.");
}

template <class List>
void put(ByteWriter& to, const List& list) {
  to.put_all(std::span<const typename List::value_type>(list));
}
/// How many entries of a list follow, each of some bytes.
size_t count_of(ByteReader& from) {
  constexpr uint64_t kMost = 1 << 20;
  const auto count = from.get<uint64_t>();
  if (count > kMost) broken();
  return static_cast<size_t>(count);
}
std::string text_of(ByteReader& from) {
  const std::vector<char> letters = from.get_all<char>();
  return {letters.begin(), letters.end()};
}
/// Values in the place of as many.
template <class T>
void replace(ByteReader& from, std::vector<T>& values) {
  std::vector<T> found = from.get_all<T>();
  if (found.size() != values.size()) broken();
  values = std::move(found);
}

}  // namespace

ByteBuffer Tuner::checkpoint() const {
  const State& s = *state_;
  ByteWriter to;
  for (const char letter : kMagic) to.put(letter);
  to.put(kVersion);
  put(to, s.key);
  for (const int64_t one : {s.step, static_cast<int64_t>(s.round == State::Round::kDone),
                            static_cast<int64_t>(s.is_judged), static_cast<int64_t>(s.best.has_value())})
    to.put(one);
  for (const double one :
       {s.loss, s.epoch_loss, s.best_db, s.tuning.before_db, s.tuning.first_loss, s.tuning.last_loss})
    to.put(one);
  put(to, s.factors);
  for (size_t k = 0; k < s.student.trained.size(); ++k) {
    put(to, s.values_of[k]);
    put(to, s.weights[k].latent);
    if (s.weights[k].quantizer)
      for (const trainable::Variable& variable : s.weights[k].quantizer->variables()) put(to, variable.value);
    put(to, s.adam[k].first());
    put(to, s.adam[k].second());
    put(to, s.sgd[k].velocity());
  }
  if (!s.best) return to.take();
  to.put(static_cast<uint64_t>(s.best->weights.size()));
  for (const calibrate::RoundedWeight& one : s.best->weights) {
    put(to, one.name);
    put(to, one.scales);
    put(to, one.codes);
  }
  to.put(static_cast<uint64_t>(s.best->biases.size()));
  for (const calibrate::MeasuredShift& one : s.best->biases) {
    put(to, one.name);
    put(to, one.shifts);
  }
  to.put(static_cast<uint64_t>(s.best->activations.size()));
  for (const calibrate::TunedActivation& one : s.best->activations) {
    put(to, one.name);
    to.put(one.scale);
    to.put(one.zero_point);
  }
  return to.take();
}

void Tuner::restore(std::span<const std::byte> bytes) {
  try {
    state_->restore(bytes);
  } catch (const Error& error) {
    if (error.code == ErrorCode::kInvalidArgument) broken();
    throw;
  }
}

void Tuner::State::restore(std::span<const std::byte> bytes) {
  ByteReader from(bytes);
  for (const char letter : kMagic)
    if (from.get<char>() != letter) broken();
  if (from.get<uint32_t>() != kVersion) broken();
  if (text_of(from) != key)
    throw Error(ErrorCode::kMismatch,
                "The checkpoint is of another training: model, samples, settings or calibration differ.", "checkpoint",
                "Give the model, the samples and the settings that it was written with.");
  step = from.get<int64_t>();
  const bool is_done = from.get<int64_t>() != 0;
  is_judged = from.get<int64_t>() != 0;
  const bool has_best = from.get<int64_t>() != 0;
  for (double* one : {&loss, &epoch_loss, &best_db, &tuning.before_db, &tuning.first_loss, &tuning.last_loss})
    *one = from.get<double>();
  replace(from, factors);
  for (size_t k = 0; k < student.trained.size(); ++k) {
    replace(from, values_of[k]);
    replace(from, weights[k].latent);
    if (weights[k].quantizer)
      for (trainable::Variable& variable : weights[k].quantizer->variables()) replace(from, variable.value);
    for (auto* moments : {&adam[k].first(), &adam[k].second(), &sgd[k].velocity()}) replace(from, *moments);
  }
  if (has_best) {
    best.emplace();
    best->weights.resize(count_of(from));
    for (calibrate::RoundedWeight& one : best->weights) {
      one.name = text_of(from);
      one.scales = from.get_all<float>();
      one.codes = from.get_all<int8_t>();
    }
    best->biases.resize(count_of(from));
    for (calibrate::MeasuredShift& one : best->biases) {
      one.name = text_of(from);
      one.shifts = from.get_all<double>();
    }
    best->activations.resize(count_of(from));
    for (calibrate::TunedActivation& one : best->activations) {
      one.name = text_of(from);
      one.scale = from.get<float>();
      one.zero_point = from.get<int32_t>();
    }
  }
  if (!from.at_end()) broken();
  shuffled_for = -1;
  if (!is_judged) return begin_judging();
  if (is_done && step >= last_step()) {
    round = Round::kDone;
    lanes.clear();
    return;
  }
  next();
}

}  // namespace tersor::tune
