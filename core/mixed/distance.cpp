// SPDX-License-Identifier: Apache-2.0
#include "core/mixed/distance.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/base/error.h"
#include "core/evaluate/similarity.h"
#include "core/kernels/transcendental.h"

namespace tersor::mixed {

using config::MpDistance;

namespace {

constexpr double kLittle = 1e-8;

template <class T>
void check(std::span<const T> x, std::span<const T> y) {
  if (x.empty() || x.size() != y.size())
    throw Error(ErrorCode::kInvalidArgument, "Tensors of " + std::to_string(x.size()) + " and " +
                                                 std::to_string(y.size()) + " elements cannot be compared.");
  for (size_t i = 0; i < x.size(); ++i)
    if (!std::isfinite(x[i]) || !std::isfinite(y[i]))
      throw Error(ErrorCode::kInvalidArgument, "Element " + std::to_string(i) + " of a tensor is not finite.");
}

template <class T>
evaluate::Similarity sums_of(std::span<const T> x, std::span<const T> y) {
  check(x, y);
  evaluate::Similarity sums;
  for (size_t i = 0; i < x.size(); ++i) sums.add(x[i], y[i]);
  return sums;
}

double normalized_mse(const evaluate::Similarity& sums) {
  return sums.mse() / (sums.signal / static_cast<double>(sums.count) + kLittle);
}

}  // namespace

double normalized_mse(std::span<const double> x, std::span<const double> y) {
  return normalized_mse(sums_of(x, y));
}

double normalized_mse(std::span<const float> x, std::span<const float> y) {
  return normalized_mse(sums_of(x, y));
}

double cosine_distance(std::span<const double> x, std::span<const double> y) {
  return std::max(evaluate::cosine_distance(sums_of(x, y)), 0.0);
}

double cosine_distance(std::span<const float> x, std::span<const float> y) {
  return std::max(evaluate::cosine_distance(sums_of(x, y)), 0.0);
}

double kl_divergence(std::span<const double> p, std::span<const double> q, size_t row) {
  check<double>(p, q);
  if (row == 0 || p.size() % row != 0)
    throw Error(ErrorCode::kInvalidArgument,
                std::to_string(p.size()) + " elements make no rows of " + std::to_string(row) + ".");
  double sum = 0;
  for (size_t i = 0; i < p.size(); ++i) {
    if (p[i] < 0) throw Error(ErrorCode::kInvalidArgument, "Found a negative probability.");
    if (p[i] == 0) continue;
    const double other = q[i] > 0 ? q[i] : kLittle;
    sum += p[i] * (kernels::natural_logarithm(p[i]) - kernels::natural_logarithm(other));
  }
  return sum / static_cast<double>(p.size() / row);
}

MpDistance distance_for(std::string_view op_type) {
  if (op_type == "Softmax") return MpDistance::kKlDivergence;
  if (op_type == "Sigmoid" || op_type == "Gemm" || op_type == "MatMul") return MpDistance::kCosine;
  return MpDistance::kNormalizedMse;
}

}  // namespace tersor::mixed
