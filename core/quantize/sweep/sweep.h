// SPDX-License-Identifier: Apache-2.0
// Measures biases and rounds weights on the samples, which pass through the quantized graph kernel by kernel.
//
// In front of a kernel its weight is rounded by its quantized inputs (sweep/round_weights.h). A weight that several
// kernels share is rounded first of all, by the inputs of all of them. Behind the kernel, the mean of each output
// channel is compared with that of the float model, and the difference is added to the bias. Where a function follows,
// the means of its results are compared (sweep/summed_output.h). A kernel that keeps its deviation
// (correct/keep_deviations.h) has its mean squares compared as well. Each step runs with the results of the steps
// before it, so a layer does not correct the errors of an earlier layer again.
//
//   ptq::Sweep sweep(float_model, plan, statistics, options);
//   ptq::SweepStart start(sweep, sweep.float_program());  // one per thread
//   std::vector<ptq::SweepState> states;                  // one per sample of sweep.places(): start(inputs), in step 0
//   for (size_t step = 0; step < sweep.steps(); ++step) {
//     const auto program = sweep.program(step);
//     ptq::SweepRunner runner(sweep, step, program);      // one per thread; has its own sums
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

#include "core/calibrate/statistics_bytes.h"
#include "core/correct/keep_deviations.h"
#include "core/decide/plan.h"
#include "core/graph/graph.h"
#include "core/graph/uses.h"
#include "core/run/program.h"
#include "core/sweep/gram.h"
#include "core/sweep/summed_output.h"

namespace tersor::ptq {

/// The sums of a step over samples: the Gram matrices of the inputs if it rounds, the channels of the outputs if it
/// corrects.
struct SweepSums {
  GramSums inputs;
  ChannelSums outputs;
  /// The same sums of the float model; empty if all calibrated samples take part, because the statistics then hold
  /// them.
  ChannelSums in_float;

  static constexpr auto fields() { return members(&SweepSums::inputs, &SweepSums::outputs, &SweepSums::in_float); }
  void add(SweepSums more);
};

/// The result of a step: a rounded weight, or shifts, or neither if nothing improves the kernel.
struct SweepOutcome {
  std::optional<calibrate::RoundedWeight> weight;
  /// Float mean minus quantized mean of each channel, to be added to the channel. If the kernel keeps its deviation,
  /// twice as many entries: first the addend of each channel, then the factor that the channel is multiplied by first
  /// (see maps_of()).
  std::vector<double> shifts;

  static constexpr auto fields() { return members(&SweepOutcome::weight, &SweepOutcome::shifts); }
};

/// The values of a sample that later steps need.
struct SweepState {
  std::map<ValueId, run::LaidTensor> values;
  /// For each step, the sample's part of SweepSums::in_float; empty if that is empty.
  std::vector<ChannelSums> in_float;
};

/// What a sweep does, and on how many samples.
struct SweepOptions {
  int effort = 0;                                            // 1 or 2 as in round_weight(); 0 rounds no weight
  bool deviations_only = false;                              // corrects only the kernels that keep their deviation
  int64_t memory = int64_t{512} << 20;                       // maximum bytes of the states of all samples together
  size_t most_samples = std::numeric_limits<size_t>::max();  // maximum number of samples that take part
  std::vector<size_t> left_out = {};                         // places of samples that do not take part; ascending
};

/// The programs that the runners of a step run.
struct SweepProgram {
  std::shared_ptr<const run::Program> part;    // the part of the graph that belongs to the step
  std::shared_ptr<const run::Program> before;  // recomputes the output of the previous step; null if that was kept
};

class SweepRunner;
class SweepStart;

/// The steps of a sweep over one plan, and the results so far.
class Sweep {
 public:
  /// `statistics` are those of the float model and hold the channel sums of the kernels' outputs. A kernel is not
  /// corrected if its sums are missing or if it cannot have a bias. A weight is not rounded in four cases: its input is
  /// quantized to other than 8 bits, it is also an embedding's, it is read transposed, or it has a table whose entries
  /// have more than 8 bits.
  Sweep(const Model& float_model, const QuantizationPlan& plan, const calibrate::Statistics& statistics,
        const SweepOptions& options);

  /// The number of steps, at most two per kernel, in the order of the graph; 0 if there is nothing to do.
  size_t steps() const { return steps_.size(); }
  /// The name of the output that the step corrects; empty for a step that rounds.
  const std::string& output(size_t step) const { return steps_[step].name; }
  /// Which of the calibrated samples take part, as indices: all, or as many as memory allows, evenly spread.
  const std::vector<size_t>& places() const { return places_; }
  /// Compiles the float model if some of the calibrated samples do not take part; else returns null.
  std::shared_ptr<const run::Program> float_program() const;
  /// Compiles the part of the graph that belongs to the step.
  SweepProgram program(size_t step) const;
  /// Computes the result of a step from the sums of all samples that take part.
  SweepOutcome outcome(size_t step, const SweepSums& sums) const;
  /// Applies the result of a step. All workers and processes that hold samples must take the same results.
  void take(size_t step, const SweepOutcome& outcome);

  /// An upper bound in bytes for the state of a sample, as far as the statistics know shapes.
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
    /// For a weight that several kernels share: the zero points of their inputs. Their matrices are summed as counted,
    /// in units of each input's scale. Otherwise empty.
    std::vector<int32_t> zero_points = {};

    bool is_shared() const { return !zero_points.empty(); }
  };
  struct Step {
    std::optional<size_t> node;  // index in model_ of the last node to run; none if `output` is already computed
    std::string name;
    ValueId in_float_value;  // the kernel's output in the float model
    ValueId output;          // the kernel's output, or its input if the step rounds
    std::optional<Rounding> rounding;
    SummedOutput summed;
    std::vector<ChannelMoments> in_float;
    std::vector<ValueId> inputs;  // computed by earlier steps
    /// `output`, then the values that later steps need; none if `output` is already computed. For a shared weight, the
    /// inputs of all its kernels, which no step keeps.
    std::vector<ValueId> results;
    bool keeps_output = false;  // a later step needs `output` too
    /// The kept values from which the next step recomputes `output`, if only that step needs it. Stored as floats, in
    /// all samples at once, `output` would take four times the memory of the integers in front of its kernel.
    std::vector<ValueId> remade_from;
    std::vector<ValueId> dropped;  // values that no later step needs
  };
  struct Origin {
    const Model& model;  // the float model
    const Uses uses;
    const QuantizationPlan& plan;
    const calibrate::Statistics& statistics;
  };
  void find_steps(const Origin& from);
  void find_curves(const Origin& from);
  /// Adds the steps for weights that several kernels share, in front of all other steps. They take the inputs of all
  /// those kernels at once, with the nearest integers everywhere.
  void add_shared_roundings(const Origin& from, const Uses& uses);
  std::optional<Step> rounding_step(const Origin& from, const KernelPlan& kernel, size_t node, const Uses& uses) const;
  /// For a kernel whose input stays float.
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
  /// True if recomputing the node is cheap: a dequantized activation would take four times the memory.
  bool is_remade(const Node& node) const;
  /// The initializers of a kernel's codes and scales in model_.
  std::optional<std::pair<ValueId, ValueId>> stored_weight(const Uses& uses, const Node& node,
                                                           const KernelPlan& kernel) const;

  SweepOptions options_;
  Model model_;  // quantized; its initializers change, its nodes stay
  std::shared_ptr<const Uses> uses_;
  std::vector<Step> steps_;
  std::vector<double> shifts_;        // of the last step taken
  std::vector<ValueId> kept_inputs_;  // graph inputs that some step reads
  std::map<ValueId, int64_t> bytes_;  // of one sample, where the statistics know the shape
  std::vector<size_t> places_;
  std::optional<Model> float_model_;  // set if not all samples take part
};

/// Converts SweepOutcome::shifts of a kernel that keeps its deviation into gain and shift of each channel.
std::vector<ChannelMap> maps_of(std::span<const double> shifts);

/// Adds the measured shifts to the biases of the plan; where a kernel keeps its deviation, multiplies its scales by the
/// gains. Leaves out a shift whose bias would not fit into int32.
void correct_biases(const Graph& graph, const calibrate::MeasuredShifts& measured, QuantizationPlan& plan);

}  // namespace tersor::ptq
