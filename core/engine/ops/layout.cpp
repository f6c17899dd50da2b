// SPDX-License-Identifier: Apache-2.0
#include "core/ops/layout.h"

#include <algorithm>

#include "core/ops/strided.h"

namespace tersor::ops {

int physical_axis(int axis, int rank, Layout layout) {
  if (layout == Layout::kPlain || axis == 0) return axis;
  return axis == 1 ? rank - 1 : axis - 1;
}

int logical_axis(int axis, int rank, Layout layout) {
  if (layout == Layout::kPlain || axis == 0) return axis;
  return axis == rank - 1 ? 1 : axis + 1;
}

std::vector<int64_t> physical_dims(const TensorType& type) {
  std::vector<int64_t> dims = type.shape.dims();
  if (type.layout == Layout::kChannelsLast) std::rotate(dims.begin() + 1, dims.begin() + 2, dims.end());
  return dims;
}

Shape logical_shape(std::vector<int64_t> dims, Layout layout) {
  if (layout == Layout::kChannelsLast) std::rotate(dims.begin() + 1, dims.end() - 1, dims.end());
  return Shape(std::move(dims));
}

bool layouts_coincide(const Shape& shape) {
  if (shape.rank() < 3 || shape.elements() == 0) return true;
  return shape[1] == 1 || shape.elements(2, shape.rank()) == 1;
}

void permute(const void* source, std::span<const int64_t> dims, std::span<const int> order, size_t element_bytes,
             void* target) {
  const std::vector<int64_t> strides = row_major_strides(dims);
  std::vector<CopyAxis> axes(dims.size());
  int64_t step = 1;
  for (size_t k = dims.size(); k-- > 0;) {
    const auto axis = static_cast<size_t>(order[k]);
    axes[k] = {dims[axis], strides[axis], step};
    step *= dims[axis];
  }
  copy_strided(source, target, axes, element_bytes);
}

void convert_layout(const TensorType& from, const void* source, Layout to, void* target) {
  const int rank = from.shape.rank();
  std::vector<int> order(static_cast<size_t>(rank));
  for (int k = 0; k < rank; ++k) {
    const int logical = logical_axis(k, rank, to);
    order[static_cast<size_t>(k)] = physical_axis(logical, rank, from.layout);
  }
  permute(source, physical_dims(from), order, static_cast<size_t>(bits_of(from.dtype) / 8), target);
}

}  // namespace tersor::ops
