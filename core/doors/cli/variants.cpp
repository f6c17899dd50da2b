// SPDX-License-Identifier: Apache-2.0
// tersor variants MODEL.onnx [--data DATA] -o FOLDER: every file that the model may be shipped as, in one table; or the
// same of every model in a folder.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
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

namespace fs = std::filesystem;

constexpr const char* kTable = "variants.json";
constexpr std::string_view kModel = "model";  // what names of variants begin with

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

void print_row(const Variant& row, int width, bool verbose) {
  print("%-7s %-*s", row.dtype.c_str(), width, row.file.c_str());
  if (row.refused) {
    print(" not made: %s\n", row.refused->message.c_str());
    return;
  }
  print(" %10s", size_text(*row.size_bytes).c_str());
  if (row.comparison) print("  %s", figures_text(*row.comparison).c_str());
  if (row.time) print(", %.2f times as fast (forecast)", row.time->times_as_fast);
  if (row.verdict) print(": %s", std::string(enum_word(row.verdict->usability)).c_str());
  print("\n");
  if (!row.notes.empty() && !verbose) print("        %zu nodes keep float32; --verbose names them\n", row.notes.size());
  if (!verbose) return;
  if (row.verdict) print("        %s\n", row.verdict->reason.c_str());
  for (const std::string& note : row.notes) print("        %s\n", note.c_str());
}

/// Whether a file is one that this command has written: its name ends as that of a variant does.
bool is_variant(const std::string& stem) {
  const auto& kinds = variant_kinds();
  return std::any_of(kinds.begin(), kinds.end(), [&](const VariantKind& kind) {
    const std::string tail = fs::path(kind.file).stem().string().substr(kModel.size());  // "_fp16"
    return !tail.empty() && stem.ends_with(tail);
  });
}

/// The file itself; of a folder the models that lie in it, without their variants, by name.
std::vector<std::string> models_of(const std::string& given) {
  std::error_code none;
  if (!fs::is_directory(given, none)) return {given};
  std::vector<std::string> found;
  for (const fs::directory_entry& entry : fs::directory_iterator(given, none))
    if (entry.path().extension() == ".onnx" && !is_variant(entry.path().stem().string()))
      found.push_back(entry.path().string());
  if (found.empty())
    throw Error(ErrorCode::kIo, "No .onnx file lies in the folder.", given,
                "Name a model, or the folder that holds models; folders in it are not searched.");
  std::sort(found.begin(), found.end());
  return found;
}

/// Makes the files of one model, whose names begin with `stem`; returns its table.
Json make(const VariantsOptions& options, const std::string& path, const std::string& stem) {
  ModelFile file = open_model(path);
  VariantRequest request{std::make_shared<const OpenedModel>(opened_model(std::move(file))), nullptr,
                         options.data.limit, options.names};
  if (!options.data.data.empty()) request.data = open_data(options.data, request.opened->model, options.json);
  Json rows = Json::array();
  if (request.data && !options.json && !variant_samples(request.data->size(), request.calibrate).held_aside)
    print("All samples calibrate, so that the same judge: give more of them, or a lower --limit.\n");
  VariantMaker maker(std::move(request));
  std::string best;
  while (auto made = maker.next(options.workforce)) {
    made->row.file.replace(0, kModel.size(), stem);
    if (!made->row.refused) write_file((fs::path(options.output) / made->row.file).string(), made->bytes);
    rows.push_back(to_json(made->row));
    if (made->row.leads) best = made->row.file;
    if (!options.json) print_row(made->row, static_cast<int>(stem.size()) + 17, options.verbose);
  }
  if (!best.empty() && !options.json) print("%s is the one to take: usable, then fast, then small.\n", best.c_str());
  return {{"model", file_name(path)}, {"variants", rows}};
}

void make_all(VariantsOptions options) {
  const std::vector<std::string> models = models_of(options.model);
  const bool is_folder = models.front() != options.model;
  if (options.data.data.empty() && !options.json)
    print("Without --data: weights alone are in integers, float16 is chosen without values, and nothing is judged.\n");
  std::error_code none;
  fs::create_directories(options.output, none);
  if (is_folder && fs::equivalent(options.model, options.output, none)) std::erase(options.names, "fp32");  // they stay
  Json tables = Json::array();
  for (const std::string& path : models) {
    if (is_folder && !options.json) print("%s\n", file_name(path).c_str());
    tables.push_back(make(options, path, is_folder ? fs::path(path).stem().string() : std::string(kModel)));
  }
  const std::string text = to_text(is_folder ? tables : tables.at(0));
  write_files({{(fs::path(options.output) / kTable).string(), bytes_of(text + "\n")}});
  if (options.json) print("%s\n", text.c_str());
}

}  // namespace

void add_variants(CLI::App& program) {
  auto options = std::make_shared<VariantsOptions>();
  CLI::App* command = program.add_subcommand(
      "variants", "Every file that the model may be shipped as, float16 to 4 bits, each with what it costs");
  command->footer(
      "Examples:\n  tersor variants model.onnx --data samples/ -o onnx/\n"
      "  tersor variants onnx/ --modes fp16 q8 q4 q4f16 -o onnx/");
  command
      ->add_option("MODEL", options->model,
                   "A float ONNX model, or a folder of such: their variants are named after them")
      ->required();
  command
      ->add_option("-o,--output", options->output,
                   "The folder for the files, named as transformers.js looks for them, and variants.json")
      ->required();
  add_data_option(*command, options->data, false);
  command->get_option("--data")->required(false);
  command->get_option("--limit")->description(
      "Calibrate on at most this many samples, spread evenly; default 0: 128, and at most half");
  command
      ->add_option("--only,--modes", options->names, "Of " + joined(variant_names()) + ": those to make; default: all")
      ->delimiter(',')
      ->check(CLI::IsMember(variant_names()));
  add_threads(*command, options->workforce.threads);
  command->add_flag("--verbose", options->verbose, "Name every node that keeps float32, and why");
  command->add_flag("--json", options->json, "Print variants.json");
  command->callback([options] { make_all(*options); });
}

}  // namespace tersor::cli
