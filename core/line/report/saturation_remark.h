// SPDX-License-Identifier: Apache-2.0
// Saturation on x64 CPUs without VNNI, for files with uint8 activations and int8 weights. These CPUs add products in
// pairs, and the sum of a pair saturates at 16 bits (core/simulate/pair_saturation.h).
#pragma once

#include <optional>

#include "core/base/diagnostic.h"
#include "core/decide/plan.h"
#include "core/graph/graph.h"
#include "core/report/comparison.h"

namespace tersor::report {

/// A remark that names the layer that saturates most, what such a CPU gives where that is known, and the remedy;
/// nothing if hardly any sum saturates. With `is_applied` the figures already contain the saturation (the runtime
/// avx2); then any saturated sum counts.
std::optional<Diagnostic> saturation_remark(const Comparison& comparison, bool is_applied = false);

/// A warning that sums may saturate, if nobody counted them; nothing if a plan has no such kernel.
std::optional<Diagnostic> saturation_warning(const Graph& graph, const ptq::QuantizationPlan& plan);

}  // namespace tersor::report
