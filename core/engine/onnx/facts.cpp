// SPDX-License-Identifier: Apache-2.0
#include "core/onnx/facts.h"

#include <algorithm>

#include "core/graph/attribute_defaults.h"
#include "core/graph/operators.h"
#include "core/graph/value_types.h"

namespace tersor::onnx {

namespace {

using Dims = std::optional<std::vector<int64_t>>;
using Inputs = std::vector<Fact>;

std::vector<int64_t> unknown(size_t rank) {
  return std::vector<int64_t>(rank, -1);
}

/// numpy's rule, where an unknown dimension gives the other one unless that is 1.
Dims broadcast_dims(const Inputs& inputs) {
  std::vector<int64_t> result;
  for (const Fact& input : inputs) {
    if (!input.dims) return std::nullopt;
    std::vector<int64_t> dims = *input.dims;
    if (dims.size() > result.size()) std::swap(dims, result);
    for (size_t k = 0; k < dims.size(); ++k) {
      int64_t& into = result[result.size() - dims.size() + k];
      if (into == 1)
        into = dims[k];
      else if (into == -1 && dims[k] > 1)
        into = dims[k];
    }
  }
  return result;
}

/// The axes of Squeeze, Unsqueeze and the reductions: attribute, or constant input.
std::optional<std::vector<int64_t>> axes_of(const Node& node, const Inputs& inputs) {
  if (const auto* axes = node.attribute<std::vector<int64_t>>("axes")) return *axes;
  if (inputs.size() > 1 && inputs[1].constant && is_integer(inputs[1].dtype)) return inputs[1].constant->to_int64s();
  return std::nullopt;
}

Dims reshaped_dims(const Inputs& inputs) {
  if (inputs.size() < 2 || !inputs[1].constant || !is_integer(inputs[1].dtype)) return std::nullopt;
  std::vector<int64_t> dims = inputs[1].constant->to_int64s();
  for (int64_t& dim : dims) dim = dim == 0 ? -1 : dim;
  return dims;
}

Dims transposed_dims(const Node& node, const std::vector<int64_t>& dims) {
  std::vector<int64_t> result(dims.rbegin(), dims.rend());
  const auto* perm = node.attribute<std::vector<int64_t>>("perm");
  if (perm == nullptr) return result;
  if (perm->size() != dims.size()) return std::nullopt;
  for (size_t k = 0; k < dims.size(); ++k) {
    if ((*perm)[k] < 0 || (*perm)[k] >= static_cast<int64_t>(dims.size())) return std::nullopt;
    result[k] = dims[static_cast<size_t>((*perm)[k])];
  }
  return result;
}

Dims reduced_dims(const Node& node, const Inputs& inputs, size_t rank) {
  if (int_of(node, "keepdims") != 0) return unknown(rank);
  const bool one_axis = node.op_type == "ArgMax" || node.op_type == "ArgMin";
  const auto axes = axes_of(node, inputs);
  const size_t gone = one_axis ? 1 : axes ? axes->size() : rank;
  if (gone > rank) return std::nullopt;
  return unknown(rank - gone);
}

/// The batch and the channels, and 1 for each further axis.
Dims pooled_dims(const std::vector<int64_t>& dims) {
  std::vector<int64_t> result(dims.size(), 1);
  std::copy_n(dims.begin(), std::min<size_t>(2, dims.size()), result.begin());
  return result;
}

/// Of the operators that the table leaves to a rule of their own.
Dims own_dims(const Node& node, const Inputs& inputs) {
  const std::string& op = node.op_type;
  if (op == "Reshape") return reshaped_dims(inputs);
  if (inputs.empty() || !inputs[0].dims) return std::nullopt;
  const std::vector<int64_t>& dims = *inputs[0].dims;
  if (op == "MatMul" && inputs.size() > 1 && inputs[1].dims && dims.size() >= 2 && inputs[1].dims->size() >= 2)
    return unknown(std::max(dims.size(), inputs[1].dims->size()));
  if (op == "Gather" && inputs.size() > 1 && inputs[1].dims && !dims.empty())
    return unknown(dims.size() + inputs[1].dims->size() - 1);
  if (has_trait(op, Trait::kReduces) || op == "ArgMax" || op == "ArgMin")
    return reduced_dims(node, inputs, dims.size());
  if (op != "Squeeze" && op != "Unsqueeze") return std::nullopt;
  const auto axes = axes_of(node, inputs);
  if (!axes || (op == "Squeeze" && axes->size() > dims.size())) return std::nullopt;
  return unknown(op == "Squeeze" ? dims.size() - axes->size() : dims.size() + axes->size());
}

Dims output_dims(const Node& node, const Inputs& inputs) {
  const Operator* known = find_operator(node.op_type);
  const Dims* first = inputs.empty() || !inputs[0].dims ? nullptr : &inputs[0].dims;
  switch (known != nullptr ? known->shape : OutputShape::kOwnShape) {
    case OutputShape::kSameShape:
      return first != nullptr ? *first : std::nullopt;
    case OutputShape::kSameRank:
      if (first == nullptr) return std::nullopt;
      return node.is("Transpose") ? transposed_dims(node, **first) : unknown((*first)->size());
    case OutputShape::kBroadcast:
      return broadcast_dims(inputs);
    case OutputShape::kPooledToOne:
      return first != nullptr ? pooled_dims(**first) : std::nullopt;
    case OutputShape::kScalar:
      return std::vector<int64_t>{};
    case OutputShape::kVector:
      return unknown(1);
    case OutputShape::kMatrix:
      return unknown(2);
    case OutputShape::kFourAxes:
      return unknown(4);
    case OutputShape::kOwnShape:
      break;
  }
  return own_dims(node, inputs);
}

Fact declared(const Value& value) {
  Fact fact;
  fact.dtype = value.dtype;
  if (value.shape) {
    fact.dims.emplace();
    for (const Dim& dim : *value.shape) fact.dims->push_back(dim.fixed() ? dim.value : -1);
  }
  return fact;
}

Fact of_constant(const Tensor& tensor) {
  return {tensor.dtype(), tensor.shape().dims(), tensor};
}

}  // namespace

void Facts::enter(const Graph& graph) {
  for (const ValueId id : graph.inputs) facts_[graph.name_of(id)] = declared(graph.value(id));
  for (const auto& [id, tensor] : graph.initializers()) facts_[graph.name_of(id)] = of_constant(tensor);
}

void Facts::pass(const Graph& graph, const Node& node) {
  Inputs inputs;
  for (size_t k = 0; k < node.inputs.size(); ++k) inputs.push_back(of(graph, node, k));
  for (size_t k = 0; k < node.outputs.size(); ++k) {
    if (!node.outputs[k].valid()) continue;
    const Value& value = graph.value(node.outputs[k]);
    Fact fact = declared(value);
    if (node.is("Constant") && node.holds<Tensor>("value")) fact = of_constant(*node.attribute<Tensor>("value"));
    if (node.domain.empty() && fact.dtype == DType::kUndefined)
      fact.dtype = output_type(
          node, k, [&](size_t slot) { return slot < inputs.size() ? inputs[slot].dtype : DType::kUndefined; });
    if (node.domain.empty() && !fact.dims && (k == 0 || node.op_type == "Split" || node.op_type == "TopK"))
      fact.dims = output_dims(node, inputs);
    facts_[value.name] = std::move(fact);
  }
}

Fact Facts::of(const Graph& graph, const Node& node, size_t input) const {
  if (input >= node.inputs.size() || !node.inputs[input].valid()) return {};
  const auto it = facts_.find(graph.name_of(node.inputs[input]));
  return it == facts_.end() ? Fact() : it->second;
}

}  // namespace tersor::onnx
