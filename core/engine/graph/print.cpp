// SPDX-License-Identifier: Apache-2.0
#include "core/graph/print.h"

#include "core/base/names.h"

namespace tersor {

namespace {

constexpr int64_t kElementsShown = 8;

std::string name_or_blank(const Graph& graph, ValueId id) {
  return id.valid() ? graph.name_of(id) : "_";
}

template <class Range, class Text>
std::string joined(const Range& range, Text&& text) {
  std::string list;
  for (const auto& one : range) list += (list.empty() ? "" : ", ") + text(one);
  return list;
}

std::string tensor_text(const Tensor& tensor) {
  std::string text(name_of(tensor.dtype()));
  text += "[" + joined(tensor.shape(), [](int64_t dim) { return std::to_string(dim); }) + "]";
  const bool readable =
      is_integer(tensor.dtype())
          ? bits_of(tensor.dtype()) >= 8
          : tensor.dtype() == DType::kFloat32 || tensor.dtype() == DType::kFloat64 || tensor.dtype() == DType::kBool;
  if (readable && tensor.elements() <= kElementsShown)
    text += " {" + joined(tensor.to_doubles(), number_in_nine_digits) + "}";
  return text;
}

struct AttributeText {
  std::string operator()(int64_t value) const { return std::to_string(value); }
  std::string operator()(float value) const { return number_in_nine_digits(static_cast<double>(value)); }
  std::string operator()(const std::string& value) const { return "\"" + value + "\""; }
  std::string operator()(const Tensor& value) const { return tensor_text(value); }
  std::string operator()(const std::shared_ptr<const Graph>&) const { return "graph"; }
  std::string operator()(const OpaqueAttribute& value) const { return std::to_string(value.bytes.size()) + " bytes"; }
  template <class T>
  std::string operator()(const std::vector<T>& values) const {
    return "[" + joined(values, *this) + "]";
  }
};

std::string attributes_text(const Attributes& attributes) {
  if (attributes.empty()) return "";
  return " {" +
         joined(attributes,
                [](const Attributes::value_type& one) {
                  return one.first + " = " + std::visit(AttributeText(), one.second);
                }) +
         "}";
}

std::string port_text(const Graph& graph, const std::vector<ValueId>& ids) {
  return joined(ids, [&](ValueId id) { return name_or_blank(graph, id) + ": " + type_text(graph.value(id)); });
}

void print_graph(const Graph& graph, const std::string& indent, std::string& text);

void print_subgraphs(const Node& node, const std::string& indent, std::string& text) {
  for (const auto& [key, attribute] : node.attributes) {
    std::vector<std::shared_ptr<const Graph>> graphs;
    if (const auto* one = std::get_if<std::shared_ptr<const Graph>>(&attribute)) graphs = {*one};
    if (const auto* many = std::get_if<std::vector<std::shared_ptr<const Graph>>>(&attribute)) graphs = *many;
    for (const auto& graph : graphs) {
      text += indent + key + ": ";
      print_graph(*graph, indent, text);
    }
  }
}

void print_graph(const Graph& graph, const std::string& indent, std::string& text) {
  text += "graph \"" + graph.name + "\" (" + port_text(graph, graph.inputs) + ") -> (" +
          port_text(graph, graph.outputs) + ")\n";
  for (const auto& [id, tensor] : graph.initializers())
    text += indent + "  " + graph.name_of(id) + ": " + tensor_text(tensor) + "\n";
  for (const Node& node : graph.nodes()) {
    const auto name = [&](ValueId id) { return name_or_blank(graph, id); };
    text += indent + "  " + joined(node.outputs, name) + " = " + (node.domain.empty() ? "" : node.domain + "::") +
            node.op_type + "(" + joined(node.inputs, name) + ")" + attributes_text(node.attributes) +
            (node.name.empty() ? "" : " \"" + node.name + "\"") + "\n";
    print_subgraphs(node, indent + "    ", text);
  }
}

}  // namespace

std::string type_text(const Value& value) {
  if (!value.type_bytes.empty()) return "no tensor";
  if (value.dtype == DType::kUndefined && !value.shape) return "?";
  std::string text(value.dtype == DType::kUndefined ? "?" : name_of(value.dtype));
  if (!value.shape) return text + "[...]";
  std::string dims;
  for (const Dim& dim : *value.shape) {
    if (!dims.empty()) dims += ",";
    dims += dim.fixed() ? std::to_string(dim.value) : dim.symbol.empty() ? "?" : dim.symbol;
  }
  return text + "[" + dims + "]";
}

std::string to_text(const Graph& graph) {
  std::string text;
  print_graph(graph, "", text);
  return text;
}

}  // namespace tersor
