// SPDX-License-Identifier: Apache-2.0
// What ONNX Runtime's graph optimizers do with an operator: one record for each, in one table. Its
// sources are the runtime's selectors and actions for QDQ models, its propagation of QuantizeLinear and
// DequantizeLinear, its transpose optimizer and its blocked layout, in versions 1.16 to 1.32.
#pragma once

#include <cstdint>

#include "core/graph/graph.h"

namespace tersor {

enum class RuntimeTrait : uint32_t {
  kFuses = 1,  // a kernel of codes computes it, or a Relu or Clip goes into the kernel before it, among quantizers
  kTakesSeveral = 2,  // of those, it takes several values, and fuses where all come from a DequantizeLinear
  kLetsThrough = 4,   // quantizers move to its other side in one version or another, or it is folded away
  kCarriesOnce =
      8,            // some version, not always the newest, moves a QuantizeLinear or DequantizeLinear to its other side
  kCarriesUp = 16,  // a QuantizeLinear after it moves before it
  kCarriesDown = 32,       // a DequantizeLinear before it moves after it: it runs on codes
  kKeepsOrder = 64,        // runs in whatever order of axes its input comes in
  kIsFreeAfterConv = 128,  // a float Conv before it computes it with what it writes, in no time of its own
};
constexpr RuntimeTrait operator|(RuntimeTrait a, RuntimeTrait b) {
  return static_cast<RuntimeTrait>(static_cast<uint32_t>(a) | static_cast<uint32_t>(b));
}

/// True when the runtime treats the node's operator so; by type, whatever the domain.
bool has_runtime_trait(const Node& node, RuntimeTrait trait);

}  // namespace tersor
