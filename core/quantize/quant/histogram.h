// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace tersor::quant {

/// Counts of values in bins whose width is a power of two, with the exact extremes beside them.
///
/// Bin k at exponent e holds the values with floor(x * 2^-e) == k, so it is [k * 2^e, (k + 1) * 2^e). The exponent is
/// not chosen by whoever fills the histogram: it is exponent_for(min, max), a function of the extremes alone. Because
/// two neighbouring bins at e are exactly one bin at e + 1, a histogram is a function of the multiset of values:
/// filling and merging in any order and any partition give equal objects.
///
/// Invariants: either empty (total 0, no bins), or min <= max are finite, exponent == exponent_for(min, max), the bins
/// run from bin_of(min) to bin_of(max), at most kMaxBins, and their sum is total. zeros counts the values that are
/// exactly 0 (either sign); they are in bin 0's count as well.
///
/// Copies share their counts, until one of them changes.
class Histogram {
 public:
  static constexpr int kMaxBins = 4096;

  /// The smallest exponent (at least -120) at which [min, max] takes at most kMaxBins bins and every bin index is below
  /// 2^24 in magnitude. Never falls when the range grows. Both must be finite, min <= max.
  static int exponent_for(float min, float max);
  /// floor(x * 2^-exponent). The multiplication is exact, so every target agrees.
  static int32_t bin_of(float x, int exponent);

  Histogram() = default;

  /// The histogram of values that a loop has counted: counts[i] values in bin first_bin + i at `exponent`, exact zeros
  /// included, `zeros` of them exact zeros. The exponent may be any at or below exponent_for(min, max); bins outside
  /// the extremes must be 0.
  static Histogram of_counts(float min, float max, int exponent, int32_t first_bin, std::span<const uint64_t> counts,
                             uint64_t zeros);

  /// Counts values one by one: for weights and small tensors; the loop for calibration is in core/kernels.
  /// Error kInvalidSamples when one is not finite.
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
  /// Lower end of the bin of counts()[i].
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
  /// Gives counts that are shared with no copy.
  Counts& widen(float min, float max);
  void add_counts(Counts& to, int exponent, int32_t first, std::span<const uint64_t> counts) const;

  float min_ = 0, max_ = 0;
  uint64_t total_ = 0, zeros_ = 0;
  int32_t exponent_ = 0, first_bin_ = 0;
  std::shared_ptr<const Counts> counts_;  // null: none
};

}  // namespace tersor::quant
