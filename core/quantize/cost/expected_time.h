// SPDX-License-Identifier: Apache-2.0
// How long the runtime is expected to take for one sample, from the prices of the operators that it runs: those of the
// graph as its optimizer leaves it, and the changes of layout around convolutions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/graph/graph.h"
#include "core/tpc/price_list.h"

namespace tersor::cost {

/// Milliseconds. `model` is a float model or a file with QuantizeLinear and DequantizeLinear, and is valid. None where
/// shapes cannot be known before the samples.
std::optional<double> expected_milliseconds(const Model& model, const tpc::PriceList& prices);

/// The operators of which no price has been measured, in the graph's order, if they read and write more than a tenth of
/// all values. A forecast would be a guess then.
std::vector<std::string> unpriced_operators(const Model& model, const tpc::PriceList& prices);

/// What one node of a graph takes as the runtime's optimizer leaves it.
struct NodeTime {
  /// With the changes of layout of what it makes. 0 where it is not run: computed when the model is loaded, or with the
  /// node before it.
  double milliseconds = 0;
  bool is_joined = false;  // the runtime computes it with the node before it
};

/// One per node of as_run(model), in its order; they and the changes of layout of the inputs add up to
/// expected_milliseconds(). Empty where shapes cannot be known before the samples.
std::vector<NodeTime> times_by_node(const Model& run, const tpc::PriceList& prices);

/// The model as the runtime's optimizer leaves it: a file with quantizers with integer operators in their place.
Model as_run(const Model& model);

}  // namespace tersor::cost
