// SPDX-License-Identifier: Apache-2.0
#include "core/report/range_remarks.h"

#include "core/base/number_text.h"
#include "core/choose/block_weight.h"
#include "core/choose/pad_fillers.h"
#include "core/export/pack_codes.h"
#include "core/graph/uses.h"
#include "core/quant/error_functions.h"
#include "core/quant/quantizer.h"

namespace tersor::report {

namespace {

Diagnostic remark(const std::string& what, double decibels, const std::string& place, const std::string& hint) {
  return {"coarse_range",
          "The range chosen for " + what + " leaves " + formatted("%.1f dB", decibels) +
              " of signal to quantization noise by itself, less than " + formatted("%.1f dB", kLeastRangeSqnrDb) + ".",
          place, hint};
}

/// Of a kernel's weight, which is float32 in the graph.
std::optional<double> weight_sqnr_db(const Graph& graph, const ptq::KernelPlan& kernel) {
  const Tensor* weight = graph.initializer(kernel.op.weight);
  if (weight == nullptr || weight->dtype() != DType::kFloat32) return std::nullopt;
  const Tensor exact = weight->aligned();
  if (kernel.blocks) return quant::sqnr_db(exact, ptq::read_back(kernel, exact));
  return quant::sqnr_db(exact, quant::fake_quantize(exact, kernel.rounding()));
}

}  // namespace

double expected_sqnr_db(const quant::Histogram& seen, const quant::QuantizationParams& params,
                        const std::optional<quant::LutParams>& table) {
  const quant::IntegerGrid& grid = params.grid;
  const int32_t zero_point = params.zero_point[0];
  const std::vector<uint8_t> codes = table ? quant::nearest_codes(*table, zero_point) : std::vector<uint8_t>();
  const auto error_of = [&](double x) {
    int32_t q = quant::quantize_value(static_cast<float>(x), params.scale[0], zero_point, grid.q_min(), grid.q_max());
    if (table) q = codes[static_cast<size_t>(q)];
    return x - quant::dequantize_value(q, params.scale[0], zero_point);
  };
  const double of_zero = error_of(0);
  double signal = 0, noise = static_cast<double>(seen.zeros()) * of_zero * of_zero;
  for (size_t i = 0; i < seen.counts().size(); ++i) {
    double count = static_cast<double>(seen.counts()[i]);
    if (seen.lower(i) == 0) count -= static_cast<double>(seen.zeros());
    if (count == 0) continue;
    const double x = seen.center(i), error = error_of(x);
    signal += count * x * x;
    noise += count * error * error;
  }
  return quant::decibels(signal, noise);
}

std::vector<Diagnostic> range_remarks(const Graph& graph, const ptq::Placement& placement,
                                      const ptq::QuantizationPlan& plan, const calibrate::Statistics& statistics) {
  std::vector<Diagnostic> remarks;
  const Uses uses(graph);
  const ptq::PadFillers fillers(graph, uses, placement);
  for (const ptq::ActivationPlan& one : plan.activations) {
    const std::string& name = graph.name_of(one.tensor.value);
    const calibrate::TensorStatistics* seen = statistics.find(name);
    if (fillers.is_passed_over(one.tensor)) continue;
    if (one.params.per_channel() || seen == nullptr || (seen->histogram.empty() && seen->elements != 0)) continue;
    if (seen->histogram.min() == 0 && seen->histogram.max() == 0) {
      const std::string was = seen->elements == 0 ? "empty" : "0";
      remarks.push_back({"never_moved",
                         "The tensor \"" + name + "\" was " + was + " in every sample; its range is a guess.", name,
                         "Give samples in which it moves, for a state values from the middle of a sequence."});
      continue;
    }
    const double decibels = expected_sqnr_db(seen->histogram, one.params, one.table);
    if (decibels >= kLeastRangeSqnrDb) continue;
    const auto maker = uses.producer_index(one.tensor.value);
    const std::string of =
        maker ? " (" + graph.nodes()[*maker].op_type + " \"" + graph.nodes()[*maker].name + "\")" : "";
    remarks.push_back(remark("the tensor \"" + name + "\"" + of, decibels, name,
                             "Choose another activation_threshold_method, more bits, or keep the operator in float."));
  }
  for (const ptq::KernelPlan& kernel : plan.kernels) {
    const std::optional<double> decibels = weight_sqnr_db(graph, kernel);
    // Few bits give no more than this: 6 dB each, less what a weight's extremes reach beyond the others.
    const double of_bits = 6.0 * (kernel.blocks ? kernel.blocks->grid : kernel.weight.grid).n_bits - 9;
    if (!decibels || *decibels >= std::min(kLeastRangeSqnrDb, of_bits)) continue;
    const Node& node = *graph.find(kernel.node);
    remarks.push_back(
        remark("the weight \"" + graph.name_of(kernel.op.weight) + "\" of " + node.op_type + " \"" + node.name + "\"",
               *decibels, node.name, "Choose another weights_threshold_method, one range per channel, or more bits."));
  }
  return remarks;
}

namespace {

/// What a runtime holds at once while it unpacks weights for integer kernels.
std::optional<Diagnostic> opening_remark(const Graph& graph, const ptq::QuantizationPlan& plan) {
  constexpr int64_t kWorthSaying = 16'000'000;
  int64_t bytes = 0;
  for (const ptq::KernelPlan& kernel : plan.kernels) {
    const Tensor* weight = graph.initializer(kernel.op.weight);
    if (kernel.has_levels() && weight != nullptr)
      bytes += weight->elements() * ptq::bytes_of_opening(kernel.blocks->grid.n_bits);
  }
  if (bytes < kWorthSaying) return std::nullopt;
  return Diagnostic{"opening_memory",
                    "The weights are unpacked once, when the file is opened. ONNX Runtime takes about " +
                        formatted("%.0f MB", static_cast<double>(bytes) / 1e6) +
                        " for that, which it frees again. With its graph optimizations switched off it unpacks them "
                        "in every run.",
                    "", "Leave the optimizations on; where that memory is not there, choose ort-cpu (8 bits)."};
}

}  // namespace

std::vector<Diagnostic> remarks_of(std::vector<Diagnostic> warnings, const std::vector<Diagnostic>& notes,
                                   const Graph& graph, const ptq::Placement& placement,
                                   const ptq::QuantizationPlan& plan, const calibrate::Statistics& statistics) {
  warnings.insert(warnings.end(), notes.begin(), notes.end());
  if (auto remark = opening_remark(graph, plan)) warnings.push_back(std::move(*remark));
  for (Diagnostic& one : range_remarks(graph, placement, plan, statistics)) warnings.push_back(std::move(one));
  return warnings;
}

}  // namespace tersor::report
