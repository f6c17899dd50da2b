// SPDX-License-Identifier: Apache-2.0
// The Gram matrix of a kernel (sweep/gram.h) as real numbers, and its factorization for rounding by nearest planes. The
// loops replace Eigen's, whose order of summation depends on the caches of the CPU: equal bytes everywhere require a
// fixed order.
#pragma once

#include <cstddef>
#include <vector>

#include "core/sweep/gram.h"

namespace tersor::ptq {

/// A square matrix, row-major.
template <class T>
struct SquareOf {
  size_t size = 0;
  std::vector<T> values;

  T* row(size_t i) { return values.data() + i * size; }
  const T* row(size_t i) const { return values.data() + i * size; }
};

/// Mean products of a block's columns, relative to the columns' means unless the input is float and the kernel cannot
/// have a bias. Only the lower triangle, j <= i, is set.
using Matrix = SquareOf<double>;
/// For factors, which only decide between neighbouring integers: where float32 may err, both are nearly equally good.
using FloatMatrix = SquareOf<float>;

/// The order of the columns, and the lower triangle L of the reordered matrix with each column divided by its pivot.
/// There are no columns if all inputs are constant.
struct Factor {
  std::vector<size_t> order;
  FloatMatrix lower;  // below the diagonal L, columns divided by pivots; from it on L^T
  Matrix damped;      // the damped matrix in the block's order, both triangles; only on request
};

/// e^T H e for each row e of `errors`; H is given by its lower triangle.
std::vector<double> noise_of(const Matrix& h, const std::vector<double>& errors);

/// Factorizes the matrix after adding 1 % of the mean of its diagonal to its diagonal.
Factor factor_of(const Matrix& h, bool keeps_damped);

/// The matrix of each block of the kernel, from the even samples (half = 0), the odd samples (1) or all samples (2).
std::vector<Matrix> matrices_of(const GramKernel& kernel, const GramSums& sums, int half);
std::vector<Factor> factors_of(const std::vector<Matrix>& matrices, bool keeps_damped);

}  // namespace tersor::ptq
