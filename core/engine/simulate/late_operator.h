// SPDX-License-Identifier: Apache-2.0
// Most kernels here take their scales, zero points and weights as constants, as nearly all models have them. Where a
// model computes them, or leaves a zero point out, the kernel is prepared anew in each run, from the values it then
// has.
#pragma once

#include <array>

#include "core/simulate/operator_parts.h"

namespace tersor::simulate {

/// An integer operator: who prepares its kernel, and which of its inputs that wants to know beforehand.
struct IntegerOperator {
  std::string_view domain, type;
  PrepareFunction prepare;
  /// The inputs that prepare() does not ask for; null: it asks for none.
  bool (*is_data)(size_t k) = nullptr;
  /// Zero points that the operator may leave out: 0 of the type of the tensor two places before, where that is data,
  /// and of input 0 else. 0: no more.
  std::array<size_t, 3> zero_points = {};
  int64_t since = 1;  // the first operator set that has it
};

/// Calls op.prepare with what is constant, or makes a kernel that calls it later.
std::unique_ptr<const ops::Kernel> prepare_now_or_later(const IntegerOperator& op, ops::Setup& setup, Profile profile);

}  // namespace tersor::simulate
