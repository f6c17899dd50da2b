// SPDX-License-Identifier: Apache-2.0
// A kernel's Gram matrix (ptq/gram.h) as numbers, and factorized for rounding by nearest planes. The loops are our own
// and not Eigen's, whose sums follow the caches of the CPU: the same bytes everywhere need one order.
#pragma once

#include <cstddef>
#include <vector>

#include "core/sweep/gram.h"

namespace tersor::ptq {

/// Square and row-major.
template <class T>
struct SquareOf {
  size_t size = 0;
  std::vector<T> values;

  T* row(size_t i) { return values.data() + i * size; }
  const T* row(size_t i) const { return values.data() + i * size; }
};

/// Mean products of a block's columns about their means: of columns i and j <= i.
using Matrix = SquareOf<double>;
/// What only decides which integer is taken: each is as good as its neighbour where their errors are nearly the same.
using FloatMatrix = SquareOf<float>;

/// The columns' order and the lower triangle L of the reordered matrix, each column divided by its pivot; no columns
/// where all inputs are constant.
struct Factor {
  std::vector<size_t> order;
  FloatMatrix lower;  // L^T from its diagonal on
  Matrix damped;      // in the block's own order, both halves; only for those that ask for it
};

/// e^T H e for each row e of `errors`, each product of two columns once.
std::vector<double> noise_of(const Matrix& h, const std::vector<double>& errors);

/// 1 % of the mean diagonal is added to the matrix.
Factor factor_of(const Matrix& h, bool keeps_damped);

/// Of each of the kernel's blocks. Which samples' matrices: 0 even, 1 odd, 2 both.
std::vector<Matrix> matrices_of(const GramKernel& kernel, const GramSums& sums, int half);
std::vector<Factor> factors_of(const std::vector<Matrix>& matrices, bool keeps_damped);

}  // namespace tersor::ptq
