// SPDX-License-Identifier: Apache-2.0
#include "core/run/stack.h"

#include <algorithm>
#include <cstring>

#include "core/ops/layout.h"
#include "core/run/prepared.h"

namespace tersor::run {

Tensor move_axis(const Tensor& tensor, int from, int to) {
  if (from == to) return tensor;
  require_turnable(tensor.dtype());
  const Shape& shape = tensor.shape();
  std::vector<int> order;
  for (int axis = 0; axis < shape.rank(); ++axis)
    if (axis != from) order.push_back(axis);
  order.insert(order.begin() + to, from);
  std::vector<int64_t> dims;
  for (const int axis : order) dims.push_back(shape[axis]);
  Tensor moved = Tensor::make(tensor.dtype(), Shape(std::move(dims)));
  if (moved.elements() > 0)
    ops::permute(tensor.bytes().data(), shape.dims(), order, static_cast<size_t>(bits_of(tensor.dtype())) / 8,
                 moved.mutable_bytes().data());
  return moved;
}

void Stack::add(const Tensor& tensor) {
  if (count_ == 0) {
    require_turnable(tensor.dtype());
    dtype_ = tensor.dtype();
    shape_ = tensor.shape();
  }
  if (tensor.dtype() != dtype_ || !(tensor.shape() == shape_))
    throw Error(ErrorCode::kInvalidModel, "A step gives a tensor of the type " + std::string(name_of(tensor.dtype())) +
                                              " and the shape " + tensor.shape().text() + "; those before gave " +
                                              std::string(name_of(dtype_)) + " and " + shape_.text() + ".");
  bytes_.insert(bytes_.end(), tensor.bytes().begin(), tensor.bytes().end());
  ++count_;
}

Tensor Stack::finish(int64_t axis, bool reversed, const Port& declared) {
  if (count_ == 0) {
    if (declared.dtype == DType::kUndefined)
      throw Error(
          ErrorCode::kUnsupportedModel,
          "The loop took no step, and its graph does not say of which type the output \"" + declared.name + "\" is.");
    dtype_ = declared.dtype;
    std::vector<int64_t> dims;
    if (declared.shape)
      for (const Dim& dim : *declared.shape) dims.push_back(std::max<int64_t>(0, dim.value));
    shape_ = Shape(std::move(dims));
  }
  std::vector<int64_t> dims = shape_.dims();
  dims.insert(dims.begin(), count_);
  Tensor stacked = Tensor::make(dtype_, Shape(std::move(dims)));
  const size_t step = count_ == 0 ? 0 : bytes_.size() / static_cast<size_t>(count_);
  if (step > 0)
    for (size_t k = 0; k < static_cast<size_t>(count_); ++k)
      std::memcpy(stacked.mutable_bytes().data() + k * step,
                  bytes_.data() + (reversed ? static_cast<size_t>(count_) - 1 - k : k) * step, step);
  bytes_ = {};
  return move_axis(stacked, 0, normalize_axis(axis, stacked.shape().rank()));
}

}  // namespace tersor::run
