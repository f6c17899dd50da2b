// SPDX-License-Identifier: Apache-2.0
#include "core/quant/threshold_search.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/base/error.h"
#include "core/quant/calibrators.h"
#include "core/quant/error_functions.h"
#include "core/quant/kl_divergence.h"
#include "core/quant/quantizer.h"
#include "core/quant/scan_ends.h"

namespace tersor::quant {

namespace {

using Method = ThresholdSelectionMethod;

/// Moves, points and starts of the searches. MCT's numbers over a histogram are 20 and 30 moves, 12 points and 20
/// powers of two. An error curve with few integers is rugged, and only many tries find its deepest valley; with many it
/// is smooth, and a few steps do.
SearchEffort histogram_effort(size_t bins, const IntegerGrid& grid) {
  if (grid.n_bits <= 5 || bins <= 512) return {20, 20, 4, 30, 12, 16, 2};
  if (grid.n_bits <= 8) return {20, 5, 2, 2, 8, 10, 1};
  return {20, 2, 4, 1, 6, 8, 1};
}

/// A divergence over fewer bins says nothing: over one it is 0, and that would win.
size_t least_covered_bins(const IntegerGrid& grid) {
  return std::max<size_t>(16, std::min<size_t>(size_t{1} << (grid.n_bits - 1), 128));
}

/// The ends of a UNIFORM activation are no thresholds: however close, they are kept, down to where the product of its
/// scale and a weight's would leave the normal numbers of float32.
double least_threshold(QuantizationMethod method, const Criterion& criterion) {
  constexpr double kLeastWidth = 2.6469779601696886e-23;  // 2^-75
  return method == QuantizationMethod::kUniform ? kLeastWidth / 2 : criterion.min_threshold;
}

Range search_least_error(const EvenBins& bins, const Quantizer& quantizer, const IntegerGrid& grid, int p,
                         double least) {
  const BinnedValues values(bins, p);
  const Range start = quantizer.cover(bins.extremes.low, bins.extremes.high, grid, least);
  const auto error = [&](const Range& range, double limit) {
    return values.error(quantizer.step_of(range, grid), grid, limit);
  };
  return quantizer.search(start, error, histogram_effort(values.bins(), grid), least);
}

Range search_least_divergence(const EvenBins& bins, const Quantizer& quantizer, const IntegerGrid& grid, double least) {
  KlDivergence divergence(bins);
  const Range start = quantizer.cover(bins.extremes.low, bins.extremes.high, grid, least);
  const size_t covered = least_covered_bins(grid);
  const auto error = [&](const Range& range, double /*limit*/) {
    if (divergence.covered_bins(range) < covered) return HUGE_VAL;
    return divergence.of(range, quantizer.step_of(range, grid), grid);
  };
  // A step of one bin or less leaves nothing to diverge but what is clipped.
  if (grid.n_bits > 8 && bins.width * (grid.q_max() - grid.q_min()) >= start.high - start.low) return start;
  SearchEffort effort = histogram_effort(bins.counts.size(), grid);
  effort.power_candidates = 10;
  if (grid.n_bits <= 8) effort.symmetric_iterations = 20, effort.shrink_every = 4;
  Range found = quantizer.search(start, error, effort, least);
  if (quantizer.method != QuantizationMethod::kPowerOfTwo)
    found = scan_ends(quantizer, grid, start, found, least, error);
  // Too few bins for any: least squares judge.
  return error(found, HUGE_VAL) < HUGE_VAL ? found : search_least_error(bins, quantizer, grid, 2, least);
}

/// What a calibrator of ONNX Runtime's tool would answer, its histogram of 2048 bins taken from these bins.
Range calibrate(const EvenBins& bins, bool symmetric, const IntegerGrid& grid, const Criterion& criterion) {
  constexpr size_t kBins = 2048, kHalf = kBins / 2;
  const double reach = std::max(-bins.extremes.low, bins.extremes.high);
  EvenBins around = rebin(bins, -reach, reach, kBins);
  if (criterion.method == Method::kPercentile) {
    around.counts[kHalf] += bins.zeros;
    if (!symmetric) return percentile_range(CalibrationHistogram(around), criterion.percentile, false);
    EvenBins magnitudes{0, reach / kHalf, {}, 0, bins.extremes};
    for (size_t i = 0; i < kHalf; ++i)
      magnitudes.counts.push_back(around.counts[kHalf + i] + around.counts[kHalf - 1 - i]);
    return percentile_range(CalibrationHistogram(magnitudes), criterion.percentile, true);
  }
  if (criterion.method == Method::kDistribution) {
    around.counts[kHalf] += bins.zeros;
    const double threshold = distribution_threshold(deviation_of(CalibrationHistogram(around)).deviation);
    return {std::max(-threshold, bins.extremes.low), std::min(threshold, bins.extremes.high)};
  }
  // One side only: half of the histogram would be empty, and cut much harder. Each value counts on both sides.
  if (bins.extremes.low >= 0 || bins.extremes.high <= 0)
    for (size_t i = 0; i < kHalf; ++i)
      around.counts[i] = around.counts[kBins - 1 - i] = around.counts[i] + around.counts[kBins - 1 - i];
  constexpr int kMostGroups = 128;
  return entropy_range(CalibrationHistogram(around), std::min(1 << (grid.n_bits - 1), kMostGroups));
}

/// A range within the limits, and no narrower than `least` allows.
Range cut(Range range, const Range& limits, const Quantizer& quantizer, const IntegerGrid& grid, double least) {
  if (quantizer.method == QuantizationMethod::kUniform) {
    range.low = std::min(0.0, std::max(range.low, limits.low));
    range.high = std::max(0.0, std::min(range.high, limits.high));
    return quantizer.cover(range.low, range.high, grid, least);
  }
  if (quantizer.method == QuantizationMethod::kSymmetric && limits.high > 0 && -limits.low <= limits.high) {
    const double threshold = std::min(range.high, limits.high);
    return quantizer.cover(grid.is_signed ? -threshold : 0, threshold, grid, least);
  }
  return range;
}

}  // namespace

std::vector<Method> activation_selection_methods() {
  return {Method::kNoClipping, Method::kMse,        Method::kMae,          Method::kKl,           Method::kLp,
          Method::kEntropy,    Method::kPercentile, Method::kDistribution, Method::kMovingAverage};
}

Range select_binned_range(const EvenBins& bins, QuantizationMethod method, const IntegerGrid& grid,
                          const Criterion& criterion) {
  const Quantizer& quantizer = quantizer_of(method);
  const double least = least_threshold(method, criterion);
  if (const auto p = error_exponent(criterion)) return search_least_error(bins, quantizer, grid, *p, least);
  switch (criterion.method) {
    case Method::kKl:
      return search_least_divergence(bins, quantizer, grid, least);
    case Method::kEntropy:
    case Method::kPercentile:
    case Method::kDistribution: {
      const Range found = calibrate(bins, method != QuantizationMethod::kUniform, grid, criterion);
      return quantizer.cover(found.low, found.high, grid, least);
    }
    default:
      return quantizer.cover(bins.extremes.low, bins.extremes.high, grid, least);
  }
}

RangeSelection select_activation_range(const Histogram& histogram, QuantizationMethod method, const IntegerGrid& grid,
                                       const Criterion& criterion, const Range& limits,
                                       const std::optional<Range>& mean_extremes) {
  const Quantizer& quantizer = quantizer_of(method);
  if (criterion.method == Method::kHmse)
    throw Error(ErrorCode::kInvalidConfig,
                "HMSE chooses ranges of weights; an activation has no importance of its own.", "", "Use MSE.");
  const EvenBins all = bins_of(histogram);
  EvenBins kept = all;
  remove_outliers(kept, criterion.z_threshold);
  if (kept.all_zero()) kept = all;
  if (kept.all_zero()) return {};
  const double least = least_threshold(method, criterion);
  const bool by_mean = criterion.method == Method::kMovingAverage && mean_extremes;
  const Range found = by_mean ? quantizer.cover(mean_extremes->low, mean_extremes->high, grid, least)
                              : select_binned_range(kept, method, grid, criterion);
  const Range range = cut(found, limits, quantizer, grid, least);
  return {range, sqnr_db(all, quantizer.step_of(range, grid), grid)};
}

}  // namespace tersor::quant
