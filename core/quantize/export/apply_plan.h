// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "core/graph/graph.h"
#include "core/decide/plan.h"

namespace tersor::ptq {

/// The float model with the plan carried out: weights on their grid after one DequantizeLinear each, int32 biases
/// after theirs, a QuantizeLinear and a DequantizeLinear after every planned activation, between them a Cast and a
/// Gather that take each code to the nearest in the table where there is one, folded clamps gone. Names of
/// the model's tensors and nodes stay; what is new is called after them (x_scale, x_zero_point, x_quantized,
/// x_QuantizeLinear, x_DequantizeLinear). Inputs and outputs stay float under their names.
Model apply_plan(const Model& model, const QuantizationPlan& plan);

/// The same values by operators that the engine has, with codes and scales that can be changed: every weight after a
/// DequantizeLinear, whatever form the file gives those whose arithmetic is float.
Model apply_restored(const Model& model, QuantizationPlan plan);

/// A weight's integers as the file holds them: as they are, or two to a byte where the type has 4 bits.
Tensor stored_codes(std::span<const int8_t> codes, DType type, const Shape& shape);

}  // namespace tersor::ptq
