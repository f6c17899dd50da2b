// SPDX-License-Identifier: Apache-2.0
#include "core/mixed/distance.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/evaluate/similarity.h"
#include "core/kernels/transcendental.h"

namespace tersor::mixed {

using config::MpDistance;

namespace {

constexpr double kLittle = 1e-8;

void check(std::span<const double> x, std::span<const double> y) {
  if (x.empty() || x.size() != y.size())
    throw Error(ErrorCode::kInvalidArgument, "Tensors of " + std::to_string(x.size()) + " and " +
                                                 std::to_string(y.size()) + " elements cannot be compared.");
  for (size_t i = 0; i < x.size(); ++i)
    if (!std::isfinite(x[i]) || !std::isfinite(y[i]))
      throw Error(ErrorCode::kInvalidArgument, "Element " + std::to_string(i) + " of a tensor is not finite.");
}

evaluate::Similarity sums_of(std::span<const double> x, std::span<const double> y) {
  check(x, y);
  return evaluate::similarity(x, y);
}

/// Four sums side by side, in one order on every target.
evaluate::Similarity sums_of(std::span<const float> x, std::span<const float> y) {
  constexpr size_t kLanes = 4;
  double signal[kLanes] = {}, other[kLanes] = {}, product[kLanes] = {}, noise[kLanes] = {};
  const auto add = [&](size_t i, size_t lane) {
    const double a = x[i], b = y[i], difference = a - b;
    signal[lane] += a * a;
    other[lane] += b * b;
    product[lane] += a * b;
    noise[lane] += difference * difference;
  };
  size_t i = 0;
  for (; i + kLanes <= x.size(); i += kLanes)
    for (size_t lane = 0; lane < kLanes; ++lane) add(i + lane, lane);
  for (; i < x.size(); ++i) add(i, 0);
  evaluate::Similarity sums;
  for (size_t lane = 0; lane < kLanes; ++lane) {
    sums.signal += signal[lane], sums.other += other[lane];
    sums.product += product[lane], sums.noise += noise[lane];
  }
  sums.count = static_cast<int64_t>(x.size());
  return sums;
}

double normalized_mse(const evaluate::Similarity& sums) {
  return sums.mse() / (sums.signal / static_cast<double>(sums.count) + kLittle);
}

}  // namespace

double normalized_mse(std::span<const double> x, std::span<const double> y) {
  return normalized_mse(sums_of(x, y));
}

double cosine_distance(std::span<const double> x, std::span<const double> y) {
  return std::max(evaluate::cosine_distance(sums_of(x, y)), 0.0);
}

double kl_divergence(std::span<const double> p, std::span<const double> q, size_t row) {
  check(p, q);
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

double distance(MpDistance kind, std::span<const float> x, std::span<const float> y, size_t row) {
  if (x.empty()) return 0;
  if (x.size() != y.size()) return 1;
  const evaluate::Similarity sums = sums_of(x, y);
  if (!std::isfinite(sums.signal)) return 0;
  if (!std::isfinite(sums.other)) return 1;
  if (kind == MpDistance::kCosine) return std::max(evaluate::cosine_distance(sums), 0.0);
  const bool is_divergence =
      kind == MpDistance::kKlDivergence && std::all_of(x.begin(), x.end(), [](float one) { return one >= 0; });
  if (!is_divergence) return normalized_mse(sums);
  const std::vector<double> p(x.begin(), x.end()), q(y.begin(), y.end());
  return std::max(0.0, kl_divergence(p, q, row));
}

MpDistance distance_for(std::string_view op_type) {
  if (op_type == "Softmax") return MpDistance::kKlDivergence;
  if (op_type == "Sigmoid" || op_type == "Gemm" || op_type == "MatMul") return MpDistance::kCosine;
  return MpDistance::kNormalizedMse;
}

}  // namespace tersor::mixed
