// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/decide/plan.h"
#include "core/graph/graph.h"

namespace tersor::ptq {

/// Checks a quantized model against the rules of the runtimes. A violation is a bug in this program and throws Error
/// kInternal, naming node and rule:
///   1. The structure is valid, operator set is at least 13 and the IR version at least 8, and inputs and outputs are
///   those of the
///      float model.
///   2. Every scale is an initializer, positive, finite and normal. Every zero point lies in its type. Per-axis
///      parameters are as long as the axis.
///   3. An int32 bias has the scale float32(s_x * s_w), channel by channel.
///   4. A node that the plan calls an integer kernel meets the runtime's conditions. Its operands come from
///      DequantizeLinear, and the output of a Conv is read only by a QuantizeLinear.
///   5. No operator with a float weight stands between a DequantizeLinear and a QuantizeLinear.
void check_export(const Model& float_model, const Model& quantized, const QuantizationPlan& plan);

}  // namespace tersor::ptq
