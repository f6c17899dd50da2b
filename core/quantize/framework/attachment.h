// SPDX-License-Identifier: Apache-2.0
// What comes of a platform that is laid onto a graph (core/framework/attach.h): for every node its operator set, the
// configurations that the platform offers and the user's settings leave, its weights, and the fused group it belongs
// to. A value of its own; the graph is not changed.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/base/faults.h"
#include "core/base/json_fwd.h"
#include "core/base/names.h"
#include "core/config/quantization_config.h"
#include "core/framework/framework_info.h"
#include "core/framework/operations_to_layers.h"
#include "core/framework/overrides.h"
#include "core/graph/graph.h"
#include "core/tpc/target_platform_capabilities.h"

namespace tersor::framework {

/// What becomes of a node's output.
enum class ActivationMode {
  kQuant,          // quantized by the node's configuration
  kFlnQuant,       // the same, inside a fused group
  kPreserveQuant,  // has the parameters of the node's input (of all its data inputs, where there are several)
  kNoQuant,        // stays float
  kFlnNoQuant,     // stays float because it is inside a fused group
};

/// A constant operand of a node that a quantizer may act on.
struct WeightAttribute {
  std::string name;  // "kernel_attr", "bias_attr", "pos_attr"
  size_t input = 0;  // index into node.inputs
  ValueId value;
  /// Axis of the output channels as the tensor is stored; none for a bias, a positional constant, or a kernel without
  /// one.
  std::optional<int> channel_axis;
  std::optional<int> input_channel_axis;
  tpc::AttributeQuantizationConfig config;  // of the chosen base configuration
  /// Numbers of one output channel that can be cut into blocks; 0 where the operator has none. Where they are no more
  /// than one block, `config` has none.
  int64_t block_columns = 0;
  /// The platform would quantize it, and the configuration says enable_weights_quantization = false for all weights.
  bool left_float = false;

  /// No blocks where one would be the whole of an output channel.
  void drop_idle_blocks();
};

struct NodeAttachment {
  NodeId node;
  std::string operator_set;  // empty: none; the platform's default options apply
  /// Never empty, in the platform's order; with weights disabled where FrameworkInfo or the graph does not allow them.
  std::vector<tpc::OpQuantizationConfig> candidates;
  size_t base = 0;
  ActivationMode activation = ActivationMode::kNoQuant;
  tpc::RuntimeKernel kernel = tpc::RuntimeKernel::kFloat;
  std::optional<size_t> fused_group;  // index into Attachment::groups
  std::vector<WeightAttribute> weights;
  ValueBounds bounds;  // of the output, known without statistics
  /// How a QuantizeConfig has the ranges chosen; none: by the configuration.
  std::optional<LayerQuantizer> kernel_quantizer;
  std::vector<LayerQuantizer> output_quantizers;  // NodeRequest::outputs
  std::vector<std::string> trainable_quantizers;  // NodeSettings::trainable_quantizers
  /// How ranges are looked for, where overrides say; none: as the configuration says.
  std::optional<quant::Criterion> activation_criterion = {}, weights_criterion = {};
  /// Sentences: why the output or the kernel is not quantized. Empty when both are, or fused.
  std::string reason;

  const tpc::OpQuantizationConfig& config() const { return candidates[base]; }
  /// Null when the node has no such attribute.
  const WeightAttribute* weight(std::string_view attribute) const;
};

/// Nodes that the platform computes as one, in the order of the chain. Only the output of the last is quantized.
struct FusedGroup {
  std::string name;  // of the Fusing
  std::vector<NodeId> nodes;
};

struct Attachment {
  std::vector<NodeAttachment> nodes;  // one per node, in the graph's order
  std::vector<FusedGroup> groups;
  tpc::OpQuantizationConfig input_config;  // of the model's inputs: the platform's default, narrowed
  bool integer_inputs = false,
       integer_outputs = false;       // the file's floats get a quantizer: QuantizationConfig::io_types
  ValueBounds picture_bounds;         // of the first input, where the file takes pixels: what 0 and 255 become
  std::vector<ValueId> float_inputs;  // inputs of the model that a correction leaves in float all the same
  /// TargetPlatformModel::insert_preserving_quantizers, as far as the file can do without.
  std::optional<bool> preserving_quantizers;
  tpc::ExportRules export_rules;
  std::vector<Diagnostic> notes;  // remarks for a person

  /// Error kInvalidArgument when the node was not in the graph at the time.
  const NodeAttachment& of(NodeId id) const;
  const NodeAttachment* find(NodeId id) const;
  /// Whether a node's output passes a quantizer as far as platform and settings go: its own, or in a fused group that
  /// of the last of the group, unless that one preserves.
  bool quantizes_output(NodeId id) const;

 private:
  friend Attachment attach(const Graph&, const tpc::TargetPlatformCapabilities&, const FrameworkInfo&,
                           const config::QuantizationConfig&, const Overrides&, const OperationsToLayers&);
  std::unordered_map<int32_t, size_t> by_node_;
};

/// Gives the node another of its candidates as its base, with what follows from that for weights and output.
void take_candidate(NodeAttachment& attached, size_t candidate);

Json to_json(const Graph& graph, const Attachment& attachment);

}  // namespace tersor::framework

template <>
struct tersor::EnumWords<tersor::framework::ActivationMode> {
  using M = tersor::framework::ActivationMode;
  static constexpr const char* kind = "activation mode";
  static constexpr std::pair<M, std::string_view> words[] = {{M::kQuant, "QUANT"},
                                                             {M::kFlnQuant, "FLN_QUANT"},
                                                             {M::kPreserveQuant, "PRESERVE_QUANT"},
                                                             {M::kNoQuant, "NO_QUANT"},
                                                             {M::kFlnNoQuant, "FLN_NO_QUANT"}};
};
