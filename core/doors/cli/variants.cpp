// SPDX-License-Identifier: Apache-2.0
// tersor variants MODEL.onnx [--data DATA] -o FOLDER: every file that the model may be shipped as, in one table.
#include <cmath>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/base/names.h"
#include "core/base/number_text.h"
#include "core/cli/data_option.h"
#include "core/cli/files.h"
#include "core/cli/model_file.h"
#include "core/cli/print.h"
#include "core/cli/progress_line.h"
#include "core/native/make_variants.h"
#include "core/native/size_text.h"

namespace tersor::cli {

namespace {

constexpr const char* kTable = "variants.json";

struct VariantsOptions {
  std::string model, output;
  DataOption data;
  std::vector<std::string> names = variant_names();
  Workforce workforce{0, progress_line()};
  bool json = false, verbose = false;
};

/// "45.1 dB, 31 of 32 answers the same": SQNR and what else there is of the outputs.
std::string figures_text(const report::Comparison& found) {
  const auto& decibels = found.output_sqnr_db;
  std::string text = !decibels ? "exact" : !std::isfinite(*decibels) ? "not finite" : formatted("%.1f dB", *decibels);
  if (found.agreement)
    return text + ", " + std::to_string(found.agreement->same) + " of " + std::to_string(found.agreement->count) +
           " answers the same";
  const report::OutputComparison& first = found.outputs.at(0);
  const auto& cosine = first.kind == report::OutputKind::kEmbedding ? first.median_cosine : first.cosine_similarity;
  return cosine ? text + ", cosine " + formatted("%.4f", *cosine) : text;
}

void print_row(const Variant& row, bool verbose) {
  if (row.refused) {
    print("%-6s %-22s not made: %s\n", row.dtype.c_str(), row.file.c_str(), row.refused->message.c_str());
    return;
  }
  print("%-6s %-22s %10s", row.dtype.c_str(), row.file.c_str(), size_text(*row.size_bytes).c_str());
  if (row.comparison) print("  %s", figures_text(*row.comparison).c_str());
  if (row.time) print(", %.2f times as fast (forecast)", row.time->times_as_fast);
  if (row.verdict) print(": %s", std::string(enum_word(row.verdict->usability)).c_str());
  print("\n");
  if (!row.notes.empty() && !verbose) print("       %zu nodes keep float32; --verbose names them\n", row.notes.size());
  if (!verbose) return;
  if (row.verdict) print("       %s\n", row.verdict->reason.c_str());
  for (const std::string& note : row.notes) print("       %s\n", note.c_str());
}

void make(const VariantsOptions& options) {
  ModelFile file = open_model(options.model);
  VariantRequest request{std::make_shared<const OpenedModel>(opened_model(std::move(file))), nullptr,
                         options.data.limit, options.names};
  if (!options.data.data.empty())
    request.data = open_data(options.data, request.opened->model, options.json);
  else if (!options.json)
    print("Without --data: weights alone are in integers, float16 is chosen without values, and nothing is judged.\n");
  std::error_code none;
  std::filesystem::create_directories(options.output, none);
  const std::filesystem::path folder(options.output);
  Json rows = Json::array();
  if (request.data && !options.json && !variant_samples(request.data->size(), request.calibrate).held_aside)
    print("All samples calibrate, so that the same judge: give more of them, or a lower --limit.\n");
  VariantMaker maker(std::move(request));
  while (const auto made = maker.next(options.workforce)) {
    if (!made->row.refused) write_file((folder / made->row.file).string(), made->bytes);
    rows.push_back(to_json(made->row));
    if (!options.json) print_row(made->row, options.verbose);
  }
  const Json table{{"model", file_name(options.model)}, {"variants", rows}};
  write_files({{(folder / kTable).string(), bytes_of(to_text(table) + "\n")}});
  if (options.json) print("%s\n", to_text(table).c_str());
}

}  // namespace

void add_variants(CLI::App& program) {
  auto options = std::make_shared<VariantsOptions>();
  CLI::App* command = program.add_subcommand(
      "variants", "Every file that the model may be shipped as, float16 to 4 bits, each with what it costs");
  command->footer(
      "Examples:\n  tersor variants model.onnx --data samples/ -o onnx/\n  tersor variants model.onnx --only fp16,q4 "
      "-o "
      "onnx/");
  command->add_option("MODEL", options->model, "A float ONNX model")->required();
  command
      ->add_option("-o,--output", options->output,
                   "The folder for the files, named as transformers.js looks for them, and variants.json")
      ->required();
  add_data_option(*command, options->data, false);
  command->get_option("--data")->required(false);
  command->get_option("--limit")->description(
      "Calibrate on at most this many samples, spread evenly; default 0: 128, and at most half");
  command->add_option("--only", options->names, "Of " + joined(variant_names()) + ": those to make; default: all")
      ->delimiter(',')
      ->check(CLI::IsMember(variant_names()));
  add_threads(*command, options->workforce.threads);
  command->add_flag("--verbose", options->verbose, "Name every node that keeps float32, and why");
  command->add_flag("--json", options->json, "Print variants.json");
  command->callback([options] { make(*options); });
}

}  // namespace tersor::cli
