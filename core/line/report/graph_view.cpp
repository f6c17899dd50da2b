// SPDX-License-Identifier: Apache-2.0
#include "core/report/graph_view.h"

#include <algorithm>

#include "core/cost/expected_time.h"
#include "core/cost/value_types.h"
#include "core/framework/kernel_operand.h"
#include "core/framework/overrides.h"
#include "core/graph/uses.h"
#include "core/report/pair_tensors.h"

namespace tersor::report {

namespace {

using Arithmetic = ptq::NodeOutcome::Arithmetic;

std::optional<std::vector<int64_t>> shape_of(const cost::ValueTypes& types, ValueId id) {
  const auto index = static_cast<size_t>(id.index);
  if (!id.valid() || index >= types.size() || !types[index]) return std::nullopt;
  const Shape& shape = types[index]->shape;
  return std::vector<int64_t>(shape.dims().begin(), shape.dims().end());
}

std::vector<GraphEnd> ends_of(const Graph& graph, const cost::ValueTypes& types, const std::vector<ValueId>& ids) {
  std::vector<GraphEnd> ends;
  for (const ValueId id : ids) ends.push_back({graph.name_of(id), shape_of(types, id)});
  return ends;
}

/// "64×64 3×3": the channels of a weight, then its window.
std::string detail_of(const Graph& graph, const Node& node) {
  const auto operand = framework::kernel_operand(graph, node);
  if (!operand) return {};
  const Shape& shape = graph.initializer(node.inputs[operand->kernel])->shape();
  std::string text;
  for (int axis = 0; axis < shape.rank(); ++axis)
    text += (axis == 0 ? "" : axis == 2 ? " " : "×") + std::to_string(shape[axis]);
  return text;
}

class GraphReader {
 public:
  GraphReader(const Model& prepared, const framework::Attachment& attachment, const ptq::Placement& placement,
              const std::vector<ptq::NodeOutcome>& outcomes, const std::optional<tpc::PriceList>& prices)
      : graph_(prepared.graph),
        uses_(prepared.graph),
        attachment_(attachment),
        placement_(placement),
        outcomes_(outcomes),
        types_(cost::value_types(prepared)) {
    if (prices) times_ = cost::times_by_node(prepared, *prices);
  }

  const cost::ValueTypes& types() const { return types_; }

  GraphNode read(size_t index) const {
    const Node& node = graph_.nodes()[index];
    GraphNode view;
    view.name = framework::override_name(graph_, node);
    view.op = node.op_type;
    view.domain = node.domain;
    view.detail = detail_of(graph_, node);
    for (const ValueId id : node.inputs)
      if (id.valid() && graph_.initializer(id) == nullptr) view.inputs.push_back(graph_.name_of(id));
    for (const ValueId id : node.outputs)
      if (id.valid()) view.outputs.push_back(graph_.name_of(id));
    if (!node.outputs.empty()) view.shape = shape_of(types_, node.outputs[0]);
    const Fate fate = fate_of(placement_.roles[index], outcomes_[index]);
    view.support = fate.support;
    view.reason = fate.reason;
    if (const auto front = joined(index)) view.joined = static_cast<int64_t>(*front);
    add_bits(index, node, view);
    if (index < times_.size()) view.float_ms = times_[index].milliseconds;
    return view;
  }

 private:
  bool is_float(size_t index) const { return outcomes_[index].arithmetic == Arithmetic::kFloat; }

  /// The node before it that the runtime computes it with. A clamp is the quantizer's work where that stands
  /// after it; in float the runtime joins nodes of its own accord.
  std::optional<size_t> joined(size_t index) const {
    const Node& node = graph_.nodes()[index];
    const bool folds = outcomes_[index].arithmetic == Arithmetic::kFolded;
    const bool joins = index < times_.size() && times_[index].is_joined && is_float(index);
    if (!folds && !joins) return std::nullopt;
    for (const ValueId id : node.inputs) {
      // a tensor that others read as well stays one of its own
      if (!id.valid() || uses_.reader_count(id) != 1 || uses_.is_output(id)) continue;
      const auto maker = uses_.producer_index(id);
      if (maker && (folds || is_float(*maker))) return maker;
    }
    return std::nullopt;
  }

  void add_bits(size_t index, const Node& node, GraphNode& view) const {
    const framework::NodeAttachment& attached = attachment_.of(node.id);
    const framework::WeightAttribute* kernel = attached.weight(tpc::kKernelAttr);
    if (kernel != nullptr && kernel->config.enable_weights_quantization && placement_.roles[index].has_kernel())
      view.weights_n_bits = kernel->config.weights_n_bits;
    for (const ValueId id : node.outputs)
      if (id.valid() && placement_.find(id) != nullptr) view.activation_n_bits = attached.config().activation_n_bits;
  }

  const Graph& graph_;
  const Uses uses_;
  const framework::Attachment& attachment_;
  const ptq::Placement& placement_;
  const std::vector<ptq::NodeOutcome>& outcomes_;
  const cost::ValueTypes types_;
  std::vector<cost::NodeTime> times_;
};

}  // namespace

GraphView graph_view(const Model& original, const Model& prepared, const framework::Attachment& attachment,
                     const ptq::Placement& placement, const std::vector<ptq::NodeOutcome>& outcomes,
                     const std::optional<tpc::PriceList>& prices) {
  const Graph& graph = prepared.graph;
  const GraphReader reader(prepared, attachment, placement, outcomes, prices);
  GraphView view;
  view.inputs = ends_of(graph, reader.types(), graph.inputs);
  view.outputs = ends_of(graph, reader.types(), graph.outputs);
  for (size_t i = 0; i < graph.nodes().size(); ++i) view.nodes.push_back(reader.read(i));
  const size_t before = original.graph.nodes().size(), after = graph.nodes().size();
  view.folded = before > after ? static_cast<int64_t>(before - after) : 0;
  if (prices) view.runtime = prices->runtime, view.machine = prices->machine;
  return view;
}

std::vector<RuntimeNode> runtime_nodes(const Model& model, const std::optional<tpc::PriceList>& prices) {
  const Model run = cost::as_run(model);
  const auto real_names = quantized_inputs(model.graph);
  const std::vector<cost::NodeTime> times = prices ? cost::times_by_node(run, *prices) : std::vector<cost::NodeTime>();
  std::vector<RuntimeNode> nodes;
  for (size_t i = 0; i < run.graph.nodes().size(); ++i) {
    const Node& node = run.graph.nodes()[i];
    const bool of_constant = node.is("DequantizeLinear") && run.graph.initializer(node.inputs[0]) != nullptr;
    if (of_constant) continue;
    RuntimeNode one{node.op_type, {}, std::nullopt};
    for (const ValueId id : node.outputs) {
      if (!id.valid()) continue;
      const auto real = real_names.find(run.graph.name_of(id));
      one.outputs.push_back(real == real_names.end() ? run.graph.name_of(id) : real->second);
    }
    if (i < times.size()) one.milliseconds = times[i].milliseconds;
    nodes.push_back(std::move(one));
  }
  return nodes;
}

}  // namespace tersor::report
