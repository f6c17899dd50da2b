// SPDX-License-Identifier: Apache-2.0
#include "core/ptq/choose_constants.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/graph/uses.h"
#include "core/quant/threshold_search.h"

namespace tersor::ptq {

namespace {

/// The axes that there may be a range for each place of; none stands for one range for the whole constant.
using Axes = std::vector<std::optional<int>>;

Axes long_axes(const Shape& shape) {
  Axes axes;
  for (int k = 0; k < shape.rank(); ++k)
    if (shape[k] != 1) axes.push_back(k);
  return axes.empty() ? Axes{std::nullopt} : axes;
}

/// With the axis that leaves the least error.
quant::QuantizationParams params_of(const Tensor& constant, const tpc::AttributeQuantizationConfig& how,
                                    const quant::IntegerGrid& grid, const Axes& axes,
                                    const quant::Criterion& criterion) {
  const quant::QuantizationMethod method = quant::even_form(how.weights_quantization_method);
  std::optional<quant::WeightSelection> best;
  for (const std::optional<int> axis : axes) {
    auto found = quant::choose_weight_params(constant, method, grid, axis, criterion);
    if (!best || found.expected_sqnr_db > best->expected_sqnr_db) best = std::move(found);
  }
  return best->params;
}

/// A table of this many numbers or more is worth the nodes that restore its rows.
constexpr int64_t kLargeTable = 16384;
/// A scale for each row is then at most a quarter of what the codes take.
constexpr int64_t kShortestRow = 16;

/// Whether the constant is a large matrix that nothing but Gathers of whole rows read.
bool is_embedding(const Graph& graph, const Uses& uses, ValueId value) {
  const Tensor& table = *graph.initializer(value);
  if (table.shape().rank() != 2 || table.elements() < kLargeTable || table.shape()[1] < kShortestRow) return false;
  if (uses.is_output(value)) return false;
  const auto& readers = uses.reader_indices(value);
  return std::all_of(readers.begin(), readers.end(), [&](size_t index) {
    const Node& node = graph.nodes()[index];
    const int64_t axis = node.int_or("axis", 0);
    return node.is("Gather") && node.inputs[0] == value && (axis == 0 || axis == -2);
  });
}

}  // namespace

std::vector<ConstantPlan> choose_constants(const Graph& graph, const framework::Attachment& attachment,
                                           const config::QuantizationConfig& config) {
  std::vector<ConstantPlan> plans;
  const bool all = attachment.export_rules.placement == tpc::Placement::kOutputs;
  const Uses uses(graph);
  for (const Node& node : graph.nodes())
    for (const framework::WeightAttribute& weight : attachment.of(node.id).weights) {
      const tpc::AttributeQuantizationConfig& how = weight.config;
      if (weight.name != tpc::kPosAttr || !how.enable_weights_quantization) continue;
      const Tensor& constant = *graph.initializer(weight.value);
      if (constant.elements() == 0) continue;
      const bool by_row = !all && is_embedding(graph, uses, weight.value);
      if (!all && !by_row) continue;
      const quant::IntegerGrid grid{how.weights_n_bits, true, attachment.export_rules.narrow_weights};
      if (how.weights_by_table())
        throw Error(ErrorCode::kInvalidPlatform,
                    "Constants by a table cannot be written; " +
                        framework::set_text(attachment.of(node.id).operator_set) + " asks for that.",
                    "weights_quantization_method of pos_attr", "Use SYMMETRIC, POWER_OF_TWO or UNIFORM there.");
      const Axes axes = !how.weights_per_channel_threshold ? Axes{std::nullopt}
                        : by_row                           ? Axes{0}
                                                           : long_axes(constant.shape());
      try {
        plans.push_back(
            {node.id, weight.input, params_of(constant, how, grid, axes, config.weights_criterion()), by_row});
      } catch (const Error& error) {
        if (error.code != ErrorCode::kInvalidModel) throw;
        throw error.within("graph.initializer \"" + graph.name_of(weight.value) + "\"");
      }
    }
  return plans;
}

}  // namespace tersor::ptq
