// SPDX-License-Identifier: Apache-2.0
#include "core/sweep/gram_factor.h"

#include <algorithm>
#include <cmath>

#include "core/base/sort_stably.h"
#include "core/kernels/add_scaled.h"

namespace tersor::ptq {

namespace {

constexpr double kDamping = 0.01;  // of the mean diagonal

/// About the means of the columns where a corrected bias takes out what those make.
Matrix mean_products(const std::vector<GramView>& halves, const GramKernel& kernel, const GramBlock& block) {
  const size_t size = halves[0].sums.size();
  Matrix matrix{size, std::vector<double>(size * size, 0.0)};
  double rows = 0;
  for (const GramView& half : halves) rows += half.rows;
  if (rows == 0) return matrix;
  const double share = 1 / rows;
  std::vector<double> means(size, 0.0), steps;
  for (size_t i = 0; i < size; ++i) steps.push_back(kernel.step_of(block, static_cast<int64_t>(i)));
  for (size_t i = 0; i < size; ++i) {
    int64_t sum = 0;
    for (const GramView& half : halves) sum += half.sums[i];
    if (kernel.op.can_have_bias) means[i] = static_cast<double>(sum) * share;
  }
  for (size_t i = 0, k = 0; i < size; ++i)
    for (size_t j = 0; j <= i; ++j, ++k) {
      int64_t sum = 0;
      for (const GramView& half : halves) sum += half.products[k];
      matrix.row(i)[j] = (static_cast<double>(sum) * share - means[i] * means[j]) * (steps[i] * steps[j]);
    }
  return matrix;
}

/// Rows that are taken into a sum together.
constexpr size_t kRowsAtOnce = 8;

/// Makes L^T of a matrix's upper triangle in place, no pivot's square being less than `least`. Some pivots at a time:
/// what lies below takes them in together.
void factorize(FloatMatrix& upper, float least) {
  constexpr size_t kPivots = 8;
  const size_t size = upper.size;
  const float* rows[kPivots];
  float factors[kPivots];
  for (size_t first = 0; first < size; first += kPivots) {
    const size_t end = std::min(first + kPivots, size);
    for (size_t k = first; k < end; ++k) {
      float* row = upper.row(k);
      for (size_t before = first; before < k; ++before)
        kernels::add_scaled(-upper.row(before)[k], upper.row(before) + k, size - k, row + k);
      const float pivot = std::sqrt(std::max(row[k], least));
      row[k] = pivot;
      for (size_t j = k + 1; j < size; ++j) row[j] /= pivot;
    }
    for (size_t i = end; i < size; ++i) {
      for (size_t k = first; k < end; ++k) {
        rows[k - first] = upper.row(k) + i;
        factors[k - first] = -upper.row(k)[i];
      }
      kernels::add_scaled_rows(factors, rows, end - first, size - i, upper.row(i) + i);
    }
  }
}

}  // namespace

std::vector<double> noise_of(const Matrix& h, const std::vector<double>& errors) {
  std::vector<double> sums(errors.size(), 0.0);
  const size_t outputs = errors.size() / h.size;
  const double* rows[kRowsAtOnce];
  double factors[kRowsAtOnce];
  for (size_t first = 0; first < h.size; first += kRowsAtOnce) {
    const size_t end = std::min(first + kRowsAtOnce, h.size);
    for (size_t i = first; i < end; ++i) rows[i - first] = h.row(i);
    for (size_t o = 0; o < outputs; ++o) {
      double* own = sums.data() + o * h.size;
      for (size_t i = first; i < end; ++i) factors[i - first] = 2 * errors[o * h.size + i];
      kernels::add_scaled_rows(factors, rows, end - first, first, own);
      for (size_t i = first + 1; i < end; ++i)
        for (size_t k = first; k < i; ++k) own[k] += factors[i - first] * h.row(i)[k];
    }
  }
  std::vector<double> noise(outputs, 0.0);
  for (size_t k = 0; k < errors.size(); ++k)
    noise[k / h.size] += (sums[k] + h.row(k % h.size)[k % h.size] * errors[k]) * errors[k];
  return noise;
}

Factor factor_of(const Matrix& h, bool keeps_damped) {
  Factor factor;
  double trace = 0;
  for (size_t i = 0; i < h.size; ++i) trace += h.row(i)[i];
  if (!(trace > 0)) return factor;
  const double damping = kDamping * trace / static_cast<double>(h.size);
  const auto diagonal = [&](size_t i) { return h.row(i)[i] + damping; };
  factor.order = stable_order(h.size, [&](size_t a, size_t b) { return diagonal(a) < diagonal(b); });
  FloatMatrix& lower = factor.lower;
  lower = {h.size, std::vector<float>(h.size * h.size)};
  for (size_t i = 0; i < h.size; ++i) {
    lower.row(i)[i] = static_cast<float>(diagonal(factor.order[i]));
    for (size_t j = i + 1; j < h.size; ++j) {
      const auto [first, second] = std::minmax(factor.order[i], factor.order[j]);
      lower.row(i)[j] = static_cast<float>(h.row(second)[first]);
    }
  }
  // Damping keeps pivots positive but for what rounding leaves of very unlike columns.
  factorize(lower, static_cast<float>(kDamping * damping));
  std::vector<float> inverses;
  for (size_t j = 0; j < h.size; ++j) inverses.push_back(1 / lower.row(j)[j]);
  for (size_t i = 0; i < h.size; ++i)
    for (size_t j = 0; j < i; ++j) lower.row(i)[j] = lower.row(j)[i] * inverses[j];
  if (!keeps_damped) return factor;
  factor.damped = h;
  for (size_t i = 0; i < h.size; ++i) {
    factor.damped.row(i)[i] = diagonal(i);
    for (size_t j = i + 1; j < h.size; ++j) factor.damped.row(i)[j] = h.row(j)[i];
  }
  return factor;
}

std::vector<Matrix> matrices_of(const GramKernel& kernel, const GramSums& sums, int half) {
  std::vector<Matrix> matrices;
  for (size_t b = 0; b < kernel.blocks.size(); ++b) {
    std::vector<GramView> views;
    for (int h = 0; h < 2; ++h)
      if (half == 2 || half == h) views.push_back(sums.view(h, kernel, b));
    matrices.push_back(mean_products(views, kernel, kernel.blocks[b]));
  }
  return matrices;
}

std::vector<Factor> factors_of(const std::vector<Matrix>& matrices, bool keeps_damped) {
  std::vector<Factor> factors;
  for (const Matrix& matrix : matrices) factors.push_back(factor_of(matrix, keeps_damped));
  return factors;
}

}  // namespace tersor::ptq
