// SPDX-License-Identifier: Apache-2.0
#include "core/graph/qdq.h"

#include <cmath>

#include "core/graph/attribute_defaults.h"

namespace tersor {

namespace {

DType integer_type(const Graph& graph, const Node& node, std::string_view type, const Tensor* zero_point) {
  if (zero_point != nullptr) return zero_point->dtype();
  if (type == "DequantizeLinear") {
    const Tensor* constant = graph.initializer(node.inputs[0]);
    if (constant != nullptr) return constant->dtype();
    const DType declared = graph.value(node.inputs[0]).dtype;
    if (declared != DType::kUndefined) return declared;
  } else if (const int64_t wanted = int_of(node, "output_dtype"); wanted != 0) {
    return static_cast<DType>(wanted);
  }
  return DType::kUint8;
}

}  // namespace

std::optional<QuantizationNode> as_quantization(const Graph& graph, const Node& node, std::string_view type) {
  const bool known_domain = node.domain.empty() || node.domain == "com.microsoft";
  if (!known_domain || node.op_type != type || node.inputs.size() < 2 || node.outputs.size() != 1) return std::nullopt;
  if (!node.inputs[0].valid() || !node.inputs[1].valid()) return std::nullopt;
  const Tensor* scale = graph.initializer(node.inputs[1]);
  const ValueId zero_point_id = node.inputs.size() > 2 ? node.inputs[2] : ValueId{};
  const Tensor* zero_point = zero_point_id.valid() ? graph.initializer(zero_point_id) : nullptr;
  if (scale == nullptr || scale->dtype() != DType::kFloat32 || scale->shape().rank() > 1) return std::nullopt;
  if (zero_point_id.valid() && zero_point == nullptr) return std::nullopt;
  QuantizationNode found;
  const bool quantizes = type == "QuantizeLinear";
  found.raw = quantizes ? node.outputs[0] : node.inputs[0];
  found.real = quantizes ? node.inputs[0] : node.outputs[0];
  found.scale = node.inputs[1];
  found.zero_point = zero_point_id;
  found.dtype = integer_type(graph, node, type, zero_point);
  const auto scales = scale->aligned();
  found.scales.assign(scales.data<float>().begin(), scales.data<float>().end());
  for (float one : found.scales)
    if (!(one > 0) || !std::isfinite(one)) return std::nullopt;  // the operator itself says what is wrong
  if (zero_point != nullptr && !is_integer(found.dtype)) return std::nullopt;
  found.zero_points = zero_point != nullptr && bits_of(found.dtype) >= 8 ? zero_point->to_int64s()
                                                                         : std::vector<int64_t>(found.scales.size(), 0);
  if (found.zero_points.size() != found.scales.size() || found.scales.empty()) return std::nullopt;
  found.axis = int_of(node, "axis");
  if (int_of(node, "block_size") != 0) return std::nullopt;
  return found;
}

std::optional<QuantizationNode> dequantized(const Graph& graph, const Uses& uses, ValueId value) {
  if (!value.valid()) return std::nullopt;
  const auto producer = uses.producer_index(value);
  return producer ? as_quantization(graph, graph.nodes()[*producer], "DequantizeLinear") : std::nullopt;
}

const Node* only_reader(const Graph& graph, const Uses& uses, ValueId id) {
  if (uses.reader_count(id) != 1 || uses.is_output(id)) return nullptr;
  return &graph.nodes()[uses.reader_indices(id)[0]];
}

std::optional<QuantizedOutput> quantized(const Graph& graph, const Uses& uses, ValueId value) {
  const auto& readers = uses.reader_indices(value);
  if (readers.size() != 1 || uses.is_output(value)) return std::nullopt;
  const auto quantize = as_quantization(graph, graph.nodes()[readers[0]], "QuantizeLinear");
  if (!quantize || quantize->real != value) return std::nullopt;
  return QuantizedOutput{readers[0], *quantize};
}

}  // namespace tersor
