// SPDX-License-Identifier: Apache-2.0
// tersor convert: writes a model anew, for a newer operator set where asked to.
#include <filesystem>

#include "core/base/json.h"
#include "core/cli/command.h"
#include "core/cli/files.h"
#include "core/cli/model_file.h"
#include "core/cli/print.h"
#include "core/onnx/convert_opset.h"
#include "core/onnx/model_info.h"
#include "core/onnx/write.h"
#include "core/tflite/integer_model.h"

namespace tersor::cli {

namespace {

struct ConvertOptions {
  std::string model;
  std::string output;
  int64_t opset = 0;
  bool external = false;
  bool json = false;
};

/// Of --external.
std::string data_file(const ConvertOptions& options) {
  return options.output + ".data";
}

/// The file of the weights is not named on the command line: only together with its model it is written over.
void expect_data_writable(const ConvertOptions& options) {
  if (options.output == kStandardStream)
    throw Error(ErrorCode::kInvalidArgument, "Weights in a file beside the model need a model that is a file.",
                "--external", "Give a name to --output.");
  const std::string data = data_file(options);
  std::error_code none;
  if (std::filesystem::exists(data, none) && !std::filesystem::exists(options.output, none))
    throw Error(ErrorCode::kIo, "The weights would be written over this file, which is there without its model.", data,
                "Remove it, or give another --output.");
  expect_writable(data);
}

std::vector<std::byte> write_model(const Model& model, const ConvertOptions& options, bool raised) {
  onnx::WriteOptions to;
  to.initializers_as_inputs = model.initializers_were_inputs && !raised;
  if (!options.external) {
    std::vector<std::byte> bytes = onnx::write(model, to);
    write_file(options.output, bytes);
    return bytes;
  }
  const std::string data = data_file(options);
  OutputFile beside(data);
  to.external.emplace();
  to.external->location = file_name(data);
  to.external->append = [&](std::span<const std::byte> bytes) { beside.append(bytes); };
  std::vector<std::byte> bytes = onnx::write(model, to);
  OutputFile file(options.output);
  file.append(bytes);
  beside.commit();
  file.commit();
  return bytes;
}

void convert(const ConvertOptions& options) {
  ModelFile file = open_model(options.model);
  if (tflite::is_integer_model(file.model))
    throw Error(ErrorCode::kUnsupportedModel, "The integers of a .tflite file have no ONNX form.", options.model,
                "Quantize the float model that it was made from; `tersor run` computes the file as it is.");
  expect_writable(options.output);
  if (options.external) expect_data_writable(options);
  const int64_t before = file.model.opset();
  const bool raised = options.opset > 0 && onnx::convert_to_opset(file.model, options.opset);
  const std::vector<std::byte> bytes = write_model(file.model, options, raised);
  if (options.json) {
    print("%s\n", to_text(to_json(onnx::describe(file.model, bytes))).c_str());
    return;
  }
  print("%s: %zu bytes, opset %lld%s%s\n", options.output.c_str(), bytes.size(),
        static_cast<long long>(file.model.opset()), raised ? (" (was " + std::to_string(before) + ")").c_str() : "",
        options.external ? ("; weights in " + data_file(options)).c_str() : "");
  print_warnings(file.model.warnings);
}

}  // namespace

void add_convert(CLI::App& program) {
  CLI::App& command = *program.add_subcommand("convert", "Write a model anew, for a newer opset where asked to.");
  command.footer(
      "Examples:\n  tersor convert old.onnx --opset 13 -o new.onnx\n  tersor convert model.onnx --external -o "
      "model2.onnx");
  auto options = std::make_shared<ConvertOptions>();
  command.add_option("MODEL", options->model, "The ONNX file.")->required();
  command.add_option("-o,--output", options->output, "The file to write; - writes to standard output")->required();
  command
      .add_option("--opset", options->opset,
                  "Raise the model to this operator set; a newer model stays as it is; default: none")
      ->check(count_from(7, onnx::kNewestTarget));
  command.add_flag("--external", options->external, "Write large weights into a file beside it (OUTPUT.data).");
  command.add_flag("--json", options->json, "Describe the written model as JSON.");
  command.callback([options] { convert(*options); });
}

}  // namespace tersor::cli
