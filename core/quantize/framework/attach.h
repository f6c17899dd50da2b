// SPDX-License-Identifier: Apache-2.0
// Lays a platform onto a graph.
#pragma once

#include <string_view>
#include <vector>

#include "core/base/faults.h"
#include "core/config/quantization_config.h"
#include "core/framework/attachment.h"
#include "core/framework/framework_info.h"
#include "core/framework/operations_to_layers.h"
#include "core/framework/overrides.h"
#include "core/tpc/target_platform_capabilities.h"

namespace tersor::framework {

/// Error kInvalidConfig when a setting or override leaves no candidate for an operator set that the graph uses (names
/// set, field and the allowed values; all such are listed) or an override matches no node, kInvalidPlatform when a node
/// matches several sets with unlike options.
Attachment attach(const Graph& graph, const tpc::TargetPlatformCapabilities& platform, const FrameworkInfo& info,
                  const config::QuantizationConfig& settings, const Overrides& overrides = {},
                  const OperationsToLayers& layers = onnx_layers());

/// An operator set, empty for none, as errors call it.
std::string set_text(std::string_view operator_set);

/// The faults, those once that are alike but for the operator set that they are of.
Faults told_once(const Faults& faults, const tpc::TargetPlatformCapabilities& platform);

/// What settings leave of a set's candidates.
struct Narrowed {
  std::vector<tpc::OpQuantizationConfig> candidates;
  size_t base = 0;
  std::vector<std::string> idle_fields;  // that are set and not this set's concern
};

/// The candidates of `options` that agree with every field set, and the index of the base among them: the platform's
/// own base where it remains, else the first. A field that concerns weights is judged by the kernel, and only where
/// some candidate quantizes one; likewise for activations. What is switched off (enable_... = false) is switched off in
/// every candidate: to leave something in float is always possible. Where nothing is left, a fault for each field that
/// no candidate has, or one for all where none has them together, and the platform's own candidates.
Narrowed narrow(const tpc::QuantizationConfigOptions& options, const config::QuantizationConfig& settings,
                std::string_view operator_set, Faults& faults);
/// The same for one node. A field that an override by the node's name sets is judged always.
Narrowed narrow(const tpc::QuantizationConfigOptions& options, const NodeSettings& settings,
                std::string_view operator_set, Faults& faults);
/// Quantizers of a QuantizeConfig that leave symmetric open take a candidate that is asymmetric (UNIFORM), which then
/// is the base; where there is none they are symmetric, and weights narrow. Bits and axis that they leave open are
/// those of the base.
void settle_open(NodeAttachment& attached);

/// Takes from every node the candidates whose outputs have more bits than some operator that reads them supports,
/// looking through operators that pass their input on; where a reader's base supports fewer bits than the node's base,
/// the widest candidate left becomes the base and a note says so. A fault where none is left.
void limit_input_bits(const Graph& graph, Attachment& attachment, Faults& faults);

}  // namespace tersor::framework
