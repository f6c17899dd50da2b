// SPDX-License-Identifier: Apache-2.0
// What a training is made of, between the files of this room: tuner.cpp (what it came to), training.cpp (its rounds),
// runner.cpp (samples through a round), checkpoint.cpp.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/quant/even_steps.h"
#include "core/quant/params.h"
#include "core/run/program.h"
#include "core/trainable/trainable_quantizers.h"
#include "core/tune/held_activations.h"
#include "core/tune/optimizer.h"
#include "core/tune/own_quantizer.h"
#include "core/tune/student.h"
#include "core/tune/tuner.h"

namespace tersor::tune {

/// A kernel's weight in training: factor of the channel times what the quantizer makes of `latent`.
struct TrainedWeight {
  std::unique_ptr<trainable::BaseTrainableQuantizer> quantizer;
  quant::QuantizationParams params;
  quant::ChannelBlocks blocks;
  size_t outputs = 0;            // channels of the kernel
  std::vector<float> units;      // by weight: its step, which STE moves it in parts of
  std::vector<float> latent;     // what is quantized; STE trains it
  std::vector<float> quantized;  // of this round
  std::vector<float> factors;    // by channel; none where scales are not trained
  Adam of_factors;
  std::unique_ptr<OwnQuantizer> own;  // in the place of all others, where the weight has one
};

/// What a judgement found best.
struct Best {
  std::vector<calibrate::RoundedWeight> weights;
  std::vector<calibrate::MeasuredShift> biases;
  std::vector<calibrate::TunedActivation> activations;

  static constexpr auto fields() { return members(&Best::weights, &Best::biases, &Best::activations); }
};

struct Tuner::State {
  enum class Round { kWeigh, kJudge, kStep, kDone };

  /// What the judgements came to.
  struct Found {
    double best_db = 0;
    std::optional<double> cross_entropy;
    std::optional<int64_t> right;
    std::optional<Best> best;
    int64_t judged_at = -1;  // the last one's step
  };

  /// Of the latest judgement, to watch.
  struct Latest {
    double db = 0;
    std::optional<int64_t> right, same;
  };

  explicit State(const Problem& problem);

  size_t batch_size() const { return static_cast<size_t>(config.batch_size); }
  int64_t last_step() const { return std::min(steps, config.most_steps.value_or(steps)); }
  bool trains_softly() const {
    return config.train_rounding && config.rounding_type == config::RoundingType::kSoftQuantizer;
  }
  double rate_of_weights() const;
  double augmentation() const;
  double rate_of_scales() const;
  /// Steps after which roundings are trained, and whether the step after so many trains them.
  int64_t rounding_begin() const;
  bool learns_rounding(int64_t after) const;
  /// Whether the loss has their cross-entropy.
  bool has_labels() const { return config.label_weight > 0; }
  /// What is known of the sample; -1: nothing.
  int64_t label_of(size_t place) const { return labels.empty() ? -1 : labels[place]; }

  void take(TuneSums sums);
  void restore(std::span<const std::byte> bytes);
  /// What the judgements of the schedule alone came to: a training that goes on knows nothing of another.
  Found scheduled_found() const;
  /// Whether the state after this step is to be judged and was not.
  bool awaits_judgement() const;
  std::vector<size_t> offsets_of_step() const;
  /// As a step that trains roundings runs it, or one that does not: for its sizes.
  std::shared_ptr<const run::Program> sized_step(bool learns) const;
  /// Of what a sample and the trained inputs are given to.
  std::vector<Shape> shapes_for(const run::Program& program) const;

  config::GradientPTQConfig config;
  std::string key;
  std::vector<Shape> input_shapes;
  std::vector<int64_t> labels;  // by place
  HeldActivations holders;
  Student student;
  Teacher teacher;
  trainable::TrainableQuantizers quantizers;
  std::vector<size_t> trained_on, held;       // places among the samples
  std::vector<TrainedWeight> weights;         // by trained input; empty where it is none
  std::vector<std::vector<float>> values_of;  // the same of biases, scales and held activations
  std::vector<Adam> adam;
  std::vector<Sgd> sgd;
  std::vector<std::pair<std::string, quant::QuantizationParams>> grids;  // of trained scales, in their order
  std::vector<float> factors;                                            // by point, then of the cross-entropy
  std::vector<Tensor> soft, hard;                                        // of a step, and of a judgement
  std::shared_ptr<const run::Program> training, judging, weighing, teaching;

  Round round = Round::kWeigh;
  std::vector<Lane> lanes;
  int64_t step = 0, steps = 0, steps_per_epoch = 1, judged_at = -1;
  std::array<std::vector<size_t>, kLanes> order;  // of each lane's samples
  int64_t shuffled_for = -1;
  bool is_judged = false, is_stopped = false;
  std::string diverged;  // what the loss did, where that ended training
  double loss = 0, epoch_loss = 0, best_db = 0;
  std::optional<Best> best;
  Latest last;
  std::optional<int64_t> before_same;
  bool are_answers = false;          // the first output is scores of which the largest is the answer
  std::optional<Found> before_stop;  // where a stop has asked for a judgement that the schedule has not
  calibrate::Tuning tuning;

 private:
  void split(size_t samples);
  void start(const TrainedInput& one, const Problem& problem);
  void start_weight(const TrainedInput& one, const ptq::KernelPlan& kernel, const Problem& problem);
  void spare_memory(int64_t most);
  void compile();
  void compile_step();

  void one_lane_each(const std::vector<size_t>& places);
  void begin_weighing();
  void begin_judging();
  void begin_step();
  void shuffle(int64_t epoch);
  void next();

  void take_weights(const TuneSums& sums);
  void take_judgement(const TuneSums& sums);
  void take_step(TuneSums sums);
  ValueId wanted_of(size_t k, bool learns) const;
  std::vector<ValueId> fetched_in_step(bool learns) const;
  std::vector<float> by_factors(size_t k, std::span<const float> by) const;
  void move(size_t k, std::span<const float> by);
  void move_held(size_t k, std::span<const float> by, double left);
  void move_weight(size_t k, std::span<const float> by, double left);
  void move_own(OwnQuantizer& own, std::span<const float> by, double left);
  std::vector<Tensor> values_now(bool in_training);
  std::vector<float> weight_now(TrainedWeight& weight, bool in_training);
  Best hard_state() const;
  Found found() const;
  bool is_scheduled() const;
};

/// How often it is judged along the way: after so many steps each.
int64_t judged_every(int64_t steps);

}  // namespace tersor::tune
