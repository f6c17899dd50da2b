// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/tflite/lowering.h"

namespace tersor::tflite {

Held lower_conv(Lowering& graph, const Site& site);
Held lower_conv_transpose(Lowering& graph, const Site& site);
Held lower_pool(Lowering& graph, const Site& site);
Held lower_gemm(Lowering& graph, const Site& site);
Held lower_matmul(Lowering& graph, const Site& site);
Held lower_lstm(Lowering& graph, const Site& site);

/// A constant in real numbers.
Tensor floats_of(const ConstantValue& value);

}  // namespace tersor::tflite
