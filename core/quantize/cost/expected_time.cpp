// SPDX-License-Identifier: Apache-2.0
#include "core/cost/expected_time.h"

#include <algorithm>

#include "core/cost/layouts.h"
#include "core/cost/operator_price.h"
#include "core/graph/operators.h"
#include "core/graph/runtime_operators.h"
#include "core/graph/uses.h"
#include "core/simulate/fuse.h"

namespace tersor::cost {

namespace {

class Clock {
 public:
  Clock(const Model& model, const ValueTypes& types, const tpc::PriceList& prices)
      : graph_(model.graph),
        uses_(model.graph),
        prices_(prices, model.graph, types),
        orders_(axis_orders(model.graph)) {}

  double nanoseconds() const {
    double sum = 0;
    for (const Node& node : graph_.nodes()) sum += of(node);
    for (size_t v = 0; v < orders_.size(); ++v) sum += turning(ValueId{static_cast<int32_t>(v)});
    return sum;
  }

  NodeTime time_of(const Node& node) const {
    double sum = of(node);
    for (const ValueId id : node.outputs)
      if (id.valid()) sum += turning(id);
    return {sum / 1e6, is_fused(node)};
  }

 private:
  double of(const Node& node) const {
    if (is_idle(node) || is_fused(node)) return 0;
    const double once = prices_.of(node);
    // The runtime restores a tensor again for each node that reads it.
    const bool restores = node.is("DequantizeLinear") && graph_.initializer(node.inputs[0]) == nullptr;
    return restores ? once * static_cast<double>(std::max<size_t>(1, uses_.reader_count(node.outputs[0]))) : once;
  }

  /// It is computed when the model is loaded, or not at all.
  bool is_idle(const Node& node) const {
    return node.op_type == "Shape" || std::all_of(node.outputs.begin(), node.outputs.end(), [&](ValueId id) {
             return prices_.elements(id) == 0 || (uses_.reader_count(id) == 0 && !uses_.is_output(id));
           });
  }

  const Node* maker(ValueId id) const {
    const auto index = id.valid() ? uses_.producer_index(id) : std::nullopt;
    return index ? &graph_.nodes()[*index] : nullptr;
  }

  bool follows_conv(ValueId id) const {
    const Node* conv = maker(id);
    return conv != nullptr && conv->is("Conv") && uses_.reader_count(id) == 1;
  }

  /// The runtime computes it with the node before it: an activation or a sum after a float Conv, the product of x and
  /// sigmoid(x).
  bool is_fused(const Node& node) const {
    if (has_runtime_trait(node, RuntimeTrait::kIsFreeAfterConv)) return follows_conv(node.inputs[0]);
    if (node.is("Add") && node.inputs.size() == 2) return follows_conv(node.inputs[0]) || follows_conv(node.inputs[1]);
    if (!node.is("Mul") || node.inputs.size() != 2) return false;
    for (size_t k = 0; k < 2; ++k) {
      const Node* gate = maker(node.inputs[k]);
      const Node* source = maker(node.inputs[1 - k]);
      if (gate == nullptr || !gate->is("Sigmoid") || gate->inputs[0] != node.inputs[1 - k]) continue;
      return source == nullptr || !source->is("DequantizeLinear");
    }
    return false;
  }

  /// Of the value, before all that take it in another order, once.
  double turning(ValueId id) const {
    if (!prices_.is_picture(id)) return 0;
    const AxisOrder order = orders_[static_cast<size_t>(id.index)];
    bool to_plain = order != AxisOrder::kPlain && uses_.is_output(id), to_conv = false;
    const Node* made = maker(id);
    const bool is_integer = made != nullptr && (made->is("QuantizeLinear") || made->op_type.rfind("QLinear", 0) == 0);
    for (const size_t reader : uses_.reader_indices(id)) {
      const Node& node = graph_.nodes()[reader];
      if (takes(node, order)) continue;
      const bool is_conv = node.op_type == "Conv" || node.op_type == "QLinearConv";
      // A float Conv reads the few channels of a picture as they are.
      if (is_conv && node.op_type == "Conv" && order == AxisOrder::kPlain) continue;
      (is_conv ? to_conv : to_plain) = true;
      if (is_conv && order == AxisOrder::kFloat) to_plain = true;
    }
    return (to_plain ? prices_.turning(id, is_integer) : 0) + (to_conv ? prices_.turning(id, is_integer) : 0);
  }

  const Graph& graph_;
  const Uses uses_;
  const OperatorPrices prices_;
  const std::vector<AxisOrder> orders_;
};

}  // namespace

std::optional<double> expected_milliseconds(const Model& model, const tpc::PriceList& prices) {
  const Model fused = as_run(model);
  const ValueTypes types = value_types(fused);
  if (types.empty()) return std::nullopt;
  const double milliseconds = Clock(fused, types, prices).nanoseconds() / 1e6;
  if (!(milliseconds > 0)) return std::nullopt;
  return milliseconds;
}

std::vector<std::string> unpriced_operators(const Model& model, const tpc::PriceList& prices) {
  constexpr double kShare = 0.1;
  const ValueTypes types = value_types(model);
  if (types.empty()) return {};
  const OperatorPrices known(prices, model.graph, types);
  double all = 0, unpriced = 0;
  std::vector<std::string> found;
  for (const Node& node : model.graph.nodes()) {
    double values = 0;
    for (const auto* edges : {&node.inputs, &node.outputs})
      for (const ValueId id : *edges) values += known.elements(id);
    all += values;
    const std::string operation = known.guessed(node);
    if (operation.empty()) continue;
    unpriced += values;
    if (std::find(found.begin(), found.end(), operation) == found.end()) found.push_back(operation);
  }
  return unpriced > kShare * all ? found : std::vector<std::string>{};
}

std::vector<NodeTime> times_by_node(const Model& run, const tpc::PriceList& prices) {
  const ValueTypes types = value_types(run);
  if (types.empty()) return {};
  const Clock clock(run, types, prices);
  std::vector<NodeTime> times;
  for (const Node& node : run.graph.nodes()) times.push_back(clock.time_of(node));
  return times;
}

Model as_run(const Model& model) {
  return simulate::is_quantized(model) ? simulate::fuse(model, simulate::Profile::kX64).model : model;
}

}  // namespace tersor::cost
