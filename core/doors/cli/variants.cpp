// SPDX-License-Identifier: Apache-2.0
// tersor variants MODEL.onnx [--data DATA] -o FOLDER: every file that the model may be shipped as, in one table.
#include <filesystem>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/base/names.h"
#include "core/cli/data_option.h"
#include "core/cli/files.h"
#include "core/cli/model_file.h"
#include "core/cli/print.h"
#include "core/cli/progress_line.h"
#include "core/native/calibrate_data.h"
#include "core/native/size_text.h"
#include "core/native/variants.h"

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

void print_row(const Variant& variant, bool verbose) {
  if (variant.refused) {
    print("%-6s %-22s not made: %s\n", variant.dtype.c_str(), variant.file.c_str(), variant.refused->message.c_str());
    return;
  }
  print("%-6s %-22s %10s", variant.dtype.c_str(), variant.file.c_str(),
        size_text(static_cast<int64_t>(variant.bytes.size())).c_str());
  if (variant.evaluation) {
    const SampleEvaluation& found = *variant.evaluation;
    if (found.sqnr_db)
      print(" %7.1f dB", *found.sqnr_db);
    else
      print(" %10s", "exact");
    if (const auto& same = found.result.agreement)
      print("  %lld of %lld answers the same", static_cast<long long>(same->same), static_cast<long long>(same->count));
  }
  if (variant.time) print("  %.2f times as fast (forecast)", variant.time->times_as_fast);
  print("\n");
  if (!variant.notes.empty() && !verbose)
    print("       %zu nodes keep float32; --verbose names them\n", variant.notes.size());
  for (const std::string& note : variant.notes)
    if (verbose) print("       %s\n", note.c_str());
}

void make(const VariantsOptions& options) {
  ModelFile file = open_model(options.model);
  const auto opened = std::make_shared<const OpenedModel>(opened_model(std::move(file)));
  VariantRequest request{opened, nullptr, {}, options.names, options.workforce};
  if (!options.data.data.empty()) {
    request.data = open_data(options.data, opened->model, options.json);
    request.calibrated = samples_to_calibrate(options.data, *request.data);
  } else if (!options.json) {
    print("Without --data: weights alone are in integers, float16 is chosen without values, and nothing is judged.\n");
  }
  std::error_code none;
  std::filesystem::create_directories(options.output, none);
  const std::filesystem::path folder(options.output);
  Json rows = Json::array();
  make_variants(request, [&](const Variant& variant) {
    if (!variant.refused) write_file((folder / variant.file).string(), variant.bytes);
    rows.push_back(to_json(variant));
    if (!options.json) print_row(variant, options.verbose);
  });
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
