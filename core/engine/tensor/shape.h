// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

namespace tersor {

/// The dimensions of a tensor, outermost first; all are 0 or more. A scalar has rank 0 and one element.
class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<int64_t> dims) : Shape(std::vector<int64_t>(dims)) {}
  /// Error kInvalidModel when a dimension is negative or the element count passes 2^48.
  explicit Shape(std::vector<int64_t> dims);

  int rank() const { return static_cast<int>(dims_.size()); }
  int64_t operator[](int axis) const { return dims_[static_cast<size_t>(axis)]; }
  const std::vector<int64_t>& dims() const { return dims_; }
  /// The product of all dimensions (1 for a scalar).
  int64_t elements() const { return elements_; }
  /// The product of the dimensions from `begin` up to but without `end`.
  int64_t elements(int begin, int end) const;
  /// "1x3x224x224"; "scalar" for rank 0.
  std::string text() const;

  auto begin() const { return dims_.begin(); }
  auto end() const { return dims_.end(); }
  bool operator==(const Shape& other) const { return dims_ == other.dims_; }

 private:
  std::vector<int64_t> dims_;
  int64_t elements_ = 1;
};

/// The axis counted from the front: -1 is rank - 1. Error kInvalidModel when outside [-rank, rank).
int normalize_axis(int64_t axis, int rank);

/// The shape both broadcast to by numpy's rule. Error kInvalidModel naming both shapes when there is none.
Shape broadcast(const Shape& a, const Shape& b);

}  // namespace tersor
