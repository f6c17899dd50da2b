// SPDX-License-Identifier: Apache-2.0
// What a person should know of how their settings met the platform; each is empty where there is nothing to say.
#pragma once

#include <optional>
#include <set>

#include "core/framework/attach.h"

namespace tersor::framework {

/// Names the operators whose weights were to be in blocks, and have a scale for each output channel instead.
std::optional<Diagnostic> idle_blocks_note(const Graph& graph, const Attachment& attachment);

/// Names the outputs that are quantized with other bits than the whole model was to have; none where all of them are.
std::optional<Diagnostic> usual_bits_note(const Graph& graph, const Attachment& attachment,
                                          const std::set<NodeId>& with_usual_bits, int bits);

/// Says that bits which the platform has by tables alone were taken so; none where nobody asked for bits alone.
std::optional<Diagnostic> table_note(const Graph& graph, const Attachment& attachment,
                                     const config::QuantizationConfig& asked);

}  // namespace tersor::framework
