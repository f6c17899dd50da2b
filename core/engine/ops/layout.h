// SPDX-License-Identifier: Apache-2.0
// How a tensor lies in memory while a graph runs. Shapes are always spoken of as ONNX does (batch, channels, spatial
// axes); a value of rank 3 or more may be held with its channels last, which is what convolution and pooling want.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/tensor/dtype.h"
#include "core/tensor/shape.h"

namespace tersor::ops {

/// kPlain: row-major in the ONNX order of axes. kChannelsLast: row-major with axis 1 moved to the end (N, spatial...,
/// C); only for rank 3 and more.
enum class Layout : uint8_t { kPlain, kChannelsLast };

/// Element type, logical (ONNX) shape and memory layout of a tensor.
struct TensorType {
  DType dtype = DType::kUndefined;
  Shape shape;
  Layout layout = Layout::kPlain;

  /// Never overflows: a Shape has at most 2^48 elements.
  int64_t bytes() const { return (shape.elements() * bits_of(dtype) + 7) / 8; }
  bool operator==(const TensorType&) const = default;
};

/// Where the logical `axis` stands in memory: the same for kPlain; else 0 -> 0, 1 -> rank - 1, k -> k - 1.
int physical_axis(int axis, int rank, Layout layout);
/// The inverse of physical_axis().
int logical_axis(int axis, int rank, Layout layout);
/// The dimensions in memory order, outermost first.
std::vector<int64_t> physical_dims(const TensorType& type);
/// The inverse: the logical shape of what lies in memory as `dims`.
Shape logical_shape(std::vector<int64_t> dims, Layout layout);
/// True when both layouts of this shape are the same bytes (one channel, or one spatial place, or no elements).
bool layouts_coincide(const Shape& shape);

/// Copies `source`, of dimensions `dims` (row-major), to row-major memory whose k-th axis is axis order[k] of the
/// source. `element_bytes` is 1, 2, 4 or 8; both have the same number of elements and do not overlap.
void permute(const void* source, std::span<const int64_t> dims, std::span<const int> order, size_t element_bytes,
             void* target);

/// Copies between the layouts of one logical type: `source` lies as `from.layout`, `target` as `to`.
void convert_layout(const TensorType& from, const void* source, Layout to, void* target);

}  // namespace tersor::ops
