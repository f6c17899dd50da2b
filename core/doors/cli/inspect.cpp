// SPDX-License-Identifier: Apache-2.0
// tersor inspect: what a model file holds.
#include <cinttypes>

#include "core/base/json.h"
#include "core/cli/command.h"
#include "core/cli/model_file.h"
#include "core/cli/print.h"
#include "core/graph/print.h"
#include "core/graph/quantized.h"
#include "core/native/size_text.h"
#include "core/onnx/model_info.h"
#include "core/report/model_card.h"

namespace tersor::cli {

namespace {

struct InspectOptions {
  std::string model;
  bool json = false;
  bool graph = false;
};

std::string shape_text(const onnx::TensorInfo& tensor) {
  if (!tensor.shape) return tensor.type + " of unknown shape";
  std::string dims;
  for (const Dim& dim : *tensor.shape)
    dims += (dims.empty() ? "" : "x") + (dim.fixed()          ? std::to_string(dim.value)
                                         : dim.symbol.empty() ? "?"
                                                              : dim.symbol);
  return tensor.type + " " + (dims.empty() ? "scalar" : dims);
}

void print_line(const char* label, const std::string& text) {
  print("%-12s%s\n", label, text.c_str());
}

std::string types_text(const onnx::ModelInfo& info) {
  std::string text;
  for (const auto& [type, count] : info.parameter_types)
    text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + type;
  return text;
}

void print_info(const std::string& path, const onnx::ModelInfo& info) {
  print("%s\n", path.c_str());
  print_line("file", size_text(info.size_bytes) + ", SHA-256 " + info.sha256);
  if (!info.producer.empty()) print_line("made by", info.producer);
  std::string versions = "opset " + std::to_string(info.opset) + ", IR " + std::to_string(info.ir_version);
  for (const auto& [domain, version] : info.domains) versions += ", " + domain + " " + std::to_string(version);
  if (info.domains.count(std::string(kTfliteDomain)) != 0) versions = "schema 3";
  print_line("versions", versions);
  for (const onnx::TensorInfo& one : info.inputs) print_line("input", one.name + "  " + shape_text(one));
  for (const onnx::TensorInfo& one : info.outputs) print_line("output", one.name + "  " + shape_text(one));
  print_line("parameters", std::to_string(info.parameters) + " in " + size_text(info.constant_bytes) +
                               (info.parameters == 0 ? "" : " (" + types_text(info) + ")"));
  print_line("nodes",
             std::to_string(info.nodes) +
                 (info.subgraphs == 0 ? "" : " in the graph and " + std::to_string(info.subgraphs) + " subgraphs"));
  for (const onnx::OperatorInfo& one : info.operators)
    print("%12" PRId64 "  %s%s%s\n", one.nodes, one.domain.empty() ? "" : (one.domain + "::").c_str(), one.op.c_str(),
          one.runs ? "" : "  (cannot be run here)");
  if (info.macs) print_line("work", std::to_string(*info.macs) + " multiply-adds for one sample");
  if (info.peak_bytes) print_line("memory", size_text(*info.peak_bytes) + " for the activations of one sample");
  print_line("quantized", info.quantized ? "yes, at least in part" : "no");
  print_warnings(info.warnings);
}

void inspect(const InspectOptions& options) {
  const ModelFile file = open_model(options.model);
  if (options.graph) {
    print("%s", to_text(file.model.graph).c_str());
    return;
  }
  onnx::ModelInfo info = report::describe(file.model, file.source.bytes);
  info.size_bytes = static_cast<int64_t>(file.bytes);
  if (options.json)
    print("%s\n", to_text(to_json(info)).c_str());
  else
    print_info(options.model, info);
}

}  // namespace

void add_inspect(CLI::App& program) {
  CLI::App& command =
      *program.add_subcommand("inspect", "Inputs, outputs, operators, weights and warnings of a model.");
  command.footer("Examples:\n  tersor inspect model.onnx\n  tersor inspect model.onnx --json");
  auto options = std::make_shared<InspectOptions>();
  command.add_option("MODEL", options->model, "The ONNX or .tflite file.")->required();
  command.add_flag("--json", options->json, "Print JSON.");
  command.add_flag("--graph", options->graph, "Print every node, one per line.")->excludes("--json");
  command.callback([options] { inspect(*options); });
}

}  // namespace tersor::cli
