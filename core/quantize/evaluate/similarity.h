// SPDX-License-Identifier: Apache-2.0
// How alike two tensors are, a reference and what became of it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/base/byte_stream.h"

namespace tersor::evaluate {

/// 10 log10(signal / noise) within -200 to 200; absent without noise, -200 where a reference of zeros did not stay
/// zero.
std::optional<double> sqnr_db(double signal, double noise);

/// What decides whether two sequences are alike, summed over any number of them; finite values only.
struct Similarity {
  double signal = 0;   // squares of the reference
  double other = 0;    // squares of the other
  double product = 0;  // of the two
  double noise = 0;    // squares of the differences
  double max_error = 0;
  int64_t count = 0;

  static constexpr auto fields() {
    using S = Similarity;
    return members(&S::signal, &S::other, &S::product, &S::noise, &S::max_error, &S::count);
  }
  void add(double reference, double value) {
    const double difference = reference - value, size = difference < 0 ? -difference : difference;
    signal += reference * reference;
    other += value * value;
    product += reference * value;
    noise += difference * difference;
    max_error = size > max_error ? size : max_error;
    ++count;
  }
  void merge(const Similarity& more);

  /// Mean square error; 0 over no values.
  double mse() const { return count > 0 ? noise / static_cast<double>(count) : 0; }
  /// Signal over noise, a ratio; infinite where they are equal.
  double sqnr() const;
  /// Cosine of the angle between them, -1 to 1; 1 for two of zeros, 0 where one is.
  double cosine() const;
};

Similarity similarity(std::span<const double> reference, std::span<const double> values);

/// Mean of |x - y|^p. Normalized: in parts of the mean of |x|^p, to which 1e-8 is added.
double mean_power_error(std::span<const double> x, std::span<const double> y, double p, bool normalized = false);

/// (1 - cos) / 2, with 1e-8 added to the product of the lengths; 0 for two of zeros.
double cosine_distance(const Similarity& sums);
double cosine_distance(std::span<const double> x, std::span<const double> y);

}  // namespace tersor::evaluate
