// SPDX-License-Identifier: Apache-2.0
// Small float models for the tests of passes, and the check that a rewrite keeps what a model computes.
#pragma once

#include <map>
#include <random>
#include <string>
#include <vector>

#include "core/graph/graph.h"

namespace tersor::test {

/// Builds a model of opset 13 line by line; values are named, weights are seeded random numbers.
class NamedModel {
 public:
  explicit NamedModel(uint32_t seed = 1);

  NamedModel& input(const std::string& name, std::vector<int64_t> dims);
  NamedModel& weight(const std::string& name, std::vector<int64_t> dims, float low = -1, float high = 1);
  NamedModel& constant(const std::string& name, Tensor tensor);
  /// Multiplies what lies at place c of the constant's axis by factor^c.
  NamedModel& scale_along(const std::string& name, int axis, double factor);
  /// A node named after its first output.
  NamedModel& node(const std::string& type, std::vector<std::string> inputs, std::vector<std::string> outputs,
                   std::map<std::string, Attribute> attributes = {});
  NamedModel& output(const std::string& name);
  Model build() const { return model_; }

 private:
  ValueId value(const std::string& name);
  Model model_;
  std::mt19937 random_;
};

/// Random inputs for the declared shapes (free dimensions are 1), the same for the same seed.
std::vector<Tensor> random_inputs(const Model& model, uint32_t seed = 5);

/// The largest difference of the two models' outputs on the same inputs, in parts of the range of the first's.
double relative_difference(const Model& before, const Model& after, const std::vector<Tensor>& inputs);

/// Operator types in order, joined by spaces.
std::string types_of(const Model& model);

}  // namespace tersor::test
