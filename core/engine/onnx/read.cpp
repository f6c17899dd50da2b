// SPDX-License-Identifier: Apache-2.0
#include "core/onnx/read.h"

#include <optional>
#include <set>

#include "core/base/error.h"
#include "core/base/names.h"
#include "core/graph/operators.h"
#include "core/graph/subgraphs.h"
#include "core/graph/validate.h"
#include "core/onnx/external_files.h"
#include "core/onnx/format.h"
#include "core/onnx/functions.h"
#include "core/onnx/place.h"
#include "core/onnx/read_graph.h"
#include "core/onnx/read_value.h"
#include "core/onnx/recognize.h"
#include "core/onnx/usage_notes.h"

namespace tersor::onnx {

namespace {

constexpr const char* kAgain = "Download or export the model again.";

[[noreturn]] void invalid_file(std::string message, std::string hint = kAgain) {
  throw Error(ErrorCode::kInvalidModel, std::move(message), {}, std::move(hint));
}

void refuse_other_formats(std::span<const std::byte> bytes) {
  if (bytes.empty()) invalid_file("The file is empty.");
  if (bytes.size() > kLargestFile)
    throw Error(ErrorCode::kUnsupportedModel,
                "The file has " + std::to_string(bytes.size()) + " bytes; an ONNX file can have at most " +
                    std::to_string(kLargestFile) + ".",
                {}, "Save the model with its weights in a file beside it (external data).");
  if (const auto other = recognize(bytes))
    invalid_file("This is not an ONNX model; it looks like " + other->what + ".", other->hint);
}

/// A ModelProto's fields as they lie in the file.
struct EncodedModel {
  std::optional<std::string_view> graph;
  std::vector<std::string_view> opset_imports;
  std::vector<std::string_view> metadata;
  std::vector<std::string_view> functions;
};

void read_field(Fields& fields, Model& model, EncodedModel& encoded) {
  switch (fields.tag()) {
    case model_field::kIrVersion:
      model.ir_version = fields.integer();
      break;
    case model_field::kProducerName:
      model.producer_name = fields.text();
      break;
    case model_field::kProducerVersion:
      model.producer_version = fields.text();
      break;
    case model_field::kDomain:
      model.domain = fields.text();
      break;
    case model_field::kModelVersion:
      model.model_version = fields.integer();
      break;
    case model_field::kDoc:
      model.doc = fields.text();
      break;
    case model_field::kGraph:
      encoded.graph = fields.view();
      break;
    case model_field::kOpsetImport:
      encoded.opset_imports.push_back(fields.view());
      break;
    case model_field::kMetadata:
      encoded.metadata.push_back(fields.view());
      break;
    case model_field::kFunctions:
      encoded.functions.push_back(fields.view());
      model.rest += fields.encoded();
      break;
    default:
      model.rest += fields.encoded();
      break;
  }
}

/// The outermost message. Where it cannot be read, says whether this is a broken model or none at all.
EncodedModel read_fields(std::string_view file, Model& model) {
  EncodedModel encoded;
  Fields fields(file);
  Tag last = 0;
  try {
    while (fields.next()) {
      last = fields.tag();
      read_field(fields, model, encoded);
    }
  } catch (const Error&) {
    const std::string size = std::to_string(file.size());
    if (model.ir_version == 0 || (!encoded.graph && last != model_field::kGraph))
      invalid_file("This is not an ONNX model, or only the beginning of one (" + size + " bytes).");
    if (!encoded.graph)
      invalid_file("The file is cut short: it ends at byte " + size + ", in the middle of the graph.");
    invalid_file("The file is cut short or damaged: its " + size +
                 " bytes end in the middle of what follows the graph.");
  }
  if (model.ir_version == 0) invalid_file("This is not an ONNX model: it has no IR version.");
  if (!encoded.graph) invalid_file("The file holds no graph: it is cut short, or not an ONNX model.");
  return encoded;
}

std::pair<std::string, std::string> read_entry(std::string_view message) {
  std::pair<std::string, std::string> entry;
  Fields fields(message);
  while (fields.next()) {
    if (fields.tag() == entry_field::kKey) entry.first = fields.text();
    if (fields.tag() == entry_field::kValue) entry.second = fields.text();
  }
  return entry;
}

void collect_unknown(const Graph& graph, std::set<std::string>& unknown) {
  for (const Node& node : graph.nodes()) {
    if (!is_known_operator(node.domain, node.op_type))
      unknown.insert((node.domain.empty() ? "" : node.domain + "::") + node.op_type);
    for_each_subgraph(node, [&](const Graph& inner) { collect_unknown(inner, unknown); });
  }
}

void warn(Model& model) {
  if (model.ir_version > kNewestIr)
    model.warnings.push_back({"newer_ir",
                              "The file's IR version " + std::to_string(model.ir_version) +
                                  " is newer than this program knows (" + std::to_string(kNewestIr) + ").",
                              "ir_version", "Should something be missing, save the model for an older version."});
  if (model.opset() > kNewestOpset)
    model.warnings.push_back({"newer_opset",
                              "The operator set version " + std::to_string(model.opset()) +
                                  " is newer than this program knows (" + std::to_string(kNewestOpset) +
                                  "); operators are taken as in that one.",
                              "opset_import", "Should results differ, export the model for an older opset."});
  std::set<std::string> unknown;
  collect_unknown(model.graph, unknown);
  if (!unknown.empty())
    model.warnings.push_back({"unknown_operators",
                              "ONNX has no operators of these names: " + joined({unknown.begin(), unknown.end()}) + ".",
                              "graph", "They are kept as they are, and cannot be run here."});
  for (Diagnostic& note : usage_notes(model.graph)) model.warnings.push_back(std::move(note));
}

/// Where calls were replaced, nothing of the functions is left; functions that nobody calls stay in the file.
void settle_functions(Model& model, const Functions& functions) {
  if (!functions.any_expanded()) return;
  functions.settle_imports(model);
  std::string rest;
  Fields fields(model.rest);
  while (fields.next())
    if (fields.tag() != model_field::kFunctions) rest += fields.encoded();
  model.rest = std::move(rest);
  model.warnings.push_back({"functions_inlined",
                            "The model's own functions were put in place of the nodes that call them.", "functions",
                            ""});
}

}  // namespace

namespace {

Model read_model(const Source& source, const ExternalData& external) {
  refuse_other_formats(source.bytes);
  Model model;
  model.ir_version = 0;
  const std::string_view file(reinterpret_cast<const char*>(source.bytes.data()), source.bytes.size());
  const EncodedModel encoded = read_fields(file, model);
  for (const std::string_view message : encoded.opset_imports) {
    const OpsetImport import = within("opset_import", [&] { return read_opset(message); });
    // Of a domain that is there twice ONNX Runtime takes the last.
    std::erase_if(model.opset_imports, [&](const OpsetImport& other) { return other.domain == import.domain; });
    model.opset_imports.push_back(import);
  }
  for (const std::string_view message : encoded.metadata)
    model.metadata.push_back(within("metadata_props", [&] { return read_entry(message); }));
  ExternalFiles files(external);
  Functions functions = within("functions", [&] { return Functions(encoded.functions); });
  model.graph = read_graph(*encoded.graph, {source, files, model.warnings, functions}, "graph", 0);
  settle_functions(model, functions);
  for (const Diagnostic& warning : model.warnings)
    if (warning.code == kListedInitializers) model.initializers_were_inputs = true;
  validate(model);
  warn(model);
  return model;
}

}  // namespace

Model read(const Source& source, const ExternalData& external) {
  try {
    return read_model(source, external);
  } catch (const Error& error) {
    const bool broken = error.code == ErrorCode::kInvalidModel;
    if (!error.hint.empty() || (!broken && error.code != ErrorCode::kUnsupportedModel)) throw;
    throw Error(
        error.code, error.message, error.place,
        broken ? "Export the model again: this file breaks the rules of ONNX." : "Export the model without this.");
  }
}

}  // namespace tersor::onnx
