// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <span>

#include "core/base/json.h"
#include "core/graph/edit.h"
#include "core/graph/subgraphs.h"
#include "core/onnx/integer_edges.h"
#include "core/onnx/rewrite_forms.h"
#include "core/tensor/float16.h"

namespace tersor::onnx {

namespace {

bool is_narrow(DType dtype) {
  return dtype == DType::kFloat16 || dtype == DType::kBfloat16;
}

/// Attributes that hold an element type.
constexpr std::array<std::string_view, 3> kTypeAttributes = {"to", "dtype", "output_datatype"};

class Widener {
 public:
  /// Returns whether anything was of 16 bits.
  bool widen(Graph& graph) {
    bool any = false;
    std::vector<ValueId> narrow;
    for (const auto& [id, tensor] : graph.initializers())
      if (is_narrow(tensor.dtype())) narrow.push_back(id);
    for (const ValueId id : narrow) graph.set_initializer(id, widened(*graph.initializer(id)));
    any = !narrow.empty();
    for (size_t k = 0; k < graph.value_count(); ++k) {
      Value& value = graph.value(ValueId{static_cast<int32_t>(k)});
      if (!is_narrow(value.dtype)) continue;
      value.dtype = DType::kFloat32;
      any = true;
    }
    for (Node& node : graph.nodes()) any = widen(node) || any;
    return any;
  }

 private:
  bool widen(Node& node) {
    bool any = false;
    for (auto& [key, attribute] : node.attributes) {
      if (auto* tensor = std::get_if<Tensor>(&attribute); tensor != nullptr && is_narrow(tensor->dtype())) {
        *tensor = widened(*tensor);
        any = true;
      }
      auto* number = std::get_if<int64_t>(&attribute);
      const bool is_type = std::find(kTypeAttributes.begin(), kTypeAttributes.end(), key) != kTypeAttributes.end();
      if (number != nullptr && is_type && is_narrow(static_cast<DType>(*number))) {
        *number = static_cast<int64_t>(DType::kFloat32);
        any = true;
      }
      if (auto* one = std::get_if<std::shared_ptr<const Graph>>(&attribute)) any = widen(*one) || any;
      if (auto* many = std::get_if<std::vector<std::shared_ptr<const Graph>>>(&attribute))
        for (auto& one : *many) any = widen(one) || any;
    }
    return any;
  }

  bool widen(std::shared_ptr<const Graph>& graph) {
    auto copy = std::make_shared<Graph>(*graph);
    const bool any = widen(*copy);
    if (any) graph = std::move(copy);
    return any;
  }
};

/// Casts between a value of 16 bits, which keeps the name, and one of 32, which every node reads or makes.
void narrow_input(Graph& graph, ValueId input, DType dtype) {
  const ValueId wide = graph.add_unique_value(graph.name_of(input) + "_float32", DType::kFloat32);
  graph.value(wide).shape = graph.value(input).shape;
  graph.value(input).dtype = dtype;
  replace_reads(graph, input, wide);
  std::replace(graph.outputs.begin(), graph.outputs.end(), input, wide);
  Node cast;
  cast.op_type = "Cast";
  cast.name = graph.name_of(wide) + "_Cast";
  cast.inputs = {input};
  cast.outputs = {wide};
  cast.attributes["to"] = static_cast<int64_t>(DType::kFloat32);
  graph.insert(0, std::move(cast));
}

void narrow_output(Graph& graph, ValueId& output, DType dtype) {
  const ValueId wide = output;
  const std::string name = graph.name_of(wide);
  std::string wide_name = name + "_float32";
  while (graph.find(wide_name)) wide_name += "_";
  graph.rename(wide, wide_name);
  const ValueId narrow = graph.add_value(name, dtype, graph.value(wide).shape);
  Node cast;
  cast.op_type = "Cast";
  cast.name = name + "_Cast";
  cast.inputs = {wide};
  cast.outputs = {narrow};
  cast.attributes["to"] = static_cast<int64_t>(dtype);
  graph.append(std::move(cast));
  output = narrow;
}

}  // namespace

void widen_floats(Model& model) {
  std::map<std::string, DType> narrow;
  for (const auto* list : {&model.graph.inputs, &model.graph.outputs})
    for (const ValueId id : *list)
      if (const Value& value = model.graph.value(id); is_narrow(value.dtype)) narrow[value.name] = value.dtype;
  if (!Widener().widen(model.graph)) return;
  model.narrow.insert(narrow.begin(), narrow.end());
  model.warnings.push_back(
      {"floats_widened",
       "The model has floats of 16 bits; it is run in float32" +
           std::string(narrow.empty() ? "." : ", and its inputs and outputs keep their type in the quantized file."),
       "graph", ""});
}

Model restore_edges(Model model) {
  Graph& graph = model.graph;
  Json integers = Json::object();
  const std::vector<ValueId> inputs = graph.inputs;
  for (const ValueId id : inputs) {
    const std::string name = graph.name_of(id);
    const auto found = model.narrow.find(name);
    if (found == model.narrow.end()) continue;
    const auto pixels = model.pixels.find(name);
    if (is_narrow(found->second))
      narrow_input(graph, id, found->second);
    else if (pixels != model.pixels.end())
      integers[name] = make_pixel_input(graph, id, pixels->second);
    else
      integers[name] = make_integer_input(graph, id, found->second);
  }
  for (ValueId& id : graph.outputs) {
    const std::string name = graph.name_of(id);
    const auto found = model.narrow.find(name);
    if (found == model.narrow.end()) continue;
    if (is_narrow(found->second))
      narrow_output(graph, id, found->second);
    else
      integers[name] = make_integer_output(graph, id, found->second);
  }
  std::erase_if(model.metadata, [](const auto& entry) { return entry.first == kIoTypes; });
  if (!integers.empty()) model.metadata.emplace_back(kIoTypes, to_text(integers, false));
  restore_tails(model);
  return model;
}

}  // namespace tersor::onnx
