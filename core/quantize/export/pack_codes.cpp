// SPDX-License-Identifier: Apache-2.0
#include "core/export/pack_codes.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "core/export/added_names.h"
#include "core/graph/edit.h"

namespace tersor::ptq {

namespace {

constexpr int kByte = 8;

/// Bits [at, at + width) of each code.
struct Plane {
  int at = 0, width = 0;
};

std::vector<Plane> planes_of(int n_bits) {
  std::vector<Plane> planes;
  for (int at = 0; at < n_bits; at += planes.back().width) {
    const int left = n_bits - at;
    planes.push_back({at, left >= 4 ? 4 : left >= 2 ? 2 : 1});
  }
  return planes;
}

/// The plane of all codes, those of one byte from the lowest bits up; 0 in the bits that are left.
Tensor plane_of(std::span<const uint8_t> codes, Plane plane) {
  const auto per_byte = static_cast<size_t>(kByte / plane.width);
  std::vector<uint8_t> bytes(codes.size() / per_byte, 0);
  for (size_t k = 0; k < codes.size(); ++k) {
    const unsigned part = (codes[k] >> plane.at) & ((1U << plane.width) - 1);
    bytes[k / per_byte] |= static_cast<uint8_t>(part << (k % per_byte * static_cast<size_t>(plane.width)));
  }
  return Tensor::of<uint8_t>(Shape{static_cast<int64_t>(bytes.size()), 1}, bytes);
}

/// Writes the nodes that restore the tensors of one number of bits.
class Unpacking {
 public:
  Unpacking(Graph& graph, int n_bits) : graph_(graph), n_bits_(n_bits) { stem_ = "packed" + std::to_string(n_bits); }

  std::vector<Node> make(std::span<const ValueId> values) {
    std::vector<uint8_t> codes;
    std::vector<int64_t> counts;
    std::vector<Shape> shapes;
    for (const ValueId value : values) {
      const Tensor& tensor = *graph_.initializer(value);
      const auto own = tensor.data<int8_t>();
      for (const int8_t code : own) codes.push_back(static_cast<uint8_t>(code + (1 << (n_bits_ - 1))));
      counts.push_back(static_cast<int64_t>(own.size()));
      shapes.push_back(tensor.shape());
    }
    // Whole bytes in every plane.
    if (const size_t rest = codes.size() % kByte; rest != 0) {
      counts.push_back(static_cast<int64_t>(kByte - rest));
      codes.resize(codes.size() + kByte - rest, 0);
    }
    const std::vector<ValueId> parts = split(all_of(codes), counts);
    for (size_t k = 0; k < values.size(); ++k) {
      graph_.erase_initializer(values[k]);
      Value& value = graph_.value(values[k]);  // which the file need not describe
      value.dtype = DType::kUndefined;
      value.shape.reset();
      Node& node = add("Reshape", {parts[k], shape_of(shapes[k])}, values[k]);
      node.name = graph_.name_of(values[k]) + "_Reshape";
    }
    return std::move(nodes_);
  }

 private:
  ValueId constant(const char* part, Tensor tensor) { return graph_.add_initializer(stem_ + part, std::move(tensor)); }
  ValueId whole(const char* part, const std::vector<int64_t>& numbers) {
    return constant(part, Tensor::of<int64_t>(Shape{static_cast<int64_t>(numbers.size())}, numbers));
  }
  Node& add(const char* type, std::vector<ValueId> inputs, ValueId output) {
    Node& node = nodes_.emplace_back();
    node.op_type = type;
    node.name = graph_.name_of(output);
    node.inputs = std::move(inputs);
    node.outputs = {output};
    return node;
  }
  Node& then(const char* type, const char* part, std::vector<ValueId> inputs) {
    return add(type, std::move(inputs), graph_.add_unique_value(stem_ + part));
  }
  ValueId shifted(ValueId value, const std::vector<uint8_t>& by, const char* part, const char* direction) {
    const Shape shape{static_cast<int64_t>(by.size())};
    Node& node = then("BitShift", part, {value, constant("_by", Tensor::of<uint8_t>(shape, by))});
    node.attributes["direction"] = std::string(direction);
    return node.outputs[0];
  }
  ValueId cast(ValueId value, const char* part, DType to) {
    Node& node = then("Cast", part, {value});
    node.attributes["to"] = static_cast<int64_t>(to);
    return node.outputs[0];
  }
  ValueId with_number(const char* type, const char* part, ValueId value, int32_t number) {
    return then(type, part, {value, constant("_number", Tensor::scalar(number))}).outputs[0];
  }

  /// One plane as int32, times what its lowest bit counts.
  ValueId numbers_of(std::span<const uint8_t> codes, Plane plane) {
    std::vector<uint8_t> left;  // what stands above a code in its byte is shifted out
    for (int at = 0; at < kByte; at += plane.width) left.push_back(static_cast<uint8_t>(kByte - plane.width - at));
    ValueId value = shifted(constant("_packed", plane_of(codes, plane)), left, "_left", "LEFT");
    value = shifted(value, {static_cast<uint8_t>(kByte - plane.width)}, "_right", "RIGHT");
    if (!flat_.valid()) flat_ = whole("_flat", {-1});
    value = then("Reshape", "_line", {value, flat_}).outputs[0];
    value = cast(value, "_wide", DType::kInt32);
    return plane.at == 0 ? value : with_number("Mul", "_raised", value, 1 << plane.at);
  }

  ValueId all_of(std::span<const uint8_t> codes) {
    ValueId sum;
    for (const Plane plane : planes_of(n_bits_)) {
      const ValueId part = numbers_of(codes, plane);
      sum = sum.valid() ? then("Add", "_sum", {sum, part}).outputs[0] : part;
    }
    return cast(with_number("Sub", "_signed", sum, 1 << (n_bits_ - 1)), "_codes", DType::kInt8);
  }

  std::vector<ValueId> split(ValueId all, const std::vector<int64_t>& counts) {
    if (counts.size() == 1) return {all};
    std::vector<ValueId> parts;
    for (size_t k = 0; k < counts.size(); ++k) parts.push_back(graph_.add_unique_value(stem_ + "_part"));
    Node& node = add("Split", {all, whole("_counts", counts)}, parts[0]);
    node.attributes["axis"] = int64_t{0};
    node.outputs = parts;
    return parts;
  }

  ValueId shape_of(const Shape& shape) {
    for (const auto& [known, id] : shapes_)
      if (known == shape) return id;
    return shapes_.emplace_back(shape, whole(kShape, shape.dims())).second;
  }

  Graph& graph_;
  int n_bits_;
  std::string stem_;
  ValueId flat_;
  std::vector<std::pair<Shape, ValueId>> shapes_;
  std::vector<Node> nodes_;
};

}  // namespace

int64_t bytes_packing_saves(int64_t elements, int n_bits, size_t name_length) {
  // A Reshape that makes the value and is called after it, an output of the Split, its count, and a shape that others
  // have as well.
  constexpr int64_t kOwnParts = 110;
  const int64_t saved = elements * (kByte - n_bits) / kByte;
  return std::max<int64_t>(saved - kOwnParts - 2 * static_cast<int64_t>(name_length), 0);
}

int64_t bytes_of_unpacking(int n_bits) {
  constexpr int64_t kPlane = 480, kAll = 280;
  const auto planes = static_cast<int64_t>(planes_of(n_bits).size());
  return kAll + planes * kPlane;
}

int64_t bytes_of_opening(int n_bits) {
  // Two shifts, a Reshape and a Cast to int32 for each plane; beyond the first a Mul and an Add.
  constexpr int64_t kPlane = 7, kRaised = 8;
  // Sub in int32, codes as int8, split and shaped; Cast, Sub, Mul and Round in float32; levels, shaped and turned.
  constexpr int64_t kAll = 7, kLevels = 19;
  const auto planes = static_cast<int64_t>(planes_of(n_bits).size());
  return planes * kPlane + (planes - 1) * kRaised + kAll + kLevels;
}

void pack_codes(Graph& graph, std::span<const FewBitCodes> codes) {
  std::map<int, std::vector<ValueId>> by_bits;
  for (const FewBitCodes& one : codes) {
    const Tensor* const tensor = graph.initializer(one.value);
    if (one.n_bits >= kByte || tensor == nullptr || tensor->dtype() != DType::kInt8) continue;
    std::vector<ValueId>& values = by_bits[one.n_bits];
    if (bytes_packing_saves(tensor->elements(), one.n_bits, graph.name_of(one.value).size()) > 0 &&
        std::find(values.begin(), values.end(), one.value) == values.end())
      values.push_back(one.value);
  }
  std::vector<Node> nodes;
  for (const auto& [n_bits, values] : by_bits) {
    int64_t saved = -bytes_of_unpacking(n_bits);
    for (const ValueId value : values)
      saved += bytes_packing_saves(graph.initializer(value)->elements(), n_bits, graph.name_of(value).size());
    if (saved <= 0) continue;
    for (Node& node : Unpacking(graph, n_bits).make(values)) nodes.push_back(std::move(node));
  }
  prepend(graph, std::move(nodes));
}

}  // namespace tersor::ptq
