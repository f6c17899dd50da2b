// SPDX-License-Identifier: Apache-2.0
#include "core/tensor/shape.h"

#include <algorithm>

#include "core/base/error.h"

namespace tersor {

namespace {
constexpr int64_t kMostElements = int64_t{1} << 48;
}

Shape::Shape(std::vector<int64_t> dims) : dims_(std::move(dims)) {
  bool empty = false;
  for (int64_t dim : dims_) {
    if (dim < 0)
      throw Error(ErrorCode::kInvalidModel, "A shape has the negative dimension " + std::to_string(dim) + ".");
    empty = empty || dim == 0;
  }
  if (empty) {
    elements_ = 0;
    return;
  }
  for (int64_t dim : dims_) {
    if (dim > kMostElements / elements_)
      throw Error(ErrorCode::kInvalidModel, "The shape " + text() + " has more elements than any memory holds.");
    elements_ *= dim;
  }
}

int64_t Shape::elements(int begin, int end) const {
  int64_t product = 1;
  for (int axis = begin; axis < end; ++axis) product *= dims_[static_cast<size_t>(axis)];
  return product;
}

std::string Shape::text() const {
  if (dims_.empty()) return "scalar";
  std::string text;
  for (int64_t dim : dims_) text += (text.empty() ? "" : "x") + std::to_string(dim);
  return text;
}

int normalize_axis(int64_t axis, int rank) {
  if (axis < -rank || axis >= rank)
    throw Error(ErrorCode::kInvalidModel,
                "The axis " + std::to_string(axis) + " is outside a tensor of rank " + std::to_string(rank) + ".");
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

Shape broadcast(const Shape& a, const Shape& b) {
  const int rank = std::max(a.rank(), b.rank());
  std::vector<int64_t> dims(static_cast<size_t>(rank));
  for (int i = 0; i < rank; ++i) {
    const int ia = i - (rank - a.rank()), ib = i - (rank - b.rank());
    const int64_t da = ia < 0 ? 1 : a[ia], db = ib < 0 ? 1 : b[ib];
    if (da != db && da != 1 && db != 1)
      throw Error(ErrorCode::kInvalidModel, "The shapes " + a.text() + " and " + b.text() + " do not broadcast.");
    dims[static_cast<size_t>(i)] = da == 1 ? db : da;
  }
  return Shape(std::move(dims));
}

}  // namespace tersor
