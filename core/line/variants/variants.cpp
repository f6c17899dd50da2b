// SPDX-License-Identifier: Apache-2.0
#include "core/variants/variants.h"

#include <cmath>
#include <utility>

#include "core/base/names.h"
#include "core/half/half_floats.h"
#include "core/onnx/rewrite_forms.h"
#include "core/onnx/write.h"
#include "core/passes/passes.h"
#include "core/report/report_of.h"
#include "core/samples/selection.h"
#include "core/tpc/builtin.h"

namespace tersor {

namespace {

constexpr VariantKind kKinds[] = {
    {"fp32", "model.onnx", "", ""},
    {"fp16", "model_fp16.onnx", "", "", true},
    {"q8", "model_quantized.onnx", "ort-cpu", "weight-only-int8"},
    {"int8", "model_int8.onnx", "ort-cpu-s8s8", "weight-only-int8"},
    {"uint8", "model_uint8.onnx", "ort-web", "weight-only-int8"},
    {"q4", "model_q4.onnx", "ort-matmul-nbits", "ort-matmul-nbits"},
    {"q4_int8", "model_q4_int8.onnx", "ort-unpacked-weights", "weight-only-int4"},
    {"q4f16", "model_q4f16.onnx", "ort-matmul-nbits", "ort-matmul-nbits", true},
};

Variant row_of(const VariantKind& kind) {
  Variant row;
  row.dtype = kind.dtype;
  row.file = kind.file;
  return row;
}

/// Turns the model into that of the file; returns the same for the engine.
Model halve(Model& whole, const Largest* largest, std::vector<std::string>& notes) {
  half::SeenValues seen = half::seen_values(whole);
  if (largest != nullptr) {
    seen.largest = *largest;
    for (size_t k = 0; k < seen.types.size(); ++k)
      if (seen.types[k] == DType::kUndefined &&
          largest->contains(whole.graph.name_of(ValueId{static_cast<int32_t>(k)})))
        seen.types[k] = DType::kFloat32;
  }
  const std::vector<half::FloatNode> in_float32 = half::nodes_in_float32(whole, seen);
  for (const half::FloatNode& one : in_float32) {
    const Node* node = whole.graph.find(one.node);
    notes.push_back("\"" + whole.graph.label_of(*node) + "\" (" + node->op_type + ") keeps float32: " + one.reason +
                    ".");
  }
  Model computed = half::rounded_to_half(whole, seen, in_float32);
  whole = half::with_half_floats(std::move(whole), seen, in_float32);
  return computed;
}

}  // namespace

std::span<const VariantKind> variant_kinds() {
  return kKinds;
}

std::vector<std::string> variant_names() {
  std::vector<std::string> names;
  for (const VariantKind& kind : kKinds) names.emplace_back(kind.dtype);
  return names;
}

const VariantKind& variant_kind(std::string_view dtype) {
  for (const VariantKind& kind : kKinds)
    if (kind.dtype == dtype) return kind;
  throw Error(ErrorCode::kInvalidArgument, "There is no variant \"" + std::string(dtype) + "\".", "variants",
              suggestion(dtype, variant_names()) + "There are " + joined(variant_names()) + ".");
}

Variant refused_variant(const VariantKind& kind, const Error& error) {
  if (error.code != ErrorCode::kUnsupportedModel) throw error;
  Variant row = row_of(kind);
  row.refused = Diagnostic{std::string(to_word(error.code)), error.message, error.place, error.hint};
  return row;
}

VariantSamples variant_samples(int64_t total, int64_t calibrate, int64_t judge) {
  VariantSamples chosen;
  chosen.calibrated =
      samples::spread_evenly(total, calibrate > 0 ? calibrate : samples::default_calibration_count(total, true));
  chosen.judged = samples::for_evaluation(total, chosen.calibrated, judge > 0 ? judge : total);
  chosen.held_aside = static_cast<int64_t>(chosen.calibrated.size()) < total;
  return chosen;
}

Settings variant_settings(const VariantKind& kind, bool has_samples) {
  return {tpc::get_target_platform_capabilities(std::string(kind.platform_of(has_samples))), {}};
}

VariantFile variant_file(const VariantKind& kind, const OpenedModel& opened, const QuantizedFile* quantized,
                         const Largest* largest) {
  VariantFile made;
  made.row = row_of(kind);
  Model model = quantized != nullptr ? quantized->result.model : opened.model;
  if (quantized != nullptr) {
    made.report = report_of(*quantized->job, quantized->result, {}, static_cast<int64_t>(opened.file_bytes));
    made.row.platform = quantized->job->settings.platform.name;
  } else {
    made.report.model.size_bytes = static_cast<int64_t>(opened.file_bytes);
  }
  if (kind.is_half) {
    // An exporter may hold weights in Constant nodes.
    if (quantized == nullptr) passes::fold_constants(model);
    made.computed = halve(model, largest, made.row.notes);
    made.report.time.reset();  // prices are of float32
  } else if (quantized != nullptr) {
    made.computed = model;
  }
  if (kind.is_half || quantized == nullptr)
    made.bytes = onnx::write(onnx::restore_edges(std::move(model)));
  else
    made.bytes = quantized->result.bytes;
  made.report.output.size_bytes = static_cast<int64_t>(made.bytes.size());
  made.row.size_bytes = made.report.output.size_bytes;
  made.row.time = made.report.time;
  return made;
}

namespace {

constexpr double kClearly = 1.05;

/// 0: not to be taken.
int rank_of(const Variant& row) {
  const auto usability = row.verdict->usability;
  return usability == report::Usability::kUsable ? 2 : usability == report::Usability::kUsableWithCare ? 1 : 0;
}

bool is_better(const Variant& row, const Variant& other) {
  if (rank_of(row) != rank_of(other)) return rank_of(row) > rank_of(other);
  const auto speed_of = [](const Variant& one) { return one.time ? one.time->times_as_fast : 1; };
  const double faster = speed_of(row) / speed_of(other);
  if (faster > kClearly || faster * kClearly < 1) return faster > 1;
  const double larger = static_cast<double>(*row.size_bytes) / static_cast<double>(*other.size_bytes);
  if (larger > kClearly || larger * kClearly < 1) return larger < 1;
  const auto error_of = [](const Variant& one) { return one.comparison->output_sqnr_db.value_or(INFINITY); };
  return error_of(row) > error_of(other);
}

}  // namespace

void judge(Variant& row, report::Report report, report::Comparison comparison, bool held_aside,
           const std::optional<Diagnostic>& guess, const Variant* leader) {
  report.samples.evaluation = comparison.samples;
  report.samples.held_aside = held_aside;
  if (guess) report.diagnostics.push_back(*guess);
  report.comparison = std::move(comparison);
  row.held_aside = held_aside;
  row.verdict = report::verdict_of(report);
  row.comparison = std::move(report.comparison);
  row.leads = rank_of(row) > 0 && (leader == nullptr || is_better(row, *leader));
}

}  // namespace tersor
