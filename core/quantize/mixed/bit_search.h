// SPDX-License-Identifier: Apache-2.0
// Chooses for each operator one of its candidate configurations, within budgets. The sensitivity of a candidate is
// measured: that operator alone is quantized by it, everything else stays float, and the model's tensors are compared
// with the float model's at the interest points and at the outputs. Operators are taken in the order of the graph; what
// the float model gives before one is kept, so that each candidate runs from its operator on.
//
//   mixed::BitSearch search(problem, operators);
//   std::vector<mixed::SearchState> states;               // one for each sample: {inputs}
//   for (size_t step = 0; step < search.steps(); ++step) {
//     const auto program = search.program(step);
//     mixed::SearchRunner runner(search, step, program);  // one per thread
//     for (k : samples) distances[k] = runner.advance(states[k]);
//     search.take(step, mean of the distances over the samples);
//   }
//   choose_configuration(..., search.sensitivities(), ...);
//
// Source: the sensitivity metric and the integer program of MCT's mixed precision, with exact choices
// (mixed/choose_bits.h) and refinement by gain for a byte (mixed/refine_choice.h).
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "core/calibrate/statistics.h"
#include "core/config/quantization_config.h"
#include "core/decide/find_front_ends.h"
#include "core/decide/plan.h"
#include "core/framework/attach.h"
#include "core/graph/graph.h"
#include "core/graph/uses.h"
#include "core/mixed/choose_configuration.h"
#include "core/mixed/configurable.h"
#include "core/mixed/hessian_scores.h"
#include "core/run/program.h"

namespace tersor::mixed {

/// What a search is about: the prepared float model and what settings and platform make of it. Must outlive the search.
struct SearchProblem {
  const Model& model;
  const framework::Attachment& attachment;
  const std::vector<ptq::FloatChoice>& in_float;
  const calibrate::Statistics& statistics;
  const config::QuantizationConfig& config;
};

struct SearchState {
  std::map<ValueId, Tensor> values;  // of the float model, that what follows is made of
};

/// What one step's runners run.
struct SearchProgram {
  std::vector<ValueId> inputs;                                    // of `before`
  std::vector<ValueId> kept;                                      // what `before` adds to the state
  std::vector<ValueId> dropped;                                   // of the state, after `before`
  std::shared_ptr<const run::Program> before;                     // null where the state has all
  std::vector<ValueId> cut;                                       // inputs of the following
  std::shared_ptr<const run::Program> in_float;                   // gives the points
  std::vector<std::shared_ptr<const run::Program>> by_candidate;  // null where the candidate changes nothing
  bool scores = false;                                            // of the points are wanted too (HESSIAN)
};

class BitSearch {
 public:
  /// `operators`: configurable_operators() of the problem.
  BitSearch(const SearchProblem& problem, std::vector<Configurable> operators);

  const std::vector<Configurable>& operators() const { return operators_; }
  size_t steps() const { return operators_.size(); }
  SearchProgram program(size_t step) const;
  /// Numbers that a runner gives for one sample: of each candidate, the distance at each point and then at each output;
  /// after those of the first step with HESSIAN weighting, the score of each point.
  size_t distances(size_t step) const;
  /// `means`: over the samples, as runners give them.
  void take(size_t step, const std::vector<double>& means);
  const Sensitivities& sensitivities() const { return sensitivities_; }

 private:
  friend class SearchRunner;
  /// A value that tensors are compared at.
  struct Point {
    ValueId value;
    config::MpDistance distance = config::MpDistance::kNormalizedMse;
    size_t maker = 0;     // index of the node
    ValueId output = {};  // of the model, which it stands for; invalid elsewhere
  };
  void find_points();
  std::vector<Point> points_after(size_t node) const;
  ptq::QuantizationPlan plan_of(const Configurable& one, size_t candidate) const;
  std::vector<ValueId> cut_at(size_t node) const;
  std::unique_ptr<HessianScores> scores_for(const std::vector<Tensor>& inputs) const;

  const SearchProblem problem_;
  std::shared_ptr<const Uses> uses_;
  std::vector<Configurable> operators_;
  /// Every operator with its k-th candidate, or its last.
  std::vector<ptq::QuantizationPlan> plans_;
  std::vector<Point> points_;   // in the order of the graph
  std::vector<Point> outputs_;  // what stands before a Softmax at the end, or the outputs themselves
  std::vector<bool> needed_;    // by node: points or outputs are made of it
  bool by_hessian_ = false;
  std::vector<double> scores_;  // of the points, for HESSIAN
  Sensitivities sensitivities_;
};

/// Takes samples through one step; for one thread. The search must outlive it.
class SearchRunner {
 public:
  SearchRunner(const BitSearch& search, size_t step, const SearchProgram& program);
  /// Errors as Runner::run.
  std::vector<double> advance(SearchState& state);

 private:
  std::vector<double> distances(const std::vector<Tensor>& x, const std::vector<Tensor>& y) const;

  const BitSearch& search_;
  const SearchProgram& program_;
  std::unique_ptr<HessianScores> scores_;  // made with the first sample
  std::vector<config::MpDistance> kinds_;
  std::optional<run::Runner> before_;
  run::Runner in_float_;
  std::vector<std::optional<run::Runner>> by_candidate_;
};

}  // namespace tersor::mixed
