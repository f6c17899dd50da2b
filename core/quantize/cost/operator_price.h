// SPDX-License-Identifier: Apache-2.0
// What single operators of a graph cost in the runtime: the work that a node does, from its shapes, times the price of
// its operator.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/cost/value_types.h"
#include "core/graph/graph.h"
#include "core/tpc/price_list.h"

namespace tersor::cost {

/// What a node does, in the units of tpc::Price.
struct Work {
  double inputs = 0, outputs = 0, products = 0, columns = 0, weights = 0, places = 0, tails = 0, cold_weights = 0;
};

/// Nodes of one graph, float or with the runtime's integer operators. The graph, its types and the prices outlive this.
class OperatorPrices {
 public:
  OperatorPrices(const tpc::PriceList& prices, const Graph& graph, const ValueTypes& types);

  /// Nanoseconds of the node as it stands.
  double of(const Node& node) const;
  /// Of a float node, as the integer operator that the runtime makes of it between quantizers.
  double in_integers(const Node& node) const;
  double quantizing(ValueId value) const;
  double dequantizing(ValueId value) const;
  /// What quantizing the float result of `node` takes on top, where the runtime moves the QuantizeLinear before
  /// it.
  double quantizing_before(const Node& node) const;
  /// Of changing the order of the value's axes in memory, which runtimes do around convolutions.
  double turning(ValueId value, bool is_integer) const;
  /// Of restoring a constant of that many elements from its integers in each run.
  double restoring(double elements) const;

  /// What the node is called where no price of its kind has been measured and that of an operator which is not like it
  /// stands in; else empty.
  std::string guessed(const Node& node) const;

  /// Of an activation; 0 where the shape is not known, and of what the runtime computes when it opens the file.
  double elements(ValueId value) const;
  int rank(ValueId value) const;
  /// The value has four axes and more than one place in the last two.
  bool is_picture(ValueId value) const;

 private:
  double priced(const std::string& name, const Work& work) const;
  /// `bytes`: of all weights that are read in a run.
  Work work_of(const Node& node, double bytes) const;
  std::string name_of(const Node& node) const;
  std::string kind_of_conv(const Node& node) const;
  /// "/line" along one axis, "/dilated", or "": kernels of their own in the runtime.
  std::string_view form_of_conv(const Node& node) const;
  /// The price of the Conv as an operator of that type: of its kind and form, or of its kind where there is none.
  std::string name_of_conv(const Node& node, const std::string& type) const;
  ValueId weight_of(const Node& node) const;
  /// Of an initializer, or of what the runtime folds into one; null of anything else.
  const Shape* constant_shape(ValueId value) const;

  /// Whether it is a constant or restored from its integers in each run.
  const Shape* conv_weight_shape(const Node& node) const;

  const tpc::PriceList& prices_;
  const Graph& graph_;
  const ValueTypes& types_;
  std::vector<bool> folded_;  // folded_values()
  double weight_bytes_ = 0;   // of all constants of the graph
};

}  // namespace tersor::cost
