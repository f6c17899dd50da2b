// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace tersor::quant {

/// Counts of values in bins whose width is a power of two, together with the exact extremes.
///
/// Bin k at exponent e holds the values with floor(x * 2^-e) == k, that is [k * 2^e, (k + 1) * 2^e). The exponent is
/// exponent_for(min, max), a function of the extremes alone. Two neighbouring bins at e are exactly one bin at e + 1.
/// So a histogram is a function of the multiset of values: filling and merging in any order and partition give equal
/// objects.
///
/// Invariants: a histogram is either empty (total 0, no bins), or min <= max are finite and exponent ==
/// exponent_for(min, max). The bins then run from bin_of(min) to bin_of(max), at most kMaxBins, and their sum is total.
/// zeros counts the values that are exactly 0 (either sign); the count of bin 0 includes them.
///
/// Copies share their counts until one of them changes.
class Histogram {
 public:
  static constexpr int kMaxBins = 4096;

  /// The smallest exponent, at least -120, at which [min, max] takes at most kMaxBins bins and every bin index is below
  /// 2^24 in magnitude. It never falls when the range grows. Both ends must be finite, min <= max.
  static int exponent_for(float min, float max);
  /// floor(x * 2^-exponent). The multiplication is exact, so all targets agree.
  static int32_t bin_of(float x, int exponent);

  Histogram() = default;

  /// The histogram of values that were counted elsewhere. counts[i] is the number of values, exact zeros included, in
  /// bin first_bin + i at `exponent`; `zeros` of the values are exactly 0. The exponent must not be above
  /// exponent_for(min, max). Bins outside the extremes must be 0.
  static Histogram of_counts(float min, float max, int exponent, int32_t first_bin, std::span<const uint64_t> counts,
                             uint64_t zeros);

  /// Counts values one by one, for weights and small tensors; calibration uses the loops of core/kernels. Error
  /// kInvalidSamples if a value is not finite.
  void add(std::span<const float> values);
  void merge(const Histogram& other);

  bool empty() const { return total_ == 0; }
  uint64_t total() const { return total_; }
  uint64_t zeros() const { return zeros_; }
  float min() const { return min_; }
  float max() const { return max_; }

  int exponent() const { return exponent_; }
  int32_t first_bin() const { return first_bin_; }
  std::span<const uint64_t> counts() const {
    return counts_ == nullptr ? std::span<const uint64_t>() : std::span<const uint64_t>(*counts_);
  }
  /// 2^exponent.
  double bin_width() const;
  /// The lower end of the bin of counts()[i].
  double lower(size_t i) const { return (first_bin_ + static_cast<double>(i)) * bin_width(); }
  double center(size_t i) const { return (first_bin_ + static_cast<double>(i) + 0.5) * bin_width(); }

  bool operator==(const Histogram& other) const {
    const std::span<const uint64_t> ours = counts(), theirs = other.counts();
    return min_ == other.min_ && max_ == other.max_ && total_ == other.total_ && zeros_ == other.zeros_ &&
           exponent_ == other.exponent_ && first_bin_ == other.first_bin_ &&
           std::equal(ours.begin(), ours.end(), theirs.begin(), theirs.end());
  }

 private:
  using Counts = std::vector<uint64_t>;
  /// Widens the bins to hold [min, max] and returns counts that no copy shares.
  Counts& widen(float min, float max);
  void add_counts(Counts& to, int exponent, int32_t first, std::span<const uint64_t> counts) const;

  float min_ = 0, max_ = 0;
  uint64_t total_ = 0, zeros_ = 0;
  int32_t exponent_ = 0, first_bin_ = 0;
  std::shared_ptr<const Counts> counts_;  // null: none
};

}  // namespace tersor::quant
