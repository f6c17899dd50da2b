// SPDX-License-Identifier: Apache-2.0
#include "core/report/saturation_remark.h"

#include <algorithm>
#include <cstdio>

namespace tersor::report {

namespace {

constexpr double kLeastShare = 1e-3;  // of a layer's sums, where they are only counted

double share(const SaturationRow& row) {
  return row.sums == 0 ? 0.0 : static_cast<double>(row.saturated) / static_cast<double>(row.sums);
}

/// CPUs without VNNI add the kernel's products in pairs, and these may not fit.
bool may_saturate(const Graph& graph, const ptq::QuantizationPlan& plan, const ptq::KernelPlan& kernel) {
  const bool is_depthwise = kernel.op.is_conv && kernel.op.inputs_per_group() == 1;
  const quant::IntegerGrid& weight = kernel.weight.grid;
  if (kernel.table || is_depthwise || kernel.op.is_transposed || !weight.is_signed || weight.n_bits != 8) return false;
  const ptq::ActivationPlan* const x = plan.find(graph.find(kernel.node)->inputs[0]);
  if (x == nullptr || x->table || x->params.storage() != DType::kUint8) return false;
  return std::any_of(plan.outcomes.begin(), plan.outcomes.end(), [&](const ptq::NodeOutcome& one) {
    return one.node == kernel.node && (one.arithmetic == ptq::NodeOutcome::Arithmetic::kInteger ||
                                       one.arithmetic == ptq::NodeOutcome::Arithmetic::kIntegerFloatOutput);
  });
}

}  // namespace

std::optional<Diagnostic> saturation_remark(std::span<const SaturationRow> rows, bool is_applied) {
  const auto counts_in = [&](const SaturationRow& row) {
    return row.saturated > 0 && (is_applied || share(row) >= kLeastShare);
  };
  const auto worst =
      std::max_element(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return share(a) < share(b); });
  if (worst == rows.end() || !counts_in(*worst)) return std::nullopt;
  const auto layers = std::count_if(rows.begin(), rows.end(), counts_in);
  char counts[48], part[48];
  std::snprintf(counts, sizeof counts, "%d layer%s", static_cast<int>(layers), layers == 1 ? " adds" : "s add");
  std::snprintf(part, sizeof part, "): %.2g %% of its sums.", 100 * share(*worst));
  return Diagnostic{"saturation",
                    counts + (" pairs of products that do not fit into 16 bits, which x64 CPUs without VNNI cut off; "
                              "most in \"" +
                              worst->name + "\" (" + worst->op + part),
                    worst->name,
                    "For such CPUs quantize with 7-bit weights (the platform ort-cpu-avx2), or run with the session "
                    "option session.x64quantprecision set to 1 (which refuses a weight that two operators share)."};
}

std::optional<Diagnostic> saturation_warning(const Graph& graph, const ptq::QuantizationPlan& plan) {
  const bool may = std::any_of(plan.kernels.begin(), plan.kernels.end(),
                               [&](const ptq::KernelPlan& kernel) { return may_saturate(graph, plan, kernel); });
  if (!may) return std::nullopt;
  return Diagnostic{
      "saturation", "x64 CPUs without VNNI add products in pairs and cut off those pairs that do not fit into 16 bits.",
      "",
      "Where the file may run on one, see what it gives there (compare --runtime avx2) or quantize for it "
      "(--platform ort-cpu-avx2)."};
}

}  // namespace tersor::report
