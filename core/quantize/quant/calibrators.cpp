// SPDX-License-Identifier: Apache-2.0
#include "core/quant/calibrators.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/kernels/transcendental.h"
#include "core/quant/log_table.h"

namespace tersor::quant {

using kernels::natural_logarithm;

namespace {

/// numpy.linspace in float32: each product and sum is rounded.
std::vector<float> even_edges(float first, float last, size_t bins) {
  std::vector<float> edges(bins + 1);
  const float step = (last - first) / static_cast<float>(bins);
  for (size_t i = 0; i < bins; ++i) edges[i] = static_cast<float>(i) * step + first;
  edges[bins] = last;
  return edges;
}

/// The bin of x, which is within the edges: the last is closed on both sides.
size_t bin_of(std::span<const float> edges, float x) {
  const auto above = std::upper_bound(edges.begin(), edges.end(), x);
  const size_t index = static_cast<size_t>(above - edges.begin());
  return std::min(index - 1, edges.size() - 2);
}

/// Python's a // b for positive float32.
float floor_quotient(float a, float b) {
  const float quotient = (a - std::fmod(a, b)) / b;
  const float whole = std::floor(quotient);
  return quotient - whole > 0.5f ? whole + 1 : whole;
}

float greatest(std::span<const float> values) {
  float most = 0;
  for (const float x : values) most = std::max(most, std::fabs(x));
  return most;
}

}  // namespace

CalibrationHistogram::CalibrationHistogram(size_t bins) : bins_(bins) {
  TERSOR_CHECK(bins > 0);
}

CalibrationHistogram::CalibrationHistogram(const EvenBins& bins)
    : bins_(bins.counts.size()),
      any_(true),
      low_(static_cast<float>(bins.extremes.low)),
      high_(static_cast<float>(bins.extremes.high)) {
  for (size_t i = 0; i <= bins_; ++i) edges_.push_back(static_cast<float>(bins.edge(i)));
  double below = 0, counted = 0;  // rounding the sums keeps the total
  for (const double count : bins.counts) {
    below += count;
    const double whole = std::floor(below + 0.5);
    counts_.push_back(static_cast<int64_t>(whole - counted));
    counted = whole;
  }
}

void CalibrationHistogram::see(std::span<const float> values) {
  for (const float x : values)
    if (!std::isfinite(x)) throw Error(ErrorCode::kInvalidSamples, "A value is not finite: " + std::to_string(x) + ".");
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  low_ = any_ ? std::min(low_, *least) : *least;
  high_ = any_ ? std::max(high_, *most) : *most;
  any_ = true;
}

void CalibrationHistogram::count(std::span<const float> values, bool absolute) {
  for (const float value : values) {
    const float x = absolute ? std::fabs(value) : value;
    if (x >= edges_.front() && x <= edges_.back()) ++counts_[bin_of(edges_, x)];
  }
}

/// Adds whole bins of the old width on both sides until `magnitude` is within.
void CalibrationHistogram::grow(float magnitude) {
  const float old = edges_.back();
  const float stride = 2 * old / static_cast<float>(counts_.size());
  const size_t more = static_cast<size_t>(floor_quotient(magnitude - old, stride) + 1);
  const float reach = static_cast<float>(more) * stride + old;
  std::vector<int64_t> wider(counts_.size() + 2 * more);
  std::copy(counts_.begin(), counts_.end(), wider.begin() + static_cast<std::ptrdiff_t>(more));
  counts_ = std::move(wider);
  edges_ = even_edges(-reach, reach, counts_.size());
}

void CalibrationHistogram::collect(std::span<const float> values) {
  if (values.empty()) return;
  see(values);
  const float magnitude = greatest(values);
  if (edges_.empty()) counts_.assign(bins_, 0);
  if (edges_.empty() || (edges_.back() == 0 && magnitude > 0))
    edges_ = even_edges(-magnitude, magnitude, bins_);
  else if (magnitude > edges_.back())
    grow(magnitude);
  if (edges_.back() > 0)
    count(values, false);
  else  // nothing but zeros: numpy counts them in a range of width 1
    counts_[bins_ / 2] += static_cast<int64_t>(values.size());
}

void CalibrationHistogram::collect_absolute(std::span<const float> values) {
  if (values.empty()) return;
  see(values);
  const float most = greatest(values);
  if (edges_.empty()) {
    float least = most;
    for (const float x : values) least = std::min(least, std::fabs(x));
    const float half = least == most ? 0.5f : 0.0f;
    edges_ = even_edges(least - half, most + half, bins_);
    counts_.assign(bins_, 0);
  } else if (most > edges_.back()) {
    // numpy.arange from one width after the last edge: it may go a bin too far.
    const float width = edges_[1] - edges_[0], start = edges_.back() + width;
    const float delta = (start + width) - start;
    const size_t more = static_cast<size_t>(std::ceil((most + width - start) / width));
    for (size_t i = 0; i < more; ++i) edges_.push_back(i == 1 ? start + width : start + static_cast<float>(i) * delta);
    counts_.resize(edges_.size() - 1);
  }
  count(values, true);
}

namespace {

/// Smoothing adds this to each empty bin.
constexpr double kFilled = 1e-4;

/// Over the first bins of a histogram, of those with a count c above 0: how many, sum of c, c ln c, ln c, 1 / c, 1 /
/// c^2.
struct EntropySums {
  double bins = 0, counts = 0, entropy = 0, logarithms = 0, inverse = 0, inverse_square = 0;
};

std::vector<EntropySums> entropy_sums(std::span<const int64_t> counts, const LogTable& log) {
  std::vector<EntropySums> sums(counts.size() + 1);
  for (size_t i = 0; i < counts.size(); ++i) {
    EntropySums& sum = sums[i + 1] = sums[i];
    if (counts[i] == 0) continue;
    const double c = static_cast<double>(counts[i]), logarithm = log(c);
    sum.bins += 1, sum.counts += c, sum.entropy += c * logarithm, sum.logarithms += logarithm;
    sum.inverse += 1 / c, sum.inverse_square += 1 / (c * c);
  }
  return sums;
}

/// One candidate of the Entropy calibrator: bins `begin` to `end` of a histogram against the same bins in groups.
class EntropyCandidate {
 public:
  EntropyCandidate(std::span<const int64_t> counts, const std::vector<EntropySums>& sums, const LogTable& log,
                   size_t begin, size_t end, size_t groups)
      : counts_(counts),
        sums_(sums),
        log_(log),
        begin_(begin),
        end_(end),
        groups_(groups),
        merged_((end - begin) / groups) {
    first_ = sums[begin + 1].counts;
    last_ = sums.back().counts - sums[end - 1].counts;
    const double held = inner_held() + (first_ > 0 ? 1 : 0) + (last_ > 0 ? 1 : 0);
    loss_ = held > 0 ? kFilled * (entries() - held) / held : 0;
    smooth_first_ = first_ > 0 ? first_ - loss_ : kFilled;
    smooth_last_ = last_ > 0 ? last_ - loss_ : kFilled;
  }

  /// `values` is room for one number per group.
  double divergence(std::vector<double>& values) const {
    const Groups groups = read_groups(values);
    if (groups.held == 0) return HUGE_VAL;
    const double loss = kFilled * (entries() - groups.held) / groups.held;
    const double log_filled = log_(kFilled);
    double cross = 0, tail_mass = 0;
    for (size_t g = 0; g < groups_; ++g)
      cross += mass(begin_ + g * merged_, begin_ + (g + 1) * merged_) *
               (values[g] > 0 ? log_(values[g] - loss) : log_filled);
    tail_mass = mass(begin_ + groups_ * merged_, end_);
    cross += tail_mass * log_filled;
    const double total = sums_.back().counts;
    return (entropy() - cross) / total - log_(total) + log_(groups.sum);
  }

 private:
  struct Groups {
    double held = 0, sum = 0;  // bins whose value is not 0, and their sum
  };

  double entries() const { return static_cast<double>(end_ - begin_); }
  double inner_held() const { return sums_[end_ - 1].bins - sums_[begin_ + 1].bins; }

  /// Bins of [from, to) with a count, the outermost ones with what lies beyond.
  double held(size_t from, size_t to) const {
    double bins = sums_[to].bins - sums_[from].bins;
    if (from <= begin_ && begin_ < to && counts_[begin_] == 0 && first_ > 0) bins += 1;
    if (from < end_ && end_ <= to && counts_[end_ - 1] == 0 && last_ > 0) bins += 1;
    return bins;
  }

  /// `values`: of each bin of a group, a whole number.
  Groups read_groups(std::vector<double>& values) const {
    Groups groups;
    values.assign(groups_, 0.0);
    for (size_t g = 0; g < groups_ && merged_ > 0; ++g) {
      const size_t from = begin_ + g * merged_, to = from + merged_;
      const double bins = held(from, to);
      // The last group counts what is left over behind it too.
      const double count = sums_[g + 1 == groups_ ? end_ : to].counts - sums_[from].counts;
      if (bins > 0) values[g] = std::floor(count / bins);
      if (!(values[g] > 0)) continue;
      groups.held += static_cast<double>(merged_);
      groups.sum += values[g] * static_cast<double>(merged_);
    }
    return groups;
  }

  /// Sum of the smoothed distribution over bins [from, to).
  double mass(size_t from, size_t to) const {
    if (from >= to) return 0;
    double sum = 0;
    if (from == begin_) sum += smooth_first_, ++from;
    if (to == end_ && end_ > begin_ + 1) sum += smooth_last_, --to;
    if (from >= to) return sum;
    const double bins = sums_[to].bins - sums_[from].bins;
    return sum + (sums_[to].counts - sums_[from].counts) - loss_ * bins +
           kFilled * (static_cast<double>(to - from) - bins);
  }

  double x_log_x(double x) const { return x > 0 ? x * log_(x) : 0; }

  /// Sum of p ln p over the smoothed bins. What smoothing takes from a bin is small against its count, a whole number.
  double entropy() const {
    double sum = x_log_x(smooth_first_) + x_log_x(smooth_last_);
    const EntropySums &from = sums_[begin_ + 1], &to = sums_[end_ - 1];
    const double bins = to.bins - from.bins;
    if (loss_ > 1.0 / 128) {
      for (size_t i = begin_ + 1; i + 1 < end_; ++i)
        if (counts_[i] > 0) sum += x_log_x(static_cast<double>(counts_[i]) - loss_);
    } else {
      sum += (to.entropy - from.entropy) - loss_ * ((to.logarithms - from.logarithms) + bins) +
             loss_ * loss_ / 2 * (to.inverse - from.inverse) +
             loss_ * loss_ * loss_ / 6 * (to.inverse_square - from.inverse_square);
    }
    return sum + (entries() - 2 - bins) * x_log_x(kFilled);
  }

  std::span<const int64_t> counts_;
  const std::vector<EntropySums>& sums_;
  const LogTable& log_;
  size_t begin_, end_, groups_, merged_;
  double first_ = 0, last_ = 0, loss_ = 0, smooth_first_ = 0, smooth_last_ = 0;
};

Range within_extremes(double low, double high, const CalibrationHistogram& histogram) {
  return {std::max(low, static_cast<double>(histogram.low())), std::min(high, static_cast<double>(histogram.high()))};
}

}  // namespace

Range entropy_range(const CalibrationHistogram& histogram, int groups) {
  const auto counts = histogram.counts();
  const auto edges = histogram.edges();
  const size_t bins = counts.size(), middle = bins / 2, half = static_cast<size_t>(groups) / 2;
  if (groups < 2 || half > middle)
    throw Error(ErrorCode::kInvalidArgument, "The Entropy calibrator was asked for " + std::to_string(groups) +
                                                 " groups of " + std::to_string(bins) + " bins; 2 to " +
                                                 std::to_string(2 * middle) + " are possible.");
  const LogTable log;
  const std::vector<EntropySums> sums = entropy_sums(counts, log);
  if (!(sums.back().counts > 0)) return within_extremes(edges.front(), edges.back(), histogram);
  Range best{edges[middle - half], edges[std::min(middle + half + 1, bins)]};
  float least = HUGE_VALF;
  std::vector<double> values;
  for (size_t i = half; i <= middle; ++i) {
    const size_t begin = middle - i, end = std::min(middle + i + 1, bins);
    const auto divergence = static_cast<float>(
        EntropyCandidate(counts, sums, log, begin, end, static_cast<size_t>(groups)).divergence(values));
    if (divergence < least) least = divergence, best = {edges[begin], edges[end]};
  }
  return within_extremes(best.low, best.high, histogram);
}

Range percentile_range(const CalibrationHistogram& histogram, double percentile, bool symmetric) {
  if (!(percentile >= 0 && percentile <= 100))
    throw Error(ErrorCode::kInvalidArgument,
                "The percentile is " + std::to_string(percentile) + "; 0 to 100 are possible.");
  const auto counts = histogram.counts();
  const auto edges = histogram.edges();
  double total = 0, sum = 0;
  for (const int64_t count : counts) total += static_cast<double>(count);
  std::vector<double> below;
  for (const int64_t count : counts) below.push_back(sum += static_cast<double>(count) / total);
  // The lower edge of the bin where the part is reached; past the last bin where rounding keeps the sum below it.
  const auto edge_at = [&](double part) {
    return edges[static_cast<size_t>(std::lower_bound(below.begin(), below.end(), part) - below.begin())];
  };
  if (symmetric) {
    const float edge = edge_at(percentile / 100);
    return within_extremes(-edge, edge, histogram);
  }
  const double cut = (100 - percentile) / 200;
  return within_extremes(edge_at(cut), edge_at(1 - cut), histogram);
}

Deviation deviation_of(const CalibrationHistogram& histogram, bool of_cube_roots) {
  const auto counts = histogram.counts();
  const auto edges = histogram.edges();
  double total = 0, sum = 0, squares = 0;
  for (size_t i = 0; i < counts.size(); ++i) {
    double x = static_cast<double>((edges[i] + edges[i + 1]) * 0.5f);
    if (of_cube_roots && x != 0) x = std::copysign(kernels::exponential(natural_logarithm(std::fabs(x)) / 3), x);
    const double count = static_cast<double>(counts[i]);
    total += count;
    sum += count * x;
    squares += count * (x * x);
  }
  if (!(total > 0)) return {};
  const double mean = sum / total;
  return {mean, std::sqrt(std::max(squares / total - mean * mean, 0.0))};
}

namespace {

constexpr double kFloat8Greatest = 448;

/// The deviation of all finite values of float8 e4m3fn, each once.
double float8_deviation() {
  double squares = 0;
  int finite = 0;
  for (int code = 0; code < 127; ++code) {  // 127 is NaN
    const int exponent = code >> 3, fraction = code & 7;
    const double x = exponent == 0 ? std::ldexp(fraction, -9) : std::ldexp(8 + fraction, exponent - 10);
    squares += 2 * x * x;  // both signs
    finite += 2;
  }
  return std::sqrt(squares / finite);
}

}  // namespace

double distribution_scale(double deviation) {
  return deviation / float8_deviation();
}

double distribution_threshold(double deviation) {
  return distribution_scale(deviation) * kFloat8Greatest;
}

void MovingAverageMinMax::collect(std::span<const Range> samples) {
  if (samples.empty()) return;
  Range mean;
  for (const Range& sample : samples) mean.low += sample.low, mean.high += sample.high;
  mean.low /= static_cast<double>(samples.size()), mean.high /= static_cast<double>(samples.size());
  if (any_) {
    mean.low = range_.low + constant_ * (mean.low - range_.low);
    mean.high = range_.high + constant_ * (mean.high - range_.high);
  }
  range_ = mean;
  any_ = true;
}

}  // namespace tersor::quant
