// SPDX-License-Identifier: Apache-2.0
#include "core/kernels/moments.h"

#include <algorithm>
#include <cstdint>

namespace tersor::kernels {

namespace {

constexpr size_t kLanes = 8;

template <class Term>
double sum_of(const float* x, size_t n, Term term) {
  double lanes[kLanes] = {};
  size_t k = 0;
  for (; k + kLanes <= n; k += kLanes)
    for (size_t lane = 0; lane < kLanes; ++lane) lanes[lane] += term(static_cast<double>(x[k + lane]));
  for (size_t lane = 0; k < n; ++k, ++lane) lanes[lane] += term(static_cast<double>(x[k]));
  return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
}

}  // namespace

double sum_shifted(const float* x, size_t n, double shift) {
  return sum_of(x, n, [shift](double value) { return value - shift; });
}

double sum_squares_shifted(const float* x, size_t n, double shift) {
  return sum_of(x, n, [shift](double value) { return (value - shift) * (value - shift); });
}

Moments moments(const float* x, size_t n) {
  if (n == 0) return {};
  Moments m;
  m.mean = sum_shifted(x, n, 0) / static_cast<double>(n);
  m.variance = sum_squares_shifted(x, n, m.mean) / static_cast<double>(n);
  return m;
}

void shift_and_scale(const float* x, size_t n, double shift, double factor, float* y) {
  for (size_t k = 0; k < n; ++k) y[k] = static_cast<float>((static_cast<double>(x[k]) - shift) * factor);
}

void add_constant(const float* x, size_t n, float term, float* y) {
  for (size_t k = 0; k < n; ++k) y[k] = x[k] + term;
}

void scale_elements(float* y, size_t n, const float* factors, const float* terms) {
  if (terms == nullptr) {
    for (size_t k = 0; k < n; ++k) y[k] = y[k] * factors[k];
  } else {
    for (size_t k = 0; k < n; ++k) y[k] = y[k] * factors[k] + terms[k];
  }
}

}  // namespace tersor::kernels
