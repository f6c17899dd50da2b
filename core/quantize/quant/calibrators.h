// SPDX-License-Identifier: Apache-2.0
// The calibrators of ONNX Runtime's quantization tool, to the last digit of their float32 ranges: Entropy, Percentile,
// Distribution and the moving average of MinMax. They work on values that pass by in chunks ("collect calls" there);
// select_activation_range() applies the same rules to the bins of a calibration.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/quant/even_bins.h"

namespace tersor::quant {

/// Counts in bins between float32 edges, as numpy.histogram makes them, that grow when a later chunk reaches further.
/// One object takes chunks of one of the two kinds.
class CalibrationHistogram {
 public:
  /// `bins` bins over the first chunk.
  explicit CalibrationHistogram(size_t bins);
  /// The given bins, for example those of a calibration; rounded so that each bin holds a whole number.
  explicit CalibrationHistogram(const EvenBins& bins);

  /// Bins from -m to m, m being the greatest magnitude seen.
  void collect(std::span<const float> values);
  /// Bins of the magnitudes, from the least of the first chunk on; later magnitudes below that are lost.
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

/// The range around zero whose values are spread most like the same values in `groups` groups of bins, within the
/// extremes. `groups` is 2^(n_bits - 1) for n_bits; the tool's own defaults are 128 bins and 128 groups, which leave
/// one candidate, the extremes.
Range entropy_range(const CalibrationHistogram& histogram, int groups);

/// The range that leaves out (100 - percentile) / 2 percent on each side, or, of magnitudes (collect_absolute) and
/// `symmetric`, 100 - percentile percent of them; within the extremes.
Range percentile_range(const CalibrationHistogram& histogram, double percentile, bool symmetric);

/// Of the values of a histogram at its bins' centres: "same", or of their signed cube roots ("p3").
struct Deviation {
  double mean = 0;
  double deviation = 0;
};
Deviation deviation_of(const CalibrationHistogram& histogram, bool of_cube_roots = false);
/// The scale at which float8 e4m3fn, its values taken as often each, has that deviation; its zero point is 0.
double distribution_scale(double deviation);
/// Where float8 e4m3fn ends at that scale.
double distribution_threshold(double deviation);

/// MinMax with moving_average: the mean of the extremes of the samples of a chunk, later chunks joining by
/// new = old + constant * (chunk - old).
class MovingAverageMinMax {
 public:
  explicit MovingAverageMinMax(double averaging_constant = 0.01) : constant_(averaging_constant) {}
  /// One range per sample of a chunk.
  void collect(std::span<const Range> samples);
  Range range() const { return range_; }

 private:
  double constant_;
  bool any_ = false;
  Range range_;
};

}  // namespace tersor::quant
