// SPDX-License-Identifier: Apache-2.0
// Trains a quantized model on the samples, towards the float one: the rounding of weights, biases, and the scales of
// activations. The loss compares both at the output of every kernel, before it is quantized, and at the model's
// outputs; gradients are those of core/gradient, quantizers those of core/trainable. Source: MCT's gradient-based
// post-training quantization, with the parts of AdaRound (Nagel et al. 2020) and LSQ (Esser et al. 2020) that it is
// made of; it starts from the integers and biases that the default has found.
//
// With labels the loss has their cross-entropy too.
//
// A part of the samples is held aside: what training came to is kept only where it is better there, of the states that
// were tried along the way the best: by the SQNR of the outputs, with labels by the cross-entropy. It goes in rounds:
//
//   tune::Tuner tuner(problem);
//   std::vector<tune::TuneRunner> runners;                 // one per thread
//   while (!tuner.done()) {
//     for (lane : tuner.lanes()) runners[thread].run(lane, inputs_of);  // the lanes on any threads, in any order
//     tuner.take(all runners' sums() added);
//   }
//   calibrate::TunedModel result = tuner.result();
//
// Each lane adds up its samples in order, and lanes are added in order, so neither the number of threads nor of workers
// changes a bit. Workers that share no memory have a tuner each, and all take the same sums.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "core/base/byte_stream.h"
#include "core/base/fields.h"
#include "core/calibrate/statistics_bytes.h"
#include "core/config/gradient_ptq_config.h"
#include "core/decide/plan.h"
#include "core/graph/graph.h"
#include "core/trainable/trainable_quantizers.h"

namespace tersor::tune {

/// Of a gradient step; more threads than these find nothing to do. A sample's place modulo this is its lane, so that
/// workers, of which as many as divide this number are used, may each have the samples of their lanes alone.
inline constexpr size_t kLanes = 4;

/// Places among so many calibrated samples that are held aside, ascending: an eighth, 8 to 64, spread evenly; none of
/// fewer than 16.
std::vector<size_t> held_places(size_t samples);

struct Problem {
  static constexpr int64_t kMemory = int64_t{1} << 30;
  const Model& model;                 // float, as the plan is for; not needed after construction
  const ptq::QuantizationPlan& plan;  // with rounded weights and corrected biases; the same
  config::GradientPTQConfig config;
  std::string key;                  // what Tuning::plan is to be
  std::string labels_digest;        // and Tuning::labels
  std::vector<Shape> input_shapes;  // of a sample
  size_t samples = 0;               // calibrated
  std::vector<int64_t> labels;      // of each of these; above a label_weight of 0 needed, else none will do
  /// Bytes of a runner beyond which activations are computed again by block, in the place of being kept.
  int64_t memory = kMemory;
  /// By kernel the class that trains its weight, and by activation the class that trains its range, in the place of
  /// what the configuration says; and where the classes are.
  std::map<NodeId, std::string> own = {};
  std::map<ValueId, std::string> own_activations = {};
  const trainable::TrainableQuantizers* classes = nullptr;  // null: those that come with Tersor
};

/// The inputs of the sample at that place.
using InputsOf = std::function<std::vector<Tensor>(size_t place)>;

/// Samples that go through one runner, in order.
struct Lane {
  size_t index = 0;
  std::vector<size_t> places;  // among the calibrated samples
};

/// What a lane adds up to.
struct LaneSums {
  size_t lane = 0;
  std::vector<float> gradients;  // of all variables, one after another
  double loss = 0;
  std::vector<double> by_point;       // a round that weighs: of each point, scores and squares
  std::vector<double> signal, noise;  // a round that judges: by output
  double cross_entropy = 0;           // the same with a label_weight: sum of the samples
  bool has_answers = false;           // whether the first output is scores of one answer each
  int64_t right = 0, same = 0;        // and how many of these are right, and those of the float model

  static constexpr auto fields() {
    using L = LaneSums;
    return members(&L::lane, &L::gradients, &L::loss, &L::by_point, &L::signal, &L::noise, &L::cross_entropy,
                   &L::has_answers, &L::right, &L::same);
  }
};

struct TuneSums {
  std::vector<LaneSums> lanes;  // in any order

  static constexpr auto fields() { return members(&TuneSums::lanes); }
  void add(TuneSums more);
};

struct TuneProgress {
  int64_t step = 0, steps = 0;
  double loss = 0;
  double before_db = 0, best_db = 0, last_db = 0;
  std::optional<int64_t> before_right, best_right, last_right;
  std::optional<int64_t> before_same, last_same;
  int64_t held = 0;

  static constexpr auto fields() {
    using P = TuneProgress;
    return std::make_tuple(
        field("step", &P::step, "Gradient steps taken."), field("steps", &P::steps, "Of the whole schedule."),
        field("loss", &P::loss, "Mean of the samples of the last step."),
        field("before_db", &P::before_db, "SQNR of the outputs on the samples held aside, before training."),
        field("best_db", &P::best_db, "Of the best state."), field("last_db", &P::last_db, "At the latest judgement."),
        field("before_right", &P::before_right, "Right answers there before training; null without labels."),
        field("best_right", &P::best_right, "Of the best state."),
        field("last_right", &P::last_right, "At the latest judgement."),
        field("before_same", &P::before_same,
              "The float model's answers there before training; null where outputs are no scores."),
        field("last_same", &P::last_same, "At the latest judgement."),
        field("held", &P::held, "How many samples are held aside."));
  }
};

class Tuner {
 public:
  /// Error kUnsupportedModel where nothing can be trained, saying why; kInvalidSamples where there are too few samples.
  explicit Tuner(const Problem& problem);
  ~Tuner();

  bool done() const;
  /// Of this round.
  const std::vector<Lane>& lanes() const;
  /// Ends the round. Error kInvalidSamples where a loss is not finite and nothing was trained before.
  void take(TuneSums sums);
  /// No gradient step follows; what there is is judged and done() is near.
  void stop();

  TuneProgress progress() const;
  int64_t steps_per_epoch() const;
  /// As many as there are where nobody stops training.
  int64_t rounds() const;
  /// Bytes that one runner takes at most, the samples and the constants aside; 0 where that cannot be known before the
  /// run.
  int64_t bytes_per_runner() const;
  /// How much longer the mean gradient step takes than the first ones, which may train less: by their
  /// multiply-accumulate operations, 1 or more.
  double work_of_mean_step() const;
  calibrate::TunedModel result() const;

  /// Where training stands, between two rounds: goes on with restore() to the same bytes as without the break, where it
  /// was stopped too.
  ByteBuffer checkpoint() const;
  /// Error kMismatch for another problem's, naming the settings that differ, kInvalidArgument for bytes that are none
  /// or of another version.
  void restore(std::span<const std::byte> bytes);

 private:
  friend class TuneRunner;
  struct State;
  std::unique_ptr<State> state_;
};

/// What n_epochs was when this checkpoint was written, which a budget in minutes does not say. Errors as
/// Tuner::restore().
int epochs_of_checkpoint(std::span<const std::byte> bytes);

/// Takes samples through rounds; for one thread, for as long as the tuner lives.
class TuneRunner {
 public:
  explicit TuneRunner(const Tuner& tuner);
  ~TuneRunner();
  TuneRunner(TuneRunner&&) noexcept;

  /// `inputs_of` is asked for samples of the lane, and for others of `place` modulo kLanes where samples are mixed.
  /// Errors of it, and as Runner::run; kInvalidLabels where a label is no class of the output.
  void run(const Lane& lane, const InputsOf& inputs_of);
  /// Of the lanes of this round so far, once.
  TuneSums sums();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The plan with what was trained in it. Error kMismatch where it does not fit.
void take_tuned(const Graph& graph, const calibrate::TunedModel& tuned, ptq::QuantizationPlan& plan);

}  // namespace tersor::tune
