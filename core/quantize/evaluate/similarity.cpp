// SPDX-License-Identifier: Apache-2.0
#include "core/evaluate/similarity.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/error.h"
#include "core/evaluate/output_difference.h"

namespace tersor::evaluate {

namespace {

constexpr double kLittle = 1e-8;  // keeps a quotient finite
constexpr double kFarthest = 200;

}  // namespace

std::optional<double> sqnr_db(double signal, double noise) {
  if (noise == 0) return std::nullopt;
  return signal == 0 ? -kFarthest : std::clamp(decibels(signal, noise), -kFarthest, kFarthest);
}

void Similarity::merge(const Similarity& more) {
  signal += more.signal;
  other += more.other;
  product += more.product;
  noise += more.noise;
  max_error = std::max(max_error, more.max_error);
  count += more.count;
}

double Similarity::sqnr() const {
  return noise == 0 ? std::numeric_limits<double>::infinity() : signal / noise;
}

double Similarity::cosine() const {
  if (signal == 0 || other == 0) return signal == other ? 1 : 0;
  return product / (std::sqrt(signal) * std::sqrt(other));
}

Similarity similarity(std::span<const double> reference, std::span<const double> values) {
  TERSOR_CHECK(reference.size() == values.size());
  Similarity sums;
  for (size_t i = 0; i < reference.size(); ++i) sums.add(reference[i], values[i]);
  return sums;
}

double mean_power_error(std::span<const double> x, std::span<const double> y, double p, bool normalized) {
  TERSOR_CHECK(x.size() == y.size());
  double error = 0, size = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    error += std::pow(std::fabs(x[i] - y[i]), p);
    size += std::pow(std::fabs(x[i]), p);
  }
  const double count = std::max<double>(1, static_cast<double>(x.size()));
  return normalized ? error / count / (size / count + kLittle) : error / count;
}

double cosine_distance(std::span<const double> x, std::span<const double> y) {
  return cosine_distance(similarity(x, y));
}

double cosine_distance(const Similarity& sums) {
  if (sums.signal == 0 && sums.other == 0) return 0;
  return (1 - sums.product / (std::sqrt(sums.signal) * std::sqrt(sums.other) + kLittle)) / 2;
}

}  // namespace tersor::evaluate
