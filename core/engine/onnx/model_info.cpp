// SPDX-License-Identifier: Apache-2.0
#include "core/onnx/model_info.h"

#include "core/base/digest.h"
#include "core/base/json.h"
#include "core/base/sort_stably.h"
#include "core/graph/operators.h"
#include "core/graph/quantized.h"
#include "core/graph/subgraphs.h"

namespace tersor {

void to_json(Json& json, const Dim& dim) {
  if (dim.fixed())
    json = dim.value;
  else
    json = dim.symbol.empty() ? "?" : dim.symbol;
}

}  // namespace tersor

namespace tersor::onnx {

namespace {

/// The input or output as the file has it.
ValueId in_file(const Graph& graph, ValueId end) {
  for (const Node& node : graph.nodes()) {
    if (!is_file_edge(node)) continue;
    if (node.inputs[0] == end) return node.outputs[0];
    if (node.outputs[0] == end) return node.inputs[0];
  }
  return end;
}

TensorInfo describe_end(const Graph& graph, ValueId end) {
  const Value& value = graph.value(in_file(graph, end));
  TensorInfo info;
  info.name = graph.name_of(end);
  info.type = !value.type_bytes.empty()          ? "no tensor"
              : value.dtype == DType::kUndefined ? "?"
                                                 : std::string(name_of(value.dtype));
  info.shape = value.shape;
  return info;
}

class Counter {
 public:
  explicit Counter(ModelInfo& info) : info_(info) {}

  void count(const Graph& graph) {
    for (const auto& [id, tensor] : graph.initializers()) count_tensor(tensor);
    for (const Node& node : graph.nodes()) {
      if (is_file_edge(node)) continue;
      ++info_.nodes;
      ++nodes_[{node.domain, node.op_type}];
      if (node.is("Constant") && node.holds<Tensor>("value")) count_tensor(*node.attribute<Tensor>("value"));
      info_.quantized = info_.quantized || is_quantized(node);
      for_each_subgraph(node, [&](const Graph& inner) { count_subgraph(inner); });
    }
  }

  void list_operators() {
    for (const auto& [key, nodes] : nodes_) {
      const auto& [domain, op] = key;
      const bool known = is_known_operator(domain, op);
      info_.operators.push_back({op, domain, nodes, known});
      if (!known) info_.unknown_operators.push_back((domain.empty() ? "" : domain + "::") + op);
    }
    sort_stably(info_.operators, [](const OperatorInfo& a, const OperatorInfo& b) { return a.nodes > b.nodes; });
  }

 private:
  void count_tensor(const Tensor& tensor) {
    info_.parameters += tensor.elements();
    info_.parameter_types[std::string(name_of(tensor.dtype()))] += tensor.elements();
    info_.constant_bytes += static_cast<int64_t>(tensor.byte_count());
  }

  void count_subgraph(const Graph& graph) {
    ++info_.subgraphs;
    count(graph);
  }

  ModelInfo& info_;
  std::map<std::pair<std::string, std::string>, int64_t> nodes_;
};

}  // namespace

ModelInfo describe(const Model& model, std::span<const std::byte> file) {
  return describe(model, file, sha256_hex(file));
}

ModelInfo describe(const Model& model, std::span<const std::byte> file, std::string sha256) {
  ModelInfo info;
  info.name = model.graph.name;
  info.producer = model.producer_name;
  if (!model.producer_version.empty()) info.producer += (info.producer.empty() ? "" : " ") + model.producer_version;
  info.ir_version = model.ir_version;
  info.opset = model.opset();
  for (const OpsetImport& import : model.opset_imports)
    if (!import.domain.empty()) info.domains[import.domain] = import.version;
  for (const ValueId id : model.graph.inputs) info.inputs.push_back(describe_end(model.graph, id));
  for (const ValueId id : model.graph.outputs) info.outputs.push_back(describe_end(model.graph, id));
  Counter counter(info);
  counter.count(model.graph);
  counter.list_operators();
  info.size_bytes = static_cast<int64_t>(file.size());
  info.sha256 = std::move(sha256);
  info.warnings = model.warnings;
  return info;
}

}  // namespace tersor::onnx
