// SPDX-License-Identifier: Apache-2.0
// The rounds of a training: points weighed, the model judged on the samples held aside, gradient steps.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/error.h"
#include "core/kernels/add_scaled.h"
#include "core/quant/error_functions.h"
#include "core/quant/quantizer.h"
#include "core/trainable/annealing.h"
#include "core/trainable/layer_weights.h"
#include "core/trainable/quantization_wrapper.h"
#include "core/tune/random.h"
#include "core/tune/recompute.h"
#include "core/tune/tuner_state.h"

namespace tersor::tune {

namespace {

constexpr size_t kWeighed = 32;     // samples that points are weighed on, as MCT has it
constexpr int64_t kJudgements = 8;  // along the way
constexpr double kDiverged = 100;   // times the loss of the first epoch
constexpr size_t kLeastHeld = 8, kMostHeld = 64;
constexpr float kFirstStep = 0.3f;  // how far from its rounding, in steps, a weight starts towards its float value
// Where nobody says:
constexpr double kAugmentation = 0.8;  // the part of samples that are changed
constexpr double kRateOfBiases = 0.03, kRateOfScales = 0.004, kRateOfRoundings = 0.1, kRateOfWeights = 0.001;

double decibels(const std::vector<double>& signal, const std::vector<double>& noise) {
  constexpr double kMost = 200;
  double sum = 0;
  for (size_t k = 0; k < signal.size(); ++k)
    sum += noise[k] <= 0 || signal[k] <= 0 ? kMost : std::min(kMost, quant::decibels(signal[k], noise[k]));
  return signal.empty() ? 0 : sum / static_cast<double>(signal.size());
}

std::set<NodeId> nodes_of(const std::map<NodeId, std::string>& own) {
  std::set<NodeId> nodes;
  for (const auto& one : own) nodes.insert(one.first);
  return nodes;
}

/// Error kUnsupportedModel where trainable quantizers are named and none of them is trained.
void require_own(const Problem& problem, const Student& student, const std::vector<TrainedWeight>& weights) {
  size_t trained = 0;
  for (size_t k = 0; k < weights.size(); ++k) trained += weights[k].own && student.trained[k].gradient.valid() ? 1 : 0;
  if (problem.own.empty() || trained > 0) return;
  std::string why;
  for (const std::string& one : student.frozen) why += " " + one;
  throw Error(ErrorCode::kUnsupportedModel, "None of the trainable quantizers has a weight to train." + why,
              "overrides.trainable_quantizer", "Name operators whose weights the platform stores in integers.");
}

std::unique_ptr<trainable::BaseTrainableQuantizer> own_quantizer(const Problem& problem, const std::string& class_name,
                                                                 const ptq::KernelPlan& kernel) {
  return own_class(problem.classes, class_name, "overrides.trainable_quantizer")
      .make(trainable::weights_config_of(kernel.weight, std::numeric_limits<double>::min()), false);
}

}  // namespace

int64_t judged_every(int64_t steps) {
  return std::max<int64_t>(1, steps / kJudgements);
}

std::vector<size_t> held_places(size_t samples) {
  std::vector<size_t> held;
  if (samples < 2 * kLeastHeld) return held;
  const size_t count = std::clamp(samples / 8, kLeastHeld, kMostHeld), every = samples / count;
  for (size_t k = every - 1; held.size() < count; k += every) held.push_back(k);
  return held;
}

Tuner::State::State(const Problem& problem)
    : config(problem.config),
      key(problem.key),
      input_shapes(problem.input_shapes),
      labels(problem.labels),
      holders(problem.model.graph, problem.plan, problem.own_activations, problem.classes),
      student(make_student(problem.model, problem.plan,
                           {.train_weights = config.train_rounding || config.train_scales,
                            .train_bias = config.train_bias,
                            .train_ranges = config.train_ranges,
                            .block_kernels = config.block_kernels,
                            .has_labels = config.label_weight > 0,
                            .own = nodes_of(problem.own)},
                           holders, problem.input_shapes)),
      teacher(make_teacher(problem.model, problem.plan, problem.input_shapes)) {
  TERSOR_CHECK(labels.size() == problem.samples || (labels.empty() && !has_labels()));
  are_answers = student.has_first && (student.ends_in_answer || !labels.empty());
  tuning.labels = problem.labels_digest;
  split(problem.samples);
  for (const TrainedInput& one : student.trained) start(one, problem);
  require_own(problem, student, weights);
  steps_per_epoch = static_cast<int64_t>((trained_on.size() + batch_size() - 1) / batch_size());
  steps = steps_per_epoch * config.n_epochs;
  factors.assign(student.points.size() + (has_labels() ? 1 : 0), 0);
  spare_memory(problem.memory);
  compile();
  begin_weighing();
}

/// Where a step takes more than that, activations are computed again by block, of which there are as many as take the
/// least: the bits stay, and all blocks but the last run forward twice.
void Tuner::State::spare_memory(int64_t most) {
  const auto bytes = [&] {
    const auto program = sized_step(learns_rounding(steps));
    return program->peak_bytes(shapes_for(*program));
  };
  int64_t least = bytes();
  if (least <= most) return;
  const Graph whole = student.model.graph;
  Graph smallest = whole;
  for (size_t blocks = 2; least > most && blocks <= 32; blocks *= 2) {
    student.model.graph = recomputed_by_block(whole, student.places, blocks);
    const int64_t found = bytes();
    if (found < least) {
      least = found;
      smallest = student.model.graph;
    }
  }
  student.model.graph = std::move(smallest);
}

double Tuner::State::rate_of_weights() const {
  return config.learning_rate.value_or(trains_softly() ? kRateOfRoundings : kRateOfWeights);
}

double Tuner::State::rate_of_scales() const {
  return config.learning_rate_ranges.value_or(kRateOfScales);
}

/// Few variables first: what scales and biases can make up for needs no other integers, and few samples are not learned
/// by heart that way. What was best until then stays where the second half is no better.
int64_t Tuner::State::rounding_begin() const {
  return config.train_scales ? steps / 2 : 0;
}

bool Tuner::State::learns_rounding(int64_t after) const {
  return config.train_rounding && after >= rounding_begin();
}

double Tuner::State::augmentation() const {
  return config.augmentation.value_or(kAugmentation);
}

void Tuner::State::split(size_t samples) {
  if (samples < 2 * kLeastHeld)
    throw Error(ErrorCode::kInvalidSamples,
                "Training needs at least " + std::to_string(2 * kLeastHeld) + " samples, and there are " +
                    std::to_string(samples) + ".",
                "samples", "Give some hundred samples: with fewer, training learns those by heart.");
  held = held_places(samples);
  for (size_t k = 0; k < samples; ++k)
    if (!std::binary_search(held.begin(), held.end(), k)) trained_on.push_back(k);
}

void Tuner::State::start(const TrainedInput& one, const Problem& problem) {
  const ptq::QuantizationPlan& plan = problem.plan;
  if (one.kind == TrainedInput::Kind::kWeight) return start_weight(one, plan.kernels[one.index], problem);
  const std::span<const float> values = one.start.data<float>();
  weights.emplace_back();
  values_of.emplace_back(values.begin(), values.end());
  adam.emplace_back(one.kind == TrainedInput::Kind::kBias ? 0 : values.size());
  sgd.emplace_back(one.kind == TrainedInput::Kind::kBias ? values.size() : 0);
  if (one.kind == TrainedInput::Kind::kScale) grids.push_back({one.name, plan.activations[one.index].params});
}

void Tuner::State::start_weight(const TrainedInput& one, const ptq::KernelPlan& kernel, const Problem& problem) {
  const std::span<const float> values = one.start.data<float>();
  TrainedWeight weight;
  weight.params = kernel.weight;
  weight.outputs = static_cast<size_t>(kernel.op.outputs);
  weight.blocks = quant::channel_blocks(one.start.shape(), weight.params.channel_axis);
  weight.units.resize(values.size());
  quant::for_each_element(weight.blocks, [&](size_t k, size_t c) { weight.units[k] = weight.params.scale[c]; });
  const Tensor codes = kernel.codes.empty() ? quant::quantize(one.start, kernel.weight)
                                            : Tensor::of<int8_t>(one.start.shape(), kernel.codes);
  const Tensor rounded = quant::dequantize(codes, kernel.weight);
  if (const auto own = problem.own.find(kernel.node); own != problem.own.end()) {
    weight.own = std::make_unique<OwnQuantizer>(problem.model.graph, kernel,
                                                own_quantizer(problem, own->second, kernel), rounded.data<float>());
    weights.push_back(std::move(weight));
    values_of.emplace_back();
    adam.emplace_back();
    sgd.emplace_back();
    return;
  }
  weight.latent.resize(values.size());
  for (size_t k = 0; k < values.size(); ++k) {
    const float rest = (values[k] - rounded.data<float>()[k]) / weight.units[k];
    weight.latent[k] = rounded.data<float>()[k] + weight.units[k] * std::clamp(rest, -kFirstStep, kFirstStep);
  }
  weight.quantizer = quantizers.make(trainable::weights_config_of(weight.params, std::numeric_limits<double>::min()),
                                     trains_softly() ? "SOFT" : "STE", true);
  weight.quantizer->initialize_quantization(weight.latent, one.start.shape().dims(), one.name);
  if (config.train_scales && weight.params.method != quant::QuantizationMethod::kPowerOfTwo) {
    weight.factors.assign(weight.blocks.channels, 1.0f);
    weight.of_factors = Adam(weight.blocks.channels);
  }
  weights.push_back(std::move(weight));
  values_of.emplace_back();
  adam.emplace_back(config.train_rounding ? values.size() : 0);
  sgd.emplace_back();
}

/// What a step needs of a trained input. Until roundings are trained the weight's own gradient, a product as large as
/// the kernel's, is not needed.
ValueId Tuner::State::wanted_of(size_t k, bool learns) const {
  const TrainedInput& one = student.trained[k];
  if (one.kind != TrainedInput::Kind::kWeight || learns || !one.gradient.valid() || weights[k].own) return one.gradient;
  if (weights[k].factors.empty()) return {};
  return one.by_factor.valid() ? one.by_factor : one.gradient;
}

/// Where each trained input's part of the joined gradient begins in this step.
std::vector<size_t> Tuner::State::offsets_of_step() const {
  std::vector<size_t> offsets{0};
  for (size_t k = 0; k < student.trained.size(); ++k) {
    const TrainedInput& one = student.trained[k];
    const ValueId wanted = wanted_of(k, learns_rounding(step));
    const size_t count = !wanted.valid()           ? 0
                         : wanted == one.by_factor ? weights[k].outputs
                                                   : static_cast<size_t>(one.start.elements());
    offsets.push_back(offsets.back() + count);
  }
  return offsets;
}

std::vector<ValueId> Tuner::State::fetched_in_step(bool learns) const {
  std::vector<ValueId> fetched;
  for (const Point& point : student.points) fetched.push_back(point.loss);
  if (has_labels()) fetched.push_back(student.cross_entropy);
  for (size_t k = 0; k < student.trained.size(); ++k)
    if (const ValueId wanted = wanted_of(k, learns); wanted.valid()) fetched.push_back(wanted);
  return fetched;
}

/// The program of a step has its weights as constants: they are packed once for all samples.
void Tuner::State::compile_step() {
  std::vector<Tensor> values = values_now(true);
  Model model = student.model;
  soft.clear();
  for (size_t k = 0; k < values.size(); ++k) {
    if (k >= student.trained.size() || student.trained[k].kind != TrainedInput::Kind::kWeight) {
      soft.push_back(std::move(values[k]));
      continue;
    }
    std::erase(model.graph.inputs, student.trained[k].input);
    model.graph.set_initializer(student.trained[k].input, std::move(values[k]));
  }
  run::ProgramOptions options;
  options.fetched = fetched_in_step(learns_rounding(step));
  training = run::Program::compile(model, holders.operators(), options);
}

std::shared_ptr<const run::Program> Tuner::State::sized_step(bool learns) const {
  run::ProgramOptions options;
  options.will_run = false;
  options.fetched = fetched_in_step(learns);
  return run::Program::compile(student.model, holders.operators(), options);
}

void Tuner::State::compile() {
  compile_step();
  run::ProgramOptions options;
  for (const auto& [own, floating] : student.outputs)
    options.fetched.push_back(own), options.fetched.push_back(floating);
  judging = run::Program::compile(student.model, holders.operators(), options);
  options.fetched = teacher.values;
  for (const ValueId gradient : teacher.gradients)
    if (gradient.valid()) options.fetched.push_back(gradient);
  weighing = run::Program::compile(teacher.model, holders.operators(), options);
  run::ProgramOptions outputs;
  outputs.fetched = teacher.outputs;
  teaching = run::Program::compile(teacher.forward, gradient::operators(), outputs);
}

void Tuner::State::one_lane_each(const std::vector<size_t>& places) {
  lanes.clear();
  for (const size_t place : places) lanes.push_back({lanes.size(), {place}});
}

void Tuner::State::begin_weighing() {
  round = Round::kWeigh;
  one_lane_each(
      {trained_on.begin(), trained_on.begin() + static_cast<std::ptrdiff_t>(std::min(kWeighed, trained_on.size()))});
}

/// Whether every training of these settings judges after this step.
bool Tuner::State::is_scheduled() const {
  return step == steps || step % judged_every(steps) == 0 || !diverged.empty();
}

bool Tuner::State::awaits_judgement() const {
  return judged_at != step && (step >= last_step() || is_scheduled());
}

Tuner::State::Found Tuner::State::found() const {
  return {best_db, tuning.after_cross_entropy, tuning.after_right, best, judged_at};
}

Tuner::State::Found Tuner::State::scheduled_found() const {
  return before_stop ? *before_stop : found();
}

void Tuner::State::begin_judging() {
  round = Round::kJudge;
  if (!is_scheduled()) before_stop = found();
  hard = values_now(false);
  one_lane_each(held);
}

/// Lane k has the samples at places k, k + kLanes, ...: who has those only can run it whole.
void Tuner::State::begin_step() {
  round = Round::kStep;
  compile_step();
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

void Tuner::State::shuffle(int64_t epoch) {
  for (auto& lane : order) lane.clear();
  for (const size_t place : trained_on) order[place % kLanes].push_back(place);
  Random random(static_cast<uint64_t>(epoch) + 1);
  for (auto& lane : order)
    for (size_t k = lane.size(); k > 1; --k) std::swap(lane[k - 1], lane[random.next() % k]);
  shuffled_for = epoch;
}

void Tuner::State::take(TuneSums sums) {
  std::sort(sums.lanes.begin(), sums.lanes.end(), [](const LaneSums& a, const LaneSums& b) { return a.lane < b.lane; });
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

void Tuner::State::take_weights(const TuneSums& sums) {
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
  const double rest = 1 - config.label_weight;
  if (has_labels()) factors.back() = static_cast<float>(config.label_weight);
  for (size_t k = 0; k < student.points.size(); ++k) {
    const auto found = std::find(teacher.values.begin(), teacher.values.end(), student.points[k].teacher);
    const auto at = static_cast<size_t>(found - teacher.values.begin());
    const double square = squares[at] / static_cast<double>(sums.lanes.size());
    factors[k] =
        square > 0 ? static_cast<float>(rest * (weight[at] / square / static_cast<double>(student.points.size()))) : 0;
  }
  begin_judging();
}

void Tuner::State::take_judgement(const TuneSums& sums) {
  std::vector<double> signal(student.outputs.size(), 0), noise(student.outputs.size(), 0);
  double cross_entropy = 0;
  int64_t right = 0, same = 0;
  for (const LaneSums& lane : sums.lanes) {
    for (size_t k = 0; k < signal.size(); ++k) signal[k] += lane.signal[k], noise[k] += lane.noise[k];
    cross_entropy += lane.cross_entropy / static_cast<double>(held.size());
    right += lane.right;
    same += lane.same;
    are_answers = are_answers && lane.has_answers;
  }
  const double found = decibels(signal, noise);
  judged_at = step;
  last = {found, {}, {}};
  if (are_answers) last.same = same;
  if (are_answers && !labels.empty()) last.right = right;
  const bool better = has_labels() ? cross_entropy < tuning.after_cross_entropy.value_or(0) : found > best_db;
  if (is_judged && !better) return next();
  best_db = found;
  if (has_labels()) tuning.after_cross_entropy = cross_entropy;
  tuning.after_right = last.right;
  if (is_judged) {
    best = hard_state();
    return next();
  }
  tuning.before_db = found;
  tuning.before_cross_entropy = tuning.after_cross_entropy;
  tuning.before_right = tuning.after_right;
  before_same = last.same;
  is_judged = true;
  next();
}

void Tuner::State::next() {
  if (step >= last_step() || is_stopped || !diverged.empty()) {
    round = Round::kDone;
    lanes.clear();
    return;
  }
  begin_step();
}

void Tuner::State::take_step(TuneSums sums) {
  double sum = 0;
  size_t samples = 0;
  for (const Lane& lane : lanes) samples += lane.places.size();
  for (const LaneSums& lane : sums.lanes) sum += lane.loss;
  loss = sum / static_cast<double>(samples);
  if (!std::isfinite(loss)) {
    diverged = "was no longer finite";  // the best of before stays
    return begin_judging();
  }
  const std::vector<size_t> offsets = offsets_of_step();
  std::vector<float>& total = sums.lanes[0].gradients;
  for (size_t k = 1; k < sums.lanes.size(); ++k)
    kernels::add_scaled(1.0f, sums.lanes[k].gradients.data(), total.size(), total.data());
  const float part = 1.0f / static_cast<float>(samples);
  for (float& one : total) one *= part;
  ++step;
  for (size_t k = 0; k < student.trained.size(); ++k)
    if (offsets[k] != offsets[k + 1])
      move(k, std::span<const float>(total).subspan(offsets[k], offsets[k + 1] - offsets[k]));
  epoch_loss += loss;
  if (step % steps_per_epoch == 0) {
    const double mean = epoch_loss / static_cast<double>(steps_per_epoch);
    if (step == steps_per_epoch) tuning.first_loss = mean;
    tuning.last_loss = mean;
    epoch_loss = 0;
    if (!config.gradual_activation_quantization && mean > kDiverged * tuning.first_loss)
      diverged = "had grown to more than a hundred times that of the first epoch";
  }
  if (is_stopped || awaits_judgement()) return begin_judging();
  begin_step();
}

/// One step of input k, whose gradient is `by`.
void Tuner::State::move(size_t k, std::span<const float> by) {
  const double left = 1 - static_cast<double>(step - 1) / static_cast<double>(steps);
  switch (student.trained[k].kind) {
    case TrainedInput::Kind::kBias:
      return sgd[k].step(config.learning_rate_bias.value_or(kRateOfBiases), by, values_of[k]);
    case TrainedInput::Kind::kScale: {
      const float unit = values_of[k][0], least = unit / 2;
      adam[k].step(step, rate_of_scales() * left, std::span(&unit, 1), by, values_of[k]);
      values_of[k][0] = std::max(values_of[k][0], least);
      return;
    }
    case TrainedInput::Kind::kHeld:
      return move_held(k, by, left);
    case TrainedInput::Kind::kWeight:
      return move_weight(k, by, left);
  }
}

/// dL by each channel's factor, from dL by the weight or, where only factors are trained, from ChannelProduct's.
std::vector<float> Tuner::State::by_factors(size_t k, std::span<const float> by) const {
  const TrainedWeight& weight = weights[k];
  std::vector<double> sums(weight.factors.size(), 0.0);
  if (wanted_of(k, learns_rounding(step - 1)) == student.trained[k].gradient) {
    quant::for_each_element(weight.blocks, [&](size_t i, size_t c) {
      sums[c] += static_cast<double>(by[i]) * static_cast<double>(weight.quantized[i]);
    });
  } else {
    for (size_t o = 0; o < by.size(); ++o) sums[o % sums.size()] += static_cast<double>(by[o]);
    for (size_t c = 0; c < sums.size(); ++c) sums[c] /= static_cast<double>(weight.factors[c]);
  }
  return {sums.begin(), sums.end()};
}

/// From the first step on.
void Tuner::State::move_own(OwnQuantizer& own, std::span<const float> by, double left) {
  const OwnQuantizer::Rates rates{config.learning_rate.value_or(kRateOfWeights) * left,
                                  config.learning_rate.value_or(kRateOfRoundings), rate_of_scales() * left};
  own.step(by, step, rates, trainable::regularizer_beta(step - 1, steps), config.regularization_factor);
}

void Tuner::State::move_held(size_t k, std::span<const float> by, double left) {
  const TrainedInput& one = student.trained[k];
  std::vector<float> all(by.begin(), by.end()), units;
  for (const float value : one.start.data<float>()) units.push_back(value == 0 ? 1 : std::fabs(value));
  holders.at(one.index).regularize(values_of[k], trainable::regularizer_beta(step - 1, steps),
                                   config.regularization_factor, all);
  adam[k].step(step, rate_of_scales() * left, units, all, values_of[k]);
}

void Tuner::State::move_weight(size_t k, std::span<const float> by, double left) {
  const std::vector<float> whole{1};
  TrainedWeight& weight = weights[k];
  if (weight.own) return move_own(*weight.own, by, left);
  std::vector<float> by_quantized(by.begin(), by.end());
  if (!weight.factors.empty()) {
    if (learns_rounding(step - 1))
      quant::for_each_element(weight.blocks, [&](size_t i, size_t c) { by_quantized[i] = by[i] * weight.factors[c]; });
    constexpr float kLeast = 0.5f, kMost = 2.0f;
    weight.of_factors.step(step, rate_of_scales() * left, whole, by_factors(k, by), weight.factors);
    for (float& factor : weight.factors) factor = std::clamp(factor, kLeast, kMost);
  }
  if (!learns_rounding(step - 1)) return;
  const int64_t begin = rounding_begin(), taken = step - begin, all = steps - begin;
  for (trainable::Variable& variable : weight.quantizer->variables())
    std::fill(variable.gradient.begin(), variable.gradient.end(), 0.0f);
  std::vector<float> by_latent(by.size());
  weight.quantizer->gradient(weight.latent, by_quantized, by_latent);
  if (!trains_softly()) {
    const double rest = 1 - static_cast<double>(taken - 1) / static_cast<double>(all);
    return adam[k].step(taken, rate_of_weights() * rest, weight.units, by_latent, weight.latent);
  }
  const double beta = trainable::regularizer_beta(std::min(taken - 1, all), all);
  weight.quantizer->regularize(beta, config.regularization_factor);
  for (trainable::Variable* variable : weight.quantizer->get_trainable_variables(trainable::VariableGroup::WEIGHTS))
    adam[k].step(taken, rate_of_weights(), whole, variable->gradient, variable->value);
}

/// What the programs are given for the trained inputs and after them, as they are now.
std::vector<Tensor> Tuner::State::values_now(bool in_training) {
  std::vector<Tensor> values;
  for (size_t k = 0; k < student.trained.size(); ++k)
    values.push_back(Tensor::of<float>(
        student.trained[k].start.shape(),
        student.trained[k].kind == TrainedInput::Kind::kWeight ? weight_now(weights[k], in_training) : values_of[k]));
  // whether a step trains stands at the end of what a held activation is given
  for (size_t k = 0; k < student.trained.size() && !in_training; ++k)
    if (student.trained[k].kind == TrainedInput::Kind::kHeld) values[k].mutable_data<float>().back() = 0;
  float fraction = 1;
  if (in_training && config.gradual_activation_quantization)
    fraction = static_cast<float>(trainable::quantized_fraction(step, std::max<int64_t>(steps, 1), {}));
  values.push_back(Tensor::of<float>(Shape{1}, {fraction}));
  values.push_back(Tensor::of<float>(Shape{static_cast<int64_t>(factors.size())}, factors));
  return values;
}

std::vector<float> Tuner::State::weight_now(TrainedWeight& weight, bool in_training) {
  if (weight.own) return in_training ? weight.own->in_training() : weight.own->in_file();
  weight.quantized.resize(weight.latent.size());
  weight.quantizer->call(weight.latent, weight.quantized, in_training && learns_rounding(step));
  if (weight.factors.empty()) return weight.quantized;
  std::vector<float> values(weight.quantized.size());
  quant::for_each_element(weight.blocks,
                          [&](size_t i, size_t c) { values[i] = weight.factors[c] * weight.quantized[i]; });
  return values;
}

Best Tuner::State::hard_state() const {
  Best state;
  size_t scale = 0;
  for (size_t k = 0; k < student.trained.size(); ++k) {
    const TrainedInput& one = student.trained[k];
    const std::span<const float> now = hard[k].data<float>();
    switch (one.kind) {
      case TrainedInput::Kind::kWeight: {
        const TrainedWeight& weight = weights[k];
        if (weight.own) {
          state.weights.push_back(weight.own->rounded());
          break;
        }
        const Tensor codes = quant::quantize(Tensor::of<float>(one.start.shape(), weight.quantized), weight.params);
        std::vector<int8_t> bytes;
        for (const int64_t code : codes.to_int64s()) bytes.push_back(static_cast<int8_t>(code));
        std::vector<float> scales = weight.params.scale;
        for (size_t c = 0; c < weight.factors.size(); ++c) scales[c] *= weight.factors[c];
        state.weights.push_back({one.name, std::move(scales), std::move(bytes), 1});
        break;
      }
      case TrainedInput::Kind::kBias:
        state.biases.push_back({one.name, {now.begin(), now.end()}});
        break;
      case TrainedInput::Kind::kScale:
        state.activations.push_back({one.name, now[0], grids[scale++].second.zero_point[0]});
        break;
      case TrainedInput::Kind::kHeld: {
        const quant::QuantizationParams params = holders.at(one.index).params(now);
        state.activations.push_back({one.name, params.scale[0], params.zero_point[0]});
        break;
      }
    }
  }
  return state;
}

}  // namespace tersor::tune
