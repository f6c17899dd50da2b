// SPDX-License-Identifier: Apache-2.0
#include "core/onnx/exporter_notes.h"

#include <memory>

#include "core/graph/subgraphs.h"
#include "core/onnx/format.h"
#include "core/onnx/wire.h"

namespace tersor::onnx {

namespace {

std::string without(const std::string& encoded, Tag tag) {
  std::string rest;
  Fields fields(encoded);
  while (fields.next())
    if (fields.tag() != tag) rest += fields.encoded();
  return rest;
}

void drop(Graph& graph) {
  graph.doc.clear();
  graph.rest = without(graph.rest, graph_field::kMetadata);
  for (size_t k = 0; k < graph.value_count(); ++k) {
    Value& value = graph.value(ValueId{static_cast<int32_t>(k)});
    value.doc.clear();
    value.rest = without(value.rest, value_field::kMetadata);
  }
  const auto cleaned = [](const std::shared_ptr<const Graph>& body) {
    auto copy = std::make_shared<Graph>(*body);
    drop(*copy);
    return std::shared_ptr<const Graph>(std::move(copy));
  };
  for (Node& node : graph.nodes()) {
    node.doc.clear();
    node.rest = without(node.rest, node_field::kMetadata);
    for (auto& [name, attribute] : node.attributes) {
      if (auto* body = std::get_if<std::shared_ptr<const Graph>>(&attribute)) *body = cleaned(*body);
      if (auto* bodies = std::get_if<std::vector<std::shared_ptr<const Graph>>>(&attribute))
        for (auto& body : *bodies) body = cleaned(body);
    }
  }
}

/// With its key and length.
int64_t text_size(const std::string& text) {
  return text.empty() ? 0 : static_cast<int64_t>(text.size()) + (text.size() < 128 ? 2 : 3);
}

int64_t removed(const std::string& encoded, Tag tag) {
  return static_cast<int64_t>(encoded.size() - without(encoded, tag).size());
}

}  // namespace

int64_t exporter_notes_size(const Graph& graph) {
  int64_t bytes = text_size(graph.doc) + removed(graph.rest, graph_field::kMetadata);
  for (size_t k = 0; k < graph.value_count(); ++k) {
    const Value& value = graph.value(ValueId{static_cast<int32_t>(k)});
    bytes += text_size(value.doc) + removed(value.rest, value_field::kMetadata);
  }
  for (const Node& node : graph.nodes()) {
    bytes += text_size(node.doc) + removed(node.rest, node_field::kMetadata);
    for_each_subgraph(node, [&](const Graph& body) { bytes += exporter_notes_size(body); });
  }
  return bytes;
}

void drop_exporter_notes(Model& model) {
  model.doc.clear();
  std::erase_if(model.metadata, [](const auto& entry) { return entry.first.rfind("pkg.", 0) == 0; });
  drop(model.graph);
}

}  // namespace tersor::onnx
