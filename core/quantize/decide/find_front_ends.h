// SPDX-License-Identifier: Apache-2.0
// Front ends that 8 bits cannot feed. A logarithm, root, power or reciprocal magnifies the errors of small operands: a
// spectrum that comes out of integer kernels at 30 dB is noise after the logarithm. What lies upstream of such an
// operator stays in float, unless its operand is a statistic (the variance of a normalisation), whose errors average
// out, or it takes the length of vectors, which moves by no more than they do.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/calibrate/statistics.h"
#include "core/config/quantization_config.h"
#include "core/graph/graph.h"
#include "core/decide/role.h"

namespace tersor::ptq {

struct CorrectedModel;
struct Placement;
struct Rewrite;

/// A kernel that stays in float, with the reason: a sentence.
struct FloatChoice {
  NodeId node;
  std::string reason;
  /// Its weight is stored in integers all the same, where it has one.
  bool stores_weight = false;
};

/// The tensors whose statistics find_front_ends() looks at: operands of such operators with a kernel upstream, and both
/// sides of the reductions before them.
std::vector<ValueId> front_end_operands(const Graph& graph, const std::vector<NodeRole>& roles);

/// The kernels upstream of each operator that would lose at least 10 dB of an operand of 30 dB, in the order of the
/// graph, each once. The loss is computed from the operand's histogram: noise of the operand's power less 30 dB, of
/// either sign, is sent through the function. A root of a sum of squares is none of them: it undoes what they do.
std::vector<FloatChoice> find_front_ends(const Graph& graph, const Placement& placement,
                                         const calibrate::Statistics& statistics);

/// The correction: such kernels join those that stay in float. None where there are none.
std::optional<Rewrite> keep_front_ends_in_float(CorrectedModel& model, const config::QuantizationConfig&);

}  // namespace tersor::ptq
