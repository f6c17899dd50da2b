// SPDX-License-Identifier: Apache-2.0
#include "core/kernels/fourier.h"

#include <algorithm>

namespace tersor::kernels {

namespace {

/// Taylor's series for |x| <= pi / 4.
double small_sine(double x) {
  constexpr double kTerms[] = {-1.0 / 1307674368000, 1.0 / 6227020800, -1.0 / 39916800, 1.0 / 362880,
                               -1.0 / 5040,          1.0 / 120,        -1.0 / 6};
  double sum = 1.0 / 355687428096000;
  for (const double term : kTerms) sum = sum * (x * x) + term;
  return x + x * (x * x) * sum;
}

double small_cosine(double x) {
  constexpr double kTerms[] = {
      -1.0 / 87178291200, 1.0 / 479001600, -1.0 / 3628800, 1.0 / 40320, -1.0 / 720, 1.0 / 24, -0.5};
  double sum = 1.0 / 20922789888000;
  for (const double term : kTerms) sum = sum * (x * x) + term;
  return 1 + x * x * sum;
}

/// Products without the C rules for infinities, which would cost a call each.
std::complex<double> times(std::complex<double> a, std::complex<double> b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

}  // namespace

std::complex<double> direction(int64_t k, int64_t n) {
  constexpr double kQuarter = 1.5707963267948966;
  k %= n;
  if (k < 0) k += n;
  // k / n = quarters / 4 + rest / (4 n) with |rest| <= n / 2, all in whole numbers. n < 2^48, as a Shape has it.
  int64_t quarters = 4 * k / n, rest = 4 * k % n;
  if (2 * rest > n) {
    rest -= n;
    ++quarters;
  }
  const double angle = kQuarter * static_cast<double>(rest) / static_cast<double>(n);
  const double cosine = small_cosine(angle), sine = small_sine(angle);
  switch (quarters % 4) {
    case 0:
      return {cosine, sine};
    case 1:
      return {-sine, cosine};
    case 2:
      return {-cosine, -sine};
    default:
      return {sine, -cosine};
  }
}

Fourier::Fourier(size_t n, bool inverse) : inverse_(inverse), turns_(n) {
  for (size_t k = 0; k < n; ++k) {
    const std::complex<double> turn = direction(static_cast<int64_t>(k), static_cast<int64_t>(n));
    turns_[k] = inverse ? turn : std::conj(turn);
  }
  size_t rest = n;
  for (size_t p = 2; p * p <= rest; ++p)
    for (; rest % p == 0; rest /= p) factors_.push_back(p);
  if (rest > 1) factors_.push_back(rest);
}

void Fourier::run(std::complex<double>* x, std::complex<double>* work) const {
  const size_t n = length();
  std::vector<std::complex<double>> result(n);
  transform(x, 1, n, 0, result.data(), work);
  const double factor = inverse_ ? 1 / static_cast<double>(n) : 1;
  for (size_t k = 0; k < n; ++k) x[k] = result[k] * factor;
}

/// y[k] = sum of x[t step] turn^(t k) for t < n; `work` holds n numbers. n times `step` is the whole length.
void Fourier::transform(const std::complex<double>* x, size_t step, size_t n, size_t factor_index,
                        std::complex<double>* y, std::complex<double>* work) const {
  if (n == 1) {
    *y = *x;
    return;
  }
  const size_t p = factors_[factor_index], m = n / p;
  // Each p-th element apart, from each of the first p.
  for (size_t r = 0; r < p; ++r) transform(x + r * step, step * p, m, factor_index + 1, work + r * m, y + r * m);
  const size_t length = turns_.size();
  for (size_t k = 0; k < n; ++k) {
    std::complex<double> sum = work[k % m];
    for (size_t r = 1; r < p; ++r) sum += times(work[r * m + k % m], turns_[r * k % n * (length / n)]);
    y[k] = sum;
  }
}

}  // namespace tersor::kernels
