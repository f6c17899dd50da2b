// SPDX-License-Identifier: Apache-2.0
// com.microsoft QLinearAdd and QLinearMul: the runtimes' own arithmetic, which differs between x64, WebAssembly and
// ARM64. Formulas: onnxruntime core/mlas/lib/qladd.cpp, qladd_avx2.cpp, qlmul.cpp, measured bit for bit.
#pragma once

#include <cstdint>
#include <span>

#include "core/simulate/arithmetic.h"
#include "core/simulate/profile.h"

namespace tersor::simulate {

enum class BinaryKind { kAdd, kMul };

/// How the operands of one inner loop lie: both run, or one is a single value that is repeated.
enum class InnerBroadcast { kNone, kScalarA, kScalarB };

/// y[i] = a[i] op b[i] over an inner loop of y.size() elements; a scalar operand has one element.
void qlinear_binary(BinaryKind kind, Profile profile, std::span<const uint8_t> a, const Grid& grid_a,
                    std::span<const uint8_t> b, const Grid& grid_b, std::span<uint8_t> y, const Grid& grid_y,
                    InnerBroadcast broadcast);

}  // namespace tersor::simulate
