// SPDX-License-Identifier: Apache-2.0
#include "core/report/coverage.h"

#include <algorithm>
#include <map>

#include "core/ptq/role.h"

namespace tersor::report {

namespace {

struct Fate {
  Support support = Support::kFloat;
  std::string reason;
};

bool is_core(const Node& node) {
  return node.is("Conv") || node.is("ConvTranspose") || node.is("Gemm") || node.is("MatMul");
}

Fate fate_of(const Node& node, const ptq::NodeRole& role, const ptq::Placement& placement) {
  const auto made_of_integers = [&] {
    const ptq::PlacedTensor* placed =
        node.outputs.empty() || !node.outputs[0].valid() ? nullptr : placement.find(node.outputs[0]);
    return placed != nullptr && placed->integer_made;
  };
  switch (role.role) {
    case ptq::Role::kKernel:
    case ptq::Role::kKernelFloatOutput:
      if (role.float_weight)
        return {Support::kFloat, "Its weight stays float, as the settings say; what it reads and gives is quantized."};
      return {Support::kInteger, {}};
    case ptq::Role::kWeightOnly:
      return {Support::kFloat, "Its weights are stored as int8; the runtime has no integer kernel for it."};
    case ptq::Role::kClamp:
      return {Support::kFused, {}};
    case ptq::Role::kMover:
      return {made_of_integers() ? Support::kMoves : Support::kFloat, {}};
    case ptq::Role::kJoin:
      if (made_of_integers()) return {Support::kInteger, {}};
      return {Support::kFloat,
              "Not everything it reads, or what it gives, is quantized, so an integer kernel would not pay."};
    case ptq::Role::kFloat:
      break;
  }
  return {Support::kFloat,
          role.reason.empty() ? "The platform has no integer kernel for " + node.op_type + "." : role.reason};
}

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

}  // namespace

Coverage coverage_of(const Graph& original, const Graph& prepared, const ptq::Placement& placement,
                     int64_t model_bytes) {
  Coverage coverage;
  coverage.estimated_size_bytes = model_bytes;
  for (size_t i = 0; i < prepared.nodes().size(); ++i) {
    const Node& node = prepared.nodes()[i];
    const ptq::NodeRole& role = placement.roles[i];
    const Fate fate = fate_of(node, role, placement);
    add_row(coverage.rows, node, fate);
    const bool integer = fate.support == Support::kInteger;
    if (is_core(node)) ++coverage.core_nodes, coverage.integer_core_nodes += integer ? 1 : 0;
    if (fate.support == Support::kFloat)
      coverage.stays_float.push_back(
          {node.name.empty() ? prepared.name_of(node.outputs[0]) : node.name, node.op_type, fate.reason});
    // A float32 weight becomes int8.
    if (role.has_kernel() && !role.float_weight && node.inputs.size() > 1)
      if (const Tensor* weight = prepared.initializer(node.inputs[1]))
        coverage.estimated_size_bytes -= 3 * weight->elements();
  }
  const Counts before = count_types(original), after = count_types(prepared);
  for (const auto& [type, count] : before) {
    const auto left = after.find(type);
    const int64_t folded = count - (left == after.end() ? 0 : left->second);
    if (folded > 0) coverage.rows.push_back({type.first, type.second, folded, Support::kFolded, {}, std::nullopt});
  }
  std::stable_sort(coverage.rows.begin(), coverage.rows.end(),
                   [](const CoverageRow& a, const CoverageRow& b) { return a.nodes > b.nodes; });
  coverage.estimated_size_bytes = std::max<int64_t>(coverage.estimated_size_bytes, 0);
  return coverage;
}

}  // namespace tersor::report
