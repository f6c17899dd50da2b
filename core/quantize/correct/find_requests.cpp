// SPDX-License-Identifier: Apache-2.0
#include "core/correct/find_requests.h"

#include <algorithm>

#include "core/correct/corrections.h"
#include "core/correct/unlike_joins.h"
#include "core/decide/find_front_ends.h"
#include "core/graph/clamp_bounds.h"
#include "core/graph/ranks.h"
#include "core/graph/uses.h"
#include "core/passes/edit.h"

namespace tersor::ptq {

namespace {

/// Axis of the channels by which a tensor is watched: that of the kernel that reads it; else 1 for what has spatial
/// axes.
int channel_axis(const Graph& graph, const Uses& uses, const std::vector<int>& ranks,
                 std::span<const Placement> placements, ValueId value) {
  const int rank = ranks[static_cast<size_t>(value.index)];
  for (const Placement& placement : placements)
    for (const size_t reader : uses.reader_indices(value)) {
      const NodeRole& role = placement.roles[reader];
      if (!role.has_kernel() || !role.op || graph.nodes()[reader].inputs[0] != value) continue;
      return role.op->is_conv ? 1 : rank - 1;
    }
  if (const auto maker = uses.producer_index(value))
    for (const Placement& placement : placements)
      if (const auto& op = placement.roles[*maker].op) return op->is_conv ? 1 : rank - 1;
  return rank >= 3 ? 1 : -1;
}

/// Whether a correction that the settings ask for reads what `part` says. The range of a tensor is chosen without.
bool reads(const config::QuantizationConfig& config, bool CorrectionReads::*part) {
  const auto all = corrections();
  const auto words = config.contestants();
  return std::any_of(words.begin(), words.end(), [&](config::Preference word) {
    config::QuantizationConfig as_that = config;
    as_that.prefer = word;
    return std::any_of(all.begin(), all.end(),
                       [&](const Correction& one) { return one.reads.*part && one.is_wanted(as_that); });
  });
}

/// After a clamp that alone reads the kernel's output, the same channels are watched.
bool is_watched_after_clamp(const Graph& graph, const Uses& uses, const std::vector<calibrate::Request>& requests,
                            ValueId output, int axis) {
  const auto reader = passes::sole_reader(graph, uses, output);
  if (!reader || !clamp_bounds(graph, graph.nodes()[*reader])) return false;
  const ValueId after = graph.nodes()[*reader].outputs[0];
  return std::any_of(requests.begin(), requests.end(), [&](const calibrate::Request& request) {
    return request.value == after && request.channel_axis == axis;
  });
}

/// Whether some step reads more of a tensor's values than how far they reach.
bool reads_bins(const config::QuantizationConfig& config, const framework::Attachment& attachment) {
  const bool by_table = std::any_of(attachment.nodes.begin(), attachment.nodes.end(),
                                    [](const auto& node) { return node.config().activation_by_table(); });
  return by_table || config.activation_threshold_method != quant::ThresholdSelectionMethod::kNoClipping ||
         reads(config, &CorrectionReads::bins);
}

/// Whether the quantizer of some QuantizeConfig follows the samples in their order.
bool follows_samples(const framework::Attachment& attachment) {
  return std::any_of(attachment.nodes.begin(), attachment.nodes.end(), [](const auto& node) {
    return std::any_of(node.output_quantizers.begin(), node.output_quantizers.end(),
                       [](const framework::LayerQuantizer& one) { return one.batch_size.has_value(); });
  });
}

}  // namespace

std::vector<calibrate::Request> find_requests(const Model& model, const framework::Attachment& attachment,
                                              std::span<const Placement> placements,
                                              const config::QuantizationConfig& config, bool for_any_settings) {
  const bool by_channel = for_any_settings || reads(config, &CorrectionReads::channels);
  const bool ends_only = !for_any_settings && !reads_bins(config, attachment);
  const Graph& graph = model.graph;
  const Uses uses(graph);
  const std::vector<int> ranks = infer_ranks(model);
  std::vector<ValueId> values;
  std::vector<bool> watched(graph.value_count(), false);
  const auto add = [&](ValueId value) {
    if (graph.initializer(value) != nullptr || watched[static_cast<size_t>(value.index)]) return;
    watched[static_cast<size_t>(value.index)] = true;
    values.push_back(value);
  };
  for (const Placement& placement : placements) {
    for (const PlacedTensor& tensor : placement.tensors) add(tensor.value);
    for (size_t i = 0; i < placement.roles.size(); ++i)
      if (placement.roles[i].has_kernel()) add(graph.nodes()[i].inputs[0]);
    for (const ValueId value : front_end_operands(graph, placement.roles)) add(value);
    for (const ValueId value : joined_operands(graph, attachment, placement)) add(value);
  }
  const bool by_sample = follows_samples(attachment);
  std::vector<calibrate::Request> requests;
  for (const ValueId value : values)
    requests.push_back({value, graph.name_of(value),
                        by_channel ? channel_axis(graph, uses, ranks, placements, value) : -1, false, ends_only,
                        by_sample});
  if (!by_channel) return requests;
  // The means of the kernels' outputs, for bias correction.
  const bool before_clamps = reads(config, &CorrectionReads::kernel_outputs);
  for (const Placement& placement : placements)
    for (size_t i = 0; i < placement.roles.size(); ++i) {
      const NodeRole& role = placement.roles[i];
      const ValueId output = graph.nodes()[i].outputs[0];
      if (!role.has_kernel() || !role.op || !role.op->can_have_bias || watched[static_cast<size_t>(output.index)])
        continue;
      const int axis = role.op->is_conv ? 1 : ranks[static_cast<size_t>(output.index)] - 1;
      if (axis < 0 || (!before_clamps && is_watched_after_clamp(graph, uses, requests, output, axis))) continue;
      watched[static_cast<size_t>(output.index)] = true;
      requests.push_back({output, graph.name_of(output), axis, true});
    }
  return requests;
}

}  // namespace tersor::ptq
