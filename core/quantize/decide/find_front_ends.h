// SPDX-License-Identifier: Apache-2.0
// Finds front ends that need more than 8 bits. A logarithm, root, power or reciprocal magnifies the errors of small
// operands: a spectrum with an SQNR of 30 dB is noise after the logarithm. The kernels upstream of such an operator
// stay in float. There are two exceptions. If the operand is a statistic, such as the variance of a normalization, the
// errors average out. If the operator computes the length of vectors, the length errs no more than the vectors do.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/calibrate/statistics.h"
#include "core/config/quantization_config.h"
#include "core/decide/role.h"
#include "core/graph/graph.h"

namespace tersor::ptq {

struct CorrectedModel;
struct Placement;
struct Rewrite;

/// A kernel that stays in float, and the reason as a sentence.
struct FloatChoice {
  NodeId node;
  std::string reason;
  /// True if the kernel's weight, where it has one, is stored in integers nevertheless.
  bool stores_weight = false;
};

/// The tensors whose statistics find_front_ends() needs: operands of such operators with a kernel upstream, and inputs
/// and outputs of the reductions in front of them.
std::vector<ValueId> front_end_operands(const Graph& graph, const std::vector<NodeRole>& roles);

/// Returns the kernels upstream of each operator that would lose at least 10 dB of an operand with an SQNR of 30 dB, in
/// graph order without duplicates. The loss is computed from the operand's histogram: noise 30 dB below the operand's
/// power, of either sign, is sent through the function. The root of a sum of squares is exempt, because it undoes what
/// the squares do.
std::vector<FloatChoice> find_front_ends(const Graph& graph, const Placement& placement,
                                         const calibrate::Statistics& statistics);

/// The correction: such kernels stay in float. Returns nothing if there are none.
std::optional<Rewrite> keep_front_ends_in_float(CorrectedModel& model, const config::QuantizationConfig&);

}  // namespace tersor::ptq
