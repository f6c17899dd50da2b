// SPDX-License-Identifier: Apache-2.0
// The calibrators of ONNX Runtime's quantization tool: Entropy, Percentile, Distribution and the moving average of
// MinMax. Their float32 ranges agree to the last digit. Values arrive in chunks (the tool's "collect calls").
// select_activation_range() applies the same rules to the bins of a calibration.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/quant/even_bins.h"

namespace tersor::quant {

/// A histogram with float32 bin edges, as numpy.histogram makes them, that grows when a later chunk exceeds its range.
/// An object takes chunks either by collect() or by collect_absolute().
class CalibrationHistogram {
 public:
  /// Spreads `bins` bins over the first chunk.
  explicit CalibrationHistogram(size_t bins);
  /// Starts from given bins, for example those of a calibration. Counts are rounded to whole numbers; the total is
  /// kept.
  explicit CalibrationHistogram(const EvenBins& bins);

  /// Adds values to bins from -m to m, where m is the greatest magnitude seen.
  void collect(std::span<const float> values);
  /// Adds magnitudes to bins that start at the least magnitude of the first chunk; smaller magnitudes of later chunks
  /// are lost.
  void collect_absolute(std::span<const float> values);

  std::span<const float> edges() const { return edges_; }
  std::span<const int64_t> counts() const { return counts_; }
  float low() const { return low_; }  // the extremes of all chunks
  float high() const { return high_; }

 private:
  void see(std::span<const float> values);
  void count(std::span<const float> values, bool absolute);
  void grow(float magnitude);

  size_t bins_;
  bool any_ = false;
  float low_ = 0, high_ = 0;
  std::vector<float> edges_;
  std::vector<int64_t> counts_;
};

/// Returns the range around zero, within the extremes, of least Kullback-Leibler divergence between the histogram and
/// the same values merged into `groups` groups of bins. `groups` is 2^(n_bits - 1) for n_bits. The tool's defaults are
/// 128 bins and 128 groups; these leave a single candidate, the extremes. Error kInvalidArgument for fewer than 2
/// groups or more groups than bins.
Range entropy_range(const CalibrationHistogram& histogram, int groups);

/// Returns the range, within the extremes, that leaves out (100 - percentile) / 2 percent of the values on each side.
/// With `symmetric`, for magnitudes (collect_absolute), it leaves out the largest 100 - percentile percent. Error
/// kInvalidArgument for a percentile outside 0 to 100.
Range percentile_range(const CalibrationHistogram& histogram, double percentile, bool symmetric);

/// Mean and standard deviation of the values of a histogram, each at the centre of its bin. `of_cube_roots` takes their
/// signed cube roots instead, as the tool's distribution "p3" does; the default is its "same".
struct Deviation {
  double mean = 0;
  double deviation = 0;
};
Deviation deviation_of(const CalibrationHistogram& histogram, bool of_cube_roots = false);
/// The scale at which the values of float8 e4m3fn, each equally often, have the given standard deviation. The zero
/// point is 0.
double distribution_scale(double deviation);
/// The greatest value of float8 e4m3fn at that scale.
double distribution_threshold(double deviation);

/// MinMax with moving_average: the mean of the extremes of the samples of a chunk. Each later chunk updates it by new =
/// old + constant * (chunk - old).
class MovingAverageMinMax {
 public:
  explicit MovingAverageMinMax(double averaging_constant = 0.01) : constant_(averaging_constant) {}
  /// Adds a chunk that holds the extremes of each of its samples.
  void collect(std::span<const Range> samples);
  Range range() const { return range_; }

 private:
  double constant_;
  bool any_ = false;
  Range range_;
};

}  // namespace tersor::quant
