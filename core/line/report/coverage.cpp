// SPDX-License-Identifier: Apache-2.0
#include "core/report/coverage.h"

#include <map>

#include "core/base/sort_stably.h"
#include "core/framework/overrides.h"
#include "core/graph/core_operator.h"
#include "core/graph/subgraphs.h"

namespace tersor::report {

namespace {

using Counts = std::map<std::pair<std::string, std::string>, int64_t>;

Counts count_types(const Graph& graph) {
  Counts counts;
  for (const Node& node : graph.nodes()) ++counts[{node.op_type, node.domain}];
  return counts;
}

void add_row(std::vector<CoverageRow>& rows, const Node& node, const Fate& fate) {
  for (CoverageRow& row : rows)
    if (row.op == node.op_type && row.domain == node.domain && row.support == fate.support &&
        row.reason == fate.reason) {
      ++row.nodes;
      return;
    }
  rows.push_back({node.op_type, node.domain, 1, fate.support, fate.reason, std::nullopt});
}

void add_bodies(Coverage& coverage, const Node& node) {
  for_each_subgraph(node, [&](const Graph& body) {
    for (const Node& inner : body.nodes()) {
      add_row(coverage.rows, inner, {Support::kFloat, "It stands inside an If, Loop or Scan, which stays float."});
      coverage.core_nodes += is_core(inner) ? 1 : 0;
      add_bodies(coverage, inner);
    }
  });
}

}  // namespace

Fate fate_of(const ptq::NodeRole& role, const ptq::NodeOutcome& outcome) {
  using Arithmetic = ptq::NodeOutcome::Arithmetic;
  const bool moves = role.role == ptq::Role::kMover;
  switch (outcome.arithmetic) {
    case Arithmetic::kInteger:
    case Arithmetic::kIntegerFloatOutput:
      return {moves ? Support::kMoves : Support::kInteger, {}};
    case Arithmetic::kFolded:
      return {Support::kFused, {}};
    case Arithmetic::kFloat:
      break;
  }
  return {Support::kFloat, moves ? std::string() : outcome.reason};
}

std::vector<FloatNode> float_nodes(const Graph& graph, const std::vector<ptq::NodeOutcome>& outcomes) {
  std::vector<FloatNode> nodes;
  for (size_t i = 0; i < outcomes.size(); ++i) {
    if (outcomes[i].arithmetic != ptq::NodeOutcome::Arithmetic::kFloat) continue;
    const Node& node = graph.nodes()[i];
    nodes.push_back({framework::override_name(graph, node), node.op_type, outcomes[i].reason});
  }
  return nodes;
}

Coverage coverage_of(const Graph& original, const Graph& prepared, const ptq::Placement& placement,
                     const std::vector<ptq::NodeOutcome>& outcomes, const onnx::LeftOut* left_out) {
  Coverage coverage;
  coverage.stays_float = float_nodes(prepared, outcomes);
  for (size_t i = 0; i < prepared.nodes().size(); ++i) {
    const Node& node = prepared.nodes()[i];
    const ptq::NodeRole& role = placement.roles[i];
    const Fate fate = fate_of(role, outcomes[i]);
    add_row(coverage.rows, node, fate);
    add_bodies(coverage, node);
    const bool integer = fate.support == Support::kInteger;
    if (is_core(node)) ++coverage.core_nodes, coverage.integer_core_nodes += integer ? 1 : 0;
  }
  const Counts before = count_types(original), after = count_types(prepared);
  for (const auto& [type, count] : before) {
    const auto left = after.find(type);
    const int64_t folded = count - (left == after.end() ? 0 : left->second);
    if (folded > 0) coverage.rows.push_back({type.first, type.second, folded, Support::kFolded, {}, std::nullopt});
  }
  for (size_t i = 0; left_out != nullptr && i < left_out->nodes.size(); ++i) {
    const Node& node = left_out->nodes[i];
    const Fate fate{Support::kFloat, "It, or a node before it, cannot be run here; it stays as it is."};
    add_row(coverage.rows, node, fate);
    coverage.core_nodes += is_core(node) ? 1 : 0;
    coverage.stays_float.push_back({node.name.empty() ? node.op_type : node.name, node.op_type, fate.reason});
  }
  sort_stably(coverage.rows, [](const CoverageRow& a, const CoverageRow& b) { return a.nodes > b.nodes; });
  return coverage;
}

}  // namespace tersor::report
