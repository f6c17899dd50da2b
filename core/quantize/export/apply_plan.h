// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "core/decide/plan.h"
#include "core/graph/graph.h"

namespace tersor::ptq {

/// Applies the plan to the float model:
///   - each weight is stored as codes, with a DequantizeLinear; int32 biases likewise;
///   - each planned activation is followed by QuantizeLinear and DequantizeLinear, with a Cast and a Gather in between
///     that replace each code by the nearest code of the table, if the plan has a table;
///   - folded clamps are removed.
///
/// Tensors and nodes of the model keep their names. New ones are named after them (x_scale, x_zero_point, x_quantized,
/// x_QuantizeLinear, x_DequantizeLinear). Inputs and outputs stay float under their names.
Model apply_plan(const Model& model, const QuantizationPlan& plan);

/// The same values for the engine, with codes and scales that can be changed: every weight has a DequantizeLinear, even
/// if the file stores it in another form.
Model apply_restored(const Model& model, QuantizationPlan plan);

/// The codes of a weight as the file stores them: unchanged, or two per byte for a 4-bit type.
Tensor stored_codes(std::span<const int8_t> codes, DType type, const Shape& shape);

}  // namespace tersor::ptq
