// SPDX-License-Identifier: Apache-2.0
// tersor compare: the float model beside the quantized one, layer by layer.
#include "core/report/compare.h"

#include <cinttypes>
#include <cmath>
#include <memory>

#include "core/base/number_text.h"
#include "core/base/json.h"
#include "core/base/sort_stably.h"
#include "core/cli/command.h"
#include "core/cli/data_option.h"
#include "core/cli/model_file.h"
#include "core/cli/print.h"
#include "core/cli/progress_line.h"
#include "core/job/tersor.h"
#include "core/native/compare_samples.h"
#include "core/report/saturation_remark.h"
#include "core/report/verdict.h"

namespace tersor::cli {

namespace {

struct CompareOptions {
  std::string float_model, quantized_model, runtime = "x64";
  DataOption data;
  Workforce workforce{0, progress_line()};
  bool classes = false;
  std::string output_roles = "{}";
  bool json = false;
};

std::string in_decibels(const std::optional<double>& value) {
  if (!value) return "exact";
  if (!std::isfinite(*value)) return "not finite";
  return formatted("%.1f dB", *value);
}

void print_layers(std::vector<report::LayerRow> layers) {
  sort_stably(layers, [](const auto& a, const auto& b) { return a.error_share > b.error_share; });
  print("\n%-32s %-18s %9s %9s %8s  %s\n", "layer, worst first", "operator", "alone", "so far", "share", "range");
  for (const report::LayerRow& row : layers) {
    const std::string op = row.op + (row.detail.empty() ? "" : " " + row.detail);
    print("%-32s %-18s %9s %9s %6.1f %%  %.4g ... %.4g %s\n", row.name.c_str(), op.c_str(),
          in_decibels(row.isolated_sqnr_db).c_str(), in_decibels(row.accumulated_sqnr_db).c_str(),
          100 * row.error_share, (*row.range)[0], (*row.range)[1], row.type.c_str());
  }
}

void print_saturation(const report::Comparison& comparison, bool is_applied) {
  const auto remark = report::saturation_remark(comparison, is_applied);
  if (!remark) return;
  print("\n%-32s %-18s %12s %12s\n", "layer that saturates", "operator", "sums", "saturated");
  for (const report::SaturationRow& row : comparison.saturation)
    if (row.saturated > 0)
      print("%-32s %-18s %12" PRId64 " %12" PRId64 "\n", row.name.c_str(), row.op.c_str(), row.sums, row.saturated);
  print("%s\n%s\n", remark->message.c_str(), remark->hint.c_str());
}

void print_float_sums(const report::Comparison& comparison) {
  if (comparison.float_sums.empty()) return;
  print("\n%-32s %-18s %12s %12s %10s\n", "float sums in the runtime's order", "operator", "values", "undecided",
        "steps");
  for (const report::FloatSumRow& row : comparison.float_sums)
    print("%-32s %-18s %12" PRId64 " %12" PRId64 " %10.2g\n", row.name.c_str(), row.op.c_str(), row.values,
          row.undecided, row.largest_difference_steps);
}

void print_comparison(const report::Comparison& comparison, const report::CompareProgram& program) {
  const std::string runtime(enum_word(program.runtime()));
  const report::Verdict verdict = verdict_by(comparison);
  print("%s: %s\n", std::string(enum_word(verdict.usability)).c_str(), verdict.reason.c_str());
  print("%" PRId64 " samples, layers in %" PRId64 " of them, arithmetic of %s\n", comparison.samples,
        comparison.layer_samples, runtime.c_str());
  for (const report::OutputComparison& one : comparison.outputs) {
    print("output %-24s %s\n", one.name.c_str(),
          one.compared() ? in_decibels(one.sqnr_db).c_str()
                         : "not compared: its shape was never that of the float model");
    if (one.worst_sample)
      print("  median sample %s; worst %s (sample %" PRId64 ")\n", in_decibels(one.median_sqnr_db).c_str(),
            in_decibels(one.worst_sqnr_db).c_str(), *one.worst_sample);
    if (one.kept) print("  %s\n", report::kept_text(one).c_str());
    for (const report::OutputPart& part : one.parts)
      print("  axis %" PRId64 ", %s (to %.3g): %s\n", part.axis, part.indices.c_str(), part.largest,
            in_decibels(part.sqnr_db).c_str());
  }
  for (const report::UnusualSample& one : comparison.unusual_samples)
    print("sample %" PRId64 " reaches %.6g in %s, the others %.6g\n", one.sample, one.reaches, one.output.c_str(),
          one.others);
  if (comparison.agreement)
    print("same answer as float: %" PRId64 " of %" PRId64 "\n", comparison.agreement->same,
          comparison.agreement->count);
  print_layers(comparison.layers);
  print_saturation(comparison, runtime == "avx2");
  if (!program.float_islands().empty()) print("\nruns in float there:\n");
  for (const simulate::FloatIsland& island : program.float_islands())
    print("  %s (%s): %s%s\n", island.node.c_str(), island.op.c_str(), island.reason.c_str(),
          island.exact ? "" : "; its last bits depend on the runtime's order of sums");
  print_float_sums(comparison);
}

void compare(const CompareOptions& options) {
  const auto profile = enum_from_word<simulate::Profile>(options.runtime, "--runtime");
  const ModelFile reference = open_runnable_model(options.float_model),
                  quantized = open_runnable_model(options.quantized_model);
  // A file that this program wrote may have its weights after operators that a runtime computes once.
  if (!simulate::is_quantized(quantized.model) && !is_written_here(quantized.model))
    throw Error(ErrorCode::kInvalidArgument, "The second model holds no QuantizeLinear or DequantizeLinear.",
                options.quantized_model, "Give the float model first, then the quantized one.");
  config::OutputRoles roles;
  from_json(parse_json(options.output_roles, "--output-roles"), roles, "--output-roles");
  const auto program = report::CompareProgram::make(reference.model, quantized.model, profile, options.classes, roles);
  const auto data = open_data(options.data, reference.model, options.json);
  const std::vector<int64_t> chosen = chosen_samples(options.data, *data);
  const report::Comparison comparison =
      compare_samples(program, data, chosen, report::layer_samples(chosen), options.workforce);
  if (options.json)
    print("%s\n", to_text(comparison_json(comparison, *program)).c_str());
  else
    print_comparison(comparison, *program);
}

}  // namespace

void add_compare(CLI::App& program) {
  CLI::App& command = *program.add_subcommand("compare", "What quantization did, layer by layer, on samples.");
  command.footer(
      "Examples:\n  tersor compare model.onnx model.int8.onnx --data pictures/\n  tersor compare model.onnx "
      "model.int8.onnx --data samples.npy --runtime arm64 --json");
  auto options = std::make_shared<CompareOptions>();
  command.add_option("FLOAT", options->float_model, "The float model, ONNX or .tflite.")->required();
  command.add_option("QUANT", options->quantized_model, "The quantized file made from it, ONNX or int8 .tflite.")
      ->required();
  add_data_option(command, options->data, false);
  command
      .add_option("--runtime", options->runtime,
                  "Whose arithmetic: x64, wasm, arm64, avx2 or tflite-micro, which a .tflite file always has")
      ->capture_default_str();
  command.add_flag("--classes", options->classes,
                   "The first output is scores of classes, though no Softmax stands at its end");
  command.add_option(
      "--output-roles", options->output_roles,
      "What outputs hold where the graph does not tell, as JSON: {\"y\": \"boxes\"}; the words are those "
      "of the field output_roles");
  add_threads(command, options->workforce.threads);
  command.add_flag("--json", options->json, "Print JSON.");
  command.callback([options] { compare(*options); });
}

}  // namespace tersor::cli
