// SPDX-License-Identifier: Apache-2.0
// Reading Q/DQ structure from a graph.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "core/graph/graph.h"
#include "core/graph/uses.h"

namespace tersor {

/// Scale and zero point of a Q or DQ node whose parameters are constants.
struct QuantizationNode {
  ValueId raw;   // the integer side
  ValueId real;  // the float side
  ValueId scale;
  ValueId zero_point;  // invalid: absent
  DType dtype = DType::kUint8;
  std::vector<float> scales;
  std::vector<int64_t> zero_points;  // as many as scales, zeros where absent
  int64_t axis = 1;

  bool per_tensor() const { return scales.size() == 1; }
  bool is_8_bit() const { return dtype == DType::kUint8 || dtype == DType::kInt8; }
  bool same_parameters(const QuantizationNode& other) const {
    return dtype == other.dtype && scales == other.scales && zero_points == other.zero_points;
  }
};

/// The node as a QuantizeLinear or DequantizeLinear (`type`) with constant parameters; none when it is something else.
std::optional<QuantizationNode> as_quantization(const Graph& graph, const Node& node, std::string_view type);

/// The DequantizeLinear that makes `value`, if any.
std::optional<QuantizationNode> dequantized(const Graph& graph, const Uses& uses, ValueId value);

/// The one node that reads the value, which is no graph output; null otherwise.
const Node* only_reader(const Graph& graph, const Uses& uses, ValueId id);

/// The QuantizeLinear that is the one reader of `value`, which is no graph output; with its index in graph.nodes().
struct QuantizedOutput {
  size_t index;
  QuantizationNode quantize;
};
std::optional<QuantizedOutput> quantized(const Graph& graph, const Uses& uses, ValueId value);

}  // namespace tersor
