// SPDX-License-Identifier: Apache-2.0
#include "core/report/saturation_remark.h"

#include <algorithm>
#include <cstdio>
#include <span>
#include <string>

#include "core/base/number_text.h"

namespace tersor::report {

namespace {

constexpr double kLeastShare = 1e-3;  // of a layer's sums, where they are only counted

double share(const SaturationRow& row) {
  return row.sums == 0 ? 0.0 : static_cast<double>(row.saturated) / static_cast<double>(row.sums);
}

std::string figure_of_decibels(const std::optional<double>& decibels) {
  return decibels ? formatted("%.1f dB", *decibels) : "no error";
}

/// " There the output SQNR is -2.7 dB, and 6 of 64 answers are the float model's."
std::string figures_there(const std::optional<WithoutVnni>& known) {
  if (!known) return "";
  std::string text = " There the output SQNR is " + figure_of_decibels(known->output_sqnr_db);
  if (const auto& kept = known->agreement; kept && kept->count > 0)
    text +=
        ", and " + std::to_string(kept->same) + " of " + std::to_string(kept->count) + " answers are the float model's";
  return text + ".";
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

std::optional<Diagnostic> saturation_remark(const Comparison& comparison, bool is_applied) {
  const std::vector<SaturationRow>& rows = comparison.saturation;
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
  return Diagnostic{
      "saturation",
      counts + (" pairs of products that do not fit into 16 bits, which x64 CPUs without VNNI cut off; "
                "most in \"" +
                worst->name + "\" (" + worst->op + part + figures_there(comparison.without_vnni)),
      worst->name,
      "For such CPUs quantize with 7-bit weights (the platform ort-cpu-avx2), or run with the session "
      "option session.x64quantprecision set to 1" +
          (comparison.without_vnni ? ", which gives " + figure_of_decibels(comparison.output_sqnr_db) + " there"
                                   : std::string()) +
          " (and refuses a weight that two operators share)."};
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
