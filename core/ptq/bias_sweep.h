// SPDX-License-Identifier: Apache-2.0
// Bias correction as it is measured: all samples go through the quantized graph kernel by kernel; behind each kernel
// the mean of every output channel is compared with that of the float model, the difference is added to the bias, and
// what lies behind is computed with the corrected values. So the errors of one layer are not corrected twice by the
// next. A kernel that keeps its deviation (ptq/keep_deviations.h) has the mean squares compared as well.
//
//   ptq::BiasSweep sweep(float_model, plan, statistics);
//   std::vector<ptq::SweepState> states;                  // one per sample: states.push_back(sweep.start(inputs))
//   for (size_t step = 0; step < sweep.steps(); ++step) {
//     run::Runner runner(sweep.program(step));            // one per thread
//     ptq::ChannelSums sums;                              // one per thread
//     for (state : states) sweep.advance(step, runner, state, shifts of the step before, sums);
//     shifts = sweep.shifts(step, all threads' sums added);
//   }
//
// Sums are exact, so neither the number of threads nor the order of the samples changes a bit of the result.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/calibrate/exact_sum.h"
#include "core/calibrate/statistics.h"
#include "core/graph/graph.h"
#include "core/ptq/keep_deviations.h"
#include "core/ptq/plan.h"
#include "core/run/program.h"

namespace tersor::ptq {

/// Sums of the elements of each channel over samples, and of their squares behind them where the kernel keeps its
/// deviation. Sums of parts add up.
struct ChannelSums {
  uint64_t elements = 0;  // of all channels together
  std::vector<calibrate::ExactSum> sums;

  void add(const ChannelSums& more);
};

/// What later steps need of one sample.
using SweepState = std::map<ValueId, Tensor>;

class BiasSweep {
 public:
  enum class Scope { kEveryKernel, kDeviations };  // the latter: only kernels that keep their deviation
  /// `statistics` are those of the float model: they hold the channel sums of the kernels' outputs. Kernels whose
  /// output they do not hold, or that cannot have a bias, are not corrected.
  BiasSweep(const Model& float_model, const QuantizationPlan& plan, const calibrate::Statistics& statistics,
            Scope scope = Scope::kEveryKernel);

  /// One per corrected kernel, in the order of the graph; 0 when there is nothing to correct.
  size_t steps() const { return steps_.size(); }
  /// The name of the output that the step corrects.
  const std::string& output(size_t step) const { return steps_[step].name; }
  /// Compiles the step's part of the graph.
  std::shared_ptr<const run::Program> program(size_t step) const;

  SweepState start(std::span<const Tensor> inputs) const;
  /// Adds `shifts` of the step before to the sample, runs the step and adds up its output's channels. Errors as
  /// Runner::run.
  void advance(size_t step, run::Runner& runner, SweepState& state, std::span<const double> shifts,
               ChannelSums& sums) const;
  /// Float mean minus quantized mean of each channel; where the kernel keeps its deviation, what is added to each
  /// channel and, behind all of these, what each is multiplied by first.
  std::vector<double> shifts(size_t step, const ChannelSums& quantized) const;

  /// Bytes that one sample's state takes at most, as far as the statistics know shapes.
  int64_t state_bytes() const;

 private:
  struct Step {
    size_t node = 0;  // index in model_
    std::string name;
    ValueId output;
    int channel_axis = 1;
    bool keeps_deviation = false;
    std::vector<ChannelMoments> in_float;
    std::vector<size_t> nodes;     // of the part, in the order of the graph
    std::vector<ValueId> inputs;   // made by earlier steps
    std::vector<ValueId> results;  // `output` first, then what later steps need
    std::vector<ValueId> dropped;  // not needed any more after the step
  };
  void find_steps(const QuantizationPlan& plan, const Graph& float_graph, const calibrate::Statistics& statistics,
                  Scope scope);
  void divide();
  /// Cheap to make again from what is kept anyway: a dequantized activation takes four times the memory.
  bool is_remade(const Node& node) const;

  Model model_;  // quantized
  std::vector<Step> steps_;
  std::vector<ValueId> kept_inputs_;  // graph inputs that some step reads
  std::map<ValueId, int64_t> bytes_;  // of one sample, where the statistics know the shape
};

/// The plan with the measured shifts added to its biases, and what its kernels multiply by taken up by their scales. A
/// shift that would not fit into int32 is left out.
void correct_biases(const Graph& graph, const calibrate::MeasuredShifts& measured, QuantizationPlan& plan);

}  // namespace tersor::ptq
