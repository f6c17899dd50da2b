// SPDX-License-Identifier: Apache-2.0
// How much the outputs of a model feel a change of a tensor inside it. Source: the activation scores of MCT: with v
// random signs, the sum over the tensor of (d(sum of v * outputs) / d(element))^2.
#pragma once

#include <optional>
#include <vector>

#include "core/graph/graph.h"
#include "core/run/program.h"

namespace tersor::mixed {

/// For one thread.
class HessianScores {
 public:
  /// `points` and `outputs` are values of the model; outputs that are no float32 are left out. `shapes`: of the inputs
  /// of every sample to come. Errors of Program::compile.
  HessianScores(const Model& model, const std::vector<ValueId>& points, const std::vector<ValueId>& outputs,
                const std::vector<Shape>& shapes);

  /// Of each point, in parts of their sum (to which 1e-8 is added), the mean over some random signs, which are the same
  /// for every sample; 0 where gradients do not reach the point. Errors as Runner::run.
  std::vector<double> of(const std::vector<Tensor>& inputs);

 private:
  std::vector<bool> reached_;  // by point
  std::optional<run::Runner> outputs_, gradients_;
};

}  // namespace tersor::mixed
