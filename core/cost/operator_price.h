// SPDX-License-Identifier: Apache-2.0
// What single operators of a graph cost in the runtime: the work that a node does, from its shapes, times the price of
// its operator.
#pragma once

#include <string>

#include "core/cost/value_types.h"
#include "core/graph/graph.h"
#include "core/tpc/price_list.h"

namespace tersor::cost {

/// What a node does, in the units of tpc::Price.
struct Work {
  double inputs = 0, outputs = 0, products = 0, columns = 0, weights = 0, places = 0, tails = 0;
};

/// Nodes of one graph, float or with the runtime's integer operators. The graph, its types and the prices outlive this.
class OperatorPrices {
 public:
  OperatorPrices(const tpc::PriceList& prices, const Graph& graph, const ValueTypes& types)
      : prices_(prices), graph_(graph), types_(types) {}

  /// Nanoseconds of the node as it stands.
  double of(const Node& node) const;
  /// Of a float node, as the integer operator that the runtime makes of it between quantizers.
  double in_integers(const Node& node) const;
  double quantizing(ValueId value) const;
  double dequantizing(ValueId value) const;
  /// What quantizing the float result of `node` takes on top, where the runtime moves the QuantizeLinear in front of
  /// it.
  double quantizing_before(const Node& node) const;
  /// Of changing the order of the value's axes in memory, which runtimes do around convolutions.
  double turning(ValueId value, bool is_integer) const;
  /// Of restoring a constant of that many elements from its integers in each run.
  double restoring(double elements) const;

  /// Of an activation; 0 where the shape is not known.
  double elements(ValueId value) const;
  int rank(ValueId value) const;
  /// The value has four axes and more than one place in the last two.
  bool is_picture(ValueId value) const;

 private:
  double priced(const std::string& name, const Work& work) const;
  Work work_of(const Node& node) const;
  std::string name_of(const Node& node) const;
  std::string kind_of_conv(const Node& node) const;
  ValueId weight_of(const Node& node) const;

  const tpc::PriceList& prices_;
  const Graph& graph_;
  const ValueTypes& types_;
};

}  // namespace tersor::cost
