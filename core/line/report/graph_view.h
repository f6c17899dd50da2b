// SPDX-License-Identifier: Apache-2.0
// The graph of a model for drawing: its connections, and how each node is run and what it costs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "core/base/fields.h"
#include "core/decide/placement.h"
#include "core/decide/plan.h"
#include "core/framework/attach.h"
#include "core/graph/graph.h"
#include "core/report/coverage.h"
#include "core/tpc/price_list.h"

namespace tersor::report {

/// A node of the prepared graph.
struct GraphNode {
  std::string name;
  std::string op;
  std::string domain;
  std::string detail;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::optional<std::vector<int64_t>> shape;
  Support support = Support::kFloat;
  std::string reason;
  std::optional<int64_t> joined;
  std::optional<int64_t> weights_n_bits;
  std::optional<int64_t> activation_n_bits;
  std::optional<double> float_ms;

  static constexpr auto fields() {
    return std::make_tuple(
        field("name", &GraphNode::name, "As overrides name it."), field("op", &GraphNode::op, "Operator type."),
        field("domain", &GraphNode::domain, "Its domain; empty for ONNX's own."),
        field("detail", &GraphNode::detail, "Shape of its weight in a few words; may be empty."),
        field("inputs", &GraphNode::inputs, "Values that it reads, without constants."),
        field("outputs", &GraphNode::outputs, "Values that it makes."),
        field("shape", &GraphNode::shape, "Of its first output for one sample; null where unknown."),
        field("support", &GraphNode::support, "integer, fused, moves or float."),
        field("reason", &GraphNode::reason, "Why it stays float."),
        field("joined", &GraphNode::joined, "Index of the node that it is computed with; null where it is its own."),
        field("weights_n_bits", &GraphNode::weights_n_bits, "Bits of its weight; null without one or in float."),
        field("activation_n_bits", &GraphNode::activation_n_bits, "Bits of its output; null in float."),
        field("float_ms", &GraphNode::float_ms,
              "Milliseconds that the runtime is expected to take for it in the float model; null without prices."));
  }
};

/// An input or output of the model.
struct GraphEnd {
  std::string name;
  std::optional<std::vector<int64_t>> shape;

  static constexpr auto fields() {
    return std::make_tuple(field("name", &GraphEnd::name, "Of the value."),
                           field("shape", &GraphEnd::shape, "For one sample; null where unknown."));
  }
};

/// The prepared graph with its ends and nodes.
struct GraphView {
  std::vector<GraphEnd> inputs;
  std::vector<GraphEnd> outputs;
  std::vector<GraphNode> nodes;
  int64_t folded = 0;
  std::string runtime;
  std::string machine;

  static constexpr auto fields() {
    return std::make_tuple(
        field("inputs", &GraphView::inputs, "Inputs of the model."),
        field("outputs", &GraphView::outputs, "Outputs of the model."),
        field("nodes", &GraphView::nodes, "In the order of the prepared graph."),
        field("folded", &GraphView::folded, "Nodes of the file that were computed beforehand."),
        field("runtime", &GraphView::runtime, "Whose prices the times are of; empty without prices."),
        field("machine", &GraphView::machine, "On what they were measured."));
  }
};

/// `original` has the graph as read. `prepared` has the graph in which quantizers were placed, with a role and an
/// outcome per node.
GraphView graph_view(const Model& original, const Model& prepared, const framework::Attachment& attachment,
                     const ptq::Placement& placement, const std::vector<ptq::NodeOutcome>& outcomes,
                     const std::optional<tpc::PriceList>& prices);

/// A node of the runtime's own graph.
struct RuntimeNode {
  std::string op;
  std::vector<std::string> outputs;
  std::optional<double> milliseconds;

  static constexpr auto fields() {
    return std::make_tuple(
        field("op", &RuntimeNode::op, "Operator type, such as QLinearConv."),
        field("outputs", &RuntimeNode::outputs, "What it makes, under the names of the float model's values."),
        field("milliseconds", &RuntimeNode::milliseconds,
              "What it is expected to take, changes of layout of its outputs included; null without prices."));
  }
};

/// The nodes that the runtime will run, in the order of the file, without quantizers of constants.
std::vector<RuntimeNode> runtime_nodes(const Model& model, const std::optional<tpc::PriceList>& prices);

}  // namespace tersor::report
