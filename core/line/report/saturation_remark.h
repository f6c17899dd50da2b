// SPDX-License-Identifier: Apache-2.0
// What x64 CPUs without VNNI make of a file with uint8 activations and int8 weights: they add products in pairs, and a
// pair's sum saturates at 16 bits (core/simulate/pair_saturation.h).
#pragma once

#include <optional>
#include <span>

#include "core/base/diagnostic.h"
#include "core/graph/graph.h"
#include "core/decide/plan.h"
#include "core/report/comparison.h"

namespace tersor::report {

/// A remark that names the layer that saturates most, and the remedy; none where next to nothing does. `is_applied`:
/// the figures are those of a CPU that cuts off (the runtime avx2); then any sum counts.
std::optional<Diagnostic> saturation_remark(std::span<const SaturationRow> rows, bool is_applied = false);

/// Says that sums may saturate where nobody has counted those that do; none where a plan has no such kernel.
std::optional<Diagnostic> saturation_warning(const Graph& graph, const ptq::QuantizationPlan& plan);

}  // namespace tersor::report
