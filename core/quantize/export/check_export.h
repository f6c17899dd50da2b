// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/graph/graph.h"
#include "core/decide/plan.h"

namespace tersor::ptq {

/// Checks a quantized model against the rules that runtimes hold it to; a violation is a bug here and throws Error
/// kInternal naming node and rule:
///   1. the structure is valid, operator set and IR version are a known pair, inputs and outputs are those of the float
///      model
///   2. every scale is an initializer, positive, finite and normal; every zero point lies in its type; per-axis
///      parameters are as long as the axis
///   3. an int32 bias has the scale float32(s_x * s_w), channel by channel
///   4. what the plan calls an integer kernel stands as the runtime wants it: operands from DequantizeLinear, the
///      output of a Conv read by one QuantizeLinear alone, both sides of a mover with equal parameters
///   5. no operator with a float weight stands between a DequantizeLinear and a QuantizeLinear
void check_export(const Model& float_model, const Model& quantized, const QuantizationPlan& plan);

}  // namespace tersor::ptq
