// SPDX-License-Identifier: Apache-2.0
// What is measured on the samples: they go through the quantized graph kernel by kernel, and what follows is
// computed with what was found before it. Before a kernel its weight is rounded by its quantized inputs
// (ptq/round_weights.h), or first of all where several kernels have it, by the inputs of all; after it the mean of
// every output channel is compared with that of the float model and the difference is added to the bias, or the means
// of what the function after it makes of it (ptq/summed_output.h). So the errors of one layer are not corrected twice
// by the next. A kernel that keeps its deviation (ptq/keep_deviations.h) has the mean squares compared as well.
//
//   ptq::Sweep sweep(float_model, plan, statistics, options);
//   ptq::SweepStart start(sweep, sweep.float_program());  // one per thread
//   std::vector<ptq::SweepState> states;                  // one per sample of sweep.places(): start(inputs), in step 0
//   for (size_t step = 0; step < sweep.steps(); ++step) {
//     const auto program = sweep.program(step);
//     ptq::SweepRunner runner(sweep, step, program);      // one per thread, with sums of its own
//     for (place : places) runner.advance(place, states[place]);
//     sweep.take(step, sweep.outcome(step, all threads' runner.sums() added));
//   }
//
// Sums are exact, so neither the number of threads nor the order of the samples changes a bit of the result.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/calibrate/statistics.h"
#include "core/graph/graph.h"
#include "core/graph/uses.h"
#include "core/sweep/gram.h"
#include "core/correct/keep_deviations.h"
#include "core/decide/plan.h"
#include "core/sweep/summed_output.h"
#include "core/run/program.h"

namespace tersor::ptq {

/// What one step's samples add up to: the inputs' matrices where it rounds, the outputs' channels where it corrects.
struct SweepSums {
  GramSums inputs;
  ChannelSums outputs;
  /// Of the same samples in the float model; empty where all calibrated ones take part, whose sums the statistics hold.
  ChannelSums in_float;

  void add(SweepSums more);
};

/// What a step came to. Neither: nothing to gain.
struct SweepOutcome {
  std::optional<calibrate::RoundedWeight> weight;
  /// Float mean minus quantized mean of each channel; where the kernel keeps its deviation, what is added to each
  /// channel and, after all of these, what each is multiplied by first.
  std::vector<double> shifts;
};

/// What later steps need of one sample.
struct SweepState {
  std::map<ValueId, run::LaidTensor> values;
  /// By step: what its kernel's output adds to SweepSums::in_float; empty where that is.
  std::vector<ChannelSums> in_float;
};

struct SweepOptions {
  int effort = 0;                       // 1, 2: as round_weight() has it; 0 rounds no weight
  bool deviations_only = false;         // corrects those kernels alone that keep their deviation
  int64_t memory = int64_t{512} << 20;  // bytes that the states of all samples that take part may have
  size_t most_samples = std::numeric_limits<size_t>::max();  // that take part
  std::vector<size_t> left_out = {};                         // places of samples that do not; ascending
};

/// What one step's runners run.
struct SweepProgram {
  std::shared_ptr<const run::Program> part;    // the step's part of the graph
  std::shared_ptr<const run::Program> before;  // makes the output of the step before again; null where it was kept
};

class SweepRunner;
class SweepStart;

class Sweep {
 public:
  /// `statistics` are those of the float model: they hold the channel sums of the kernels' outputs. Not corrected are
  /// kernels whose output they do not hold, or that cannot have a bias; not rounded are weights whose input is
  /// quantized to other than 8 bits, that are an embedding's as well, that are read transposed, or by a table whose
  /// entries have more than 8 bits.
  Sweep(const Model& float_model, const QuantizationPlan& plan, const calibrate::Statistics& statistics,
        const SweepOptions& options);

  /// Two per kernel at most, in the order of the graph; 0 when there is nothing to do.
  size_t steps() const { return steps_.size(); }
  /// The name of the output that the step corrects; empty for one that rounds.
  const std::string& output(size_t step) const { return steps_[step].name; }
  /// Which of the calibrated samples take part, as places among them: all, or so many, spread evenly, as memory allows.
  const std::vector<size_t>& places() const { return places_; }
  /// Compiles the float model, where some of the calibrated samples do not take part; else null.
  std::shared_ptr<const run::Program> float_program() const;
  /// Compiles the step's part of the graph.
  SweepProgram program(size_t step) const;
  SweepOutcome outcome(size_t step, const SweepSums& sums) const;
  /// Goes on with what the step came to. All that hold a part of the samples take the same.
  void take(size_t step, const SweepOutcome& outcome);

  /// Bytes that one sample's state takes at most, as far as the statistics know shapes.
  int64_t state_bytes() const;

 private:
  friend class SweepRunner;
  friend class SweepStart;

  /// A kernel whose weight is to be rounded.
  struct Rounding {
    std::string name;  // of the weight
    Tensor weight;
    KernelPlan plan;
    GramKernel gram;
    ValueId codes, scale;  // of the weight, in model_
    /// Of a weight that several kernels have: the zero points of their inputs, whose matrices are summed as they are
    /// counted, in steps of each input. Empty elsewhere.
    std::vector<int32_t> zero_points = {};

    bool is_shared() const { return !zero_points.empty(); }
  };
  struct Step {
    std::optional<size_t> node;  // index in model_: up to there; none where `output` is there already
    std::string name;
    ValueId in_float_value;  // the kernel's output in the float model
    ValueId output;          // the kernel's, or its input where the step rounds
    std::optional<Rounding> rounding;
    SummedOutput summed;
    std::vector<ChannelMoments> in_float;
    std::vector<ValueId> inputs;  // made by earlier steps
    /// `output` first, then what later steps need; none where `output` is there already. Of a shared weight the inputs
    /// of all its kernels, which no step keeps.
    std::vector<ValueId> results;
    bool keeps_output = false;  // a later step needs it too
    /// Where only the next step needs the output: from these, which are kept, it is made again there. As floats it
    /// would take four times the memory of the integers before its kernel, in all samples at once.
    std::vector<ValueId> remade_from;
    std::vector<ValueId> dropped;  // not needed any more after the step
  };
  struct Origin {
    const Model& model;  // in float
    const Uses uses;
    const QuantizationPlan& plan;
    const calibrate::Statistics& statistics;
  };
  void find_steps(const Origin& from);
  void find_curves(const Origin& from);
  /// Of weights that several kernels have, before all other steps: the inputs of all those kernels at once, with
  /// the nearest integers everywhere.
  void add_shared_roundings(const Origin& from, const Uses& uses);
  std::optional<Step> rounding_step(const Origin& from, const KernelPlan& kernel, size_t node, const Uses& uses) const;
  /// Of a kernel whose input stays float.
  std::optional<Step> float_rounding_step(const Origin& from, const KernelPlan& kernel, size_t node,
                                          const Uses& uses) const;
  std::optional<Step> correcting_step(const Origin& from, const KernelPlan& kernel, size_t node) const;
  static std::vector<double> shifts(const Step& step, const SweepSums& sums);
  void choose_places(const Model& float_model, size_t calibrated);
  void divide(bool soon);
  std::vector<size_t> quantizers_after(ValueId value) const;
  void remake_outputs();
  std::vector<ValueId> sources_of(const Step& step) const;
  void measure_bytes(const calibrate::Statistics& statistics);
  /// Cheap to make again from what is kept anyway: a dequantized activation takes four times the memory.
  bool is_remade(const Node& node) const;
  /// The initializers of a kernel's codes and scales in model_.
  std::optional<std::pair<ValueId, ValueId>> stored_weight(const Uses& uses, const Node& node,
                                                           const KernelPlan& kernel) const;

  SweepOptions options_;
  Model model_;  // quantized; its initializers change, its nodes stay
  std::shared_ptr<const Uses> uses_;
  std::vector<Step> steps_;
  std::vector<double> shifts_;        // of the step before the next
  std::vector<ValueId> kept_inputs_;  // graph inputs that some step reads
  std::map<ValueId, int64_t> bytes_;  // of one sample, where the statistics know the shape
  std::vector<size_t> places_;
  std::optional<Model> float_model_;  // where not all samples take part
};

/// What SweepOutcome::shifts says of a kernel that keeps its deviation.
std::vector<ChannelMap> maps_of(std::span<const double> shifts);

/// The plan with the measured shifts added to its biases, and what its kernels multiply by taken up by their scales. A
/// shift that would not fit into int32 is left out.
void correct_biases(const Graph& graph, const calibrate::MeasuredShifts& measured, QuantizationPlan& plan);

}  // namespace tersor::ptq
