// SPDX-License-Identifier: Apache-2.0
// The range that a model's values have in samples, which decides what may be float16.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>

#include "core/graph/graph.h"
#include "core/run/program.h"

namespace tersor {

/// The greatest magnitude of each float tensor, by name; infinity where one was not finite.
using Largest = std::map<std::string, float>;

/// Runs the model and shows every float tensor that is not constant.
std::shared_ptr<const run::Program> largest_values_program(const Model& model);

/// What one thread or worker has seen. Merged in any order and grouping it gives the same numbers.
class LargestValues {
 public:
  /// `program`: of that function and of this model, which outlives it.
  LargestValues(std::shared_ptr<const run::Program> program, const Model& model);

  /// Errors as in run::Runner::run().
  void add(std::span<const Tensor> inputs);
  void merge(const Largest& other);
  const Largest& values() const { return largest_; }

 private:
  const Graph& graph_;
  run::Runner runner_;
  Largest largest_;
};

}  // namespace tersor
