// SPDX-License-Identifier: Apache-2.0
#include "core/framework/attachment.h"

#include "core/base/error.h"
#include "core/base/json.h"

namespace tersor::framework {

using tpc::OpQuantizationConfig;

void WeightAttribute::drop_idle_blocks() {
  std::optional<int>& size = config.weights_block_size;
  if (size && block_columns <= *size) size.reset();
}

const WeightAttribute* NodeAttachment::weight(std::string_view attribute) const {
  for (const WeightAttribute& one : weights)
    if (one.name == attribute) return &one;
  return nullptr;
}

const NodeAttachment* Attachment::find(NodeId id) const {
  const auto it = by_node_.find(id.index);
  return it == by_node_.end() ? nullptr : &nodes[it->second];
}

const NodeAttachment& Attachment::of(NodeId id) const {
  const NodeAttachment* found = find(id);
  if (found == nullptr)
    throw Error(ErrorCode::kInvalidArgument, "The attachment knows nothing of node " + std::to_string(id.index) + ".");
  return *found;
}

bool Attachment::quantizes_output(NodeId id) const {
  const NodeAttachment& own = of(id);
  if (own.fused_group) {
    const tpc::OpQuantizationConfig& last = of(groups[*own.fused_group].nodes.back()).config();
    if (!last.quantization_preserving) return last.enable_activation_quantization;
  }
  return own.config().enable_activation_quantization;
}

void take_candidate(NodeAttachment& attached, size_t candidate) {
  attached.base = candidate;
  const OpQuantizationConfig& config = attached.config();
  for (WeightAttribute& weight : attached.weights) {
    weight.config = config.attribute_config(weight.name);
    if (!weight.channel_axis) weight.config.weights_per_channel_threshold = false;
    weight.drop_idle_blocks();
  }
  const bool is_inside =
      attached.activation == ActivationMode::kFlnQuant || attached.activation == ActivationMode::kFlnNoQuant;
  if (is_inside || config.quantization_preserving) return;
  attached.activation = config.enable_activation_quantization ? ActivationMode::kQuant : ActivationMode::kNoQuant;
}

Json to_json(const Graph& graph, const Attachment& attachment) {
  Json nodes = Json::array(), groups = Json::array();
  for (const NodeAttachment& one : attachment.nodes) {
    const Node* node = graph.find(one.node);
    Json weights = Json::array();
    for (const WeightAttribute& weight : one.weights)
      weights.push_back(Json{{"name", weight.name},
                             {"tensor", graph.name_of(weight.value)},
                             {"channel_axis", weight.channel_axis ? Json(*weight.channel_axis) : Json(nullptr)},
                             {"config", tersor::to_json(weight.config)}});
    nodes.push_back(Json{{"node", node == nullptr ? "" : node->name},
                         {"type", node == nullptr ? "" : node->op_type},
                         {"operator_set", one.operator_set},
                         {"activation", enum_word(one.activation)},
                         {"runtime_kernel", enum_word(one.kernel)},
                         {"fused_group", one.fused_group ? Json(*one.fused_group) : Json(nullptr)},
                         {"config", tersor::to_json(one.config())},
                         {"weights", weights},
                         {"reason", one.reason}});
  }
  for (const FusedGroup& group : attachment.groups) {
    Json members = Json::array();
    for (const NodeId id : group.nodes) members.push_back(graph.find(id) == nullptr ? "" : graph.find(id)->name);
    groups.push_back(Json{{"name", group.name}, {"nodes", members}});
  }
  return Json{{"nodes", nodes}, {"groups", groups}};
}

}  // namespace tersor::framework
