// SPDX-License-Identifier: Apache-2.0
// What a person wants to know of a model before any work: the JSON of `tersor inspect --json` and of the package's
// model information.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/base/fields.h"
#include "core/base/json_fwd.h"
#include "core/graph/graph.h"

namespace tersor {

/// A number, the dimension's name, or "?".
void to_json(Json& json, const Dim& dim);

}  // namespace tersor

namespace tersor::onnx {

struct TensorInfo {
  std::string name;
  std::string type;  // "float32"; "?" where the file does not say, "no tensor" for sequences and maps
  std::optional<std::vector<Dim>> shape;

  static constexpr auto fields() {
    return std::make_tuple(field("name", &TensorInfo::name, "Name in the graph."),
                           field("type", &TensorInfo::type, "Element type, such as float32."),
                           field("shape", &TensorInfo::shape, "Numbers and names of free dimensions."));
  }
};

struct OperatorInfo {
  std::string op;
  std::string domain;
  int64_t nodes = 0;
  bool runs = true;

  static constexpr auto fields() {
    return std::make_tuple(field("op", &OperatorInfo::op, "Operator type."),
                           field("domain", &OperatorInfo::domain, "Its domain; empty for ONNX's own."),
                           field("nodes", &OperatorInfo::nodes, "How many nodes, subgraphs included."),
                           field("runs", &OperatorInfo::runs, "False: at least one of these nodes cannot be run."));
  }
};

struct ModelInfo {
  std::string name;
  std::string producer;
  int64_t ir_version = 0;
  int64_t opset = 0;
  std::map<std::string, int64_t> domains;
  std::vector<TensorInfo> inputs;
  std::vector<TensorInfo> outputs;
  int64_t nodes = 0;
  int64_t subgraphs = 0;
  int64_t parameters = 0;
  std::map<std::string, int64_t> parameter_types;
  int64_t constant_bytes = 0;
  std::optional<int64_t> macs;
  int64_t size_bytes = 0;
  std::optional<int64_t> peak_bytes;
  std::string sha256;
  bool quantized = false;
  std::vector<OperatorInfo> operators;
  std::vector<std::string> unknown_operators;
  std::vector<Diagnostic> warnings;

  static constexpr auto fields() {
    return std::make_tuple(
        field("name", &ModelInfo::name, "Name of the graph."),
        field("producer", &ModelInfo::producer, "Program that made the file, with its version."),
        field("ir_version", &ModelInfo::ir_version, "Version of the file format."),
        field("opset", &ModelInfo::opset, "Version of ONNX's own operator set."),
        field("domains", &ModelInfo::domains, "Versions of other operator sets."),
        field("inputs", &ModelInfo::inputs, "Inputs of the graph, weights aside."),
        field("outputs", &ModelInfo::outputs, "Outputs of the graph."),
        field("nodes", &ModelInfo::nodes, "Nodes, subgraphs included."),
        field("subgraphs", &ModelInfo::subgraphs, "Graphs inside nodes (If, Loop, Scan)."),
        field("parameters", &ModelInfo::parameters, "Elements of all constant tensors."),
        field("parameter_types", &ModelInfo::parameter_types, "The same by element type."),
        field("constant_bytes", &ModelInfo::constant_bytes, "Bytes of all constant tensors."),
        field("macs", &ModelInfo::macs, "Multiply-adds of one sample; null where unknown."),
        field("size_bytes", &ModelInfo::size_bytes, "Size of the file."),
        field("peak_bytes", &ModelInfo::peak_bytes, "Largest size of the activations, batch 1; null where unknown."),
        field("sha256", &ModelInfo::sha256, "Digest of the file."),
        field("quantized", &ModelInfo::quantized, "Holds QuantizeLinear, DequantizeLinear or integer operators."),
        field("operators", &ModelInfo::operators, "Operators, most frequent first."),
        field("unknown_operators", &ModelInfo::unknown_operators, "Operators that neither ONNX nor ONNX Runtime has."),
        field("warnings", &ModelInfo::warnings, "Remarks of the reader."));
  }
};

/// Describes a model and the file it was read from. `macs` and `peak_bytes` are left open, and every known operator is
/// taken to run: who has an engine fills them in.
ModelInfo describe(const Model& model, std::span<const std::byte> file);
/// The same for who knows the file's SHA-256 already.
ModelInfo describe(const Model& model, std::span<const std::byte> file, std::string sha256);

}  // namespace tersor::onnx
