// SPDX-License-Identifier: Apache-2.0
#include "core/quant/histogram.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "core/base/error.h"

namespace tersor::quant {

namespace {

constexpr int kMinExponent = -120;
constexpr int32_t kMaxIndex = 1 << 24;

bool fits(float min, float max, int exponent) {
  const double scale = std::ldexp(1.0, -exponent);
  const double first = std::floor(min * scale), last = std::floor(max * scale);
  return last - first + 1 <= Histogram::kMaxBins && first >= -kMaxIndex && last < kMaxIndex;
}

/// floor(index / 2^shift), for negative indices too.
int32_t coarser(int32_t index, int shift) {
  return shift > 30 ? (index < 0 ? -1 : 0) : index >> shift;
}

}  // namespace

int Histogram::exponent_for(float min, float max) {
  TERSOR_CHECK(std::isfinite(min) && std::isfinite(max) && min <= max);
  const double magnitude = std::max(std::fabs(static_cast<double>(min)), std::fabs(static_cast<double>(max)));
  int exponent = kMinExponent;
  if (magnitude > 0) {
    // Below this start an index or the bin count cannot fit: 2^24 bins reach 2^(e+24), 4096 bins 2^(e+12).
    int power = 0;
    std::frexp(magnitude, &power);
    exponent = std::max(exponent, power - 26);
  }
  while (!fits(min, max, exponent)) ++exponent;
  return exponent;
}

int32_t Histogram::bin_of(float x, int exponent) {
  return static_cast<int32_t>(std::floor(x * std::ldexp(1.0, -exponent)));
}

double Histogram::bin_width() const {
  return std::ldexp(1.0, exponent_);
}

Histogram Histogram::of_counts(float min, float max, int exponent, int32_t first_bin, std::span<const uint64_t> counts,
                               uint64_t zeros) {
  Histogram made;
  Counts& bins = made.widen(min, max);
  TERSOR_CHECK(exponent <= made.exponent_);
  while (!counts.empty() && counts.back() == 0) counts = counts.first(counts.size() - 1);
  while (!counts.empty() && counts[0] == 0) counts = counts.subspan(1), ++first_bin;
  made.add_counts(bins, exponent, first_bin, counts);
  for (const uint64_t count : counts) made.total_ += count;
  TERSOR_CHECK(zeros <= made.total_);
  made.zeros_ = zeros;
  return counts.empty() ? Histogram() : made;
}

void Histogram::add(std::span<const float> values) {
  if (values.empty()) return;
  float low = values[0], high = values[0];
  for (const float x : values) {
    if (!std::isfinite(x)) throw Error(ErrorCode::kInvalidSamples, "A value is not finite: " + std::to_string(x) + ".");
    low = std::min(low, x);
    high = std::max(high, x);
  }
  Counts& bins = widen(low, high);
  const double scale = std::ldexp(1.0, -exponent_);
  for (const float x : values) {
    ++bins[static_cast<size_t>(static_cast<int32_t>(std::floor(x * scale)) - first_bin_)];
    zeros_ += x == 0 ? 1 : 0;
  }
  total_ += values.size();
}

void Histogram::merge(const Histogram& other) {
  if (other.empty()) return;
  const Histogram added = other;  // which may be this one
  add_counts(widen(added.min_, added.max_), added.exponent_, added.first_bin_, added.counts());
  total_ += added.total_;
  zeros_ += added.zeros_;
}

/// Takes the extremes in: merges pairs of bins until the range fits, and makes room at both ends.
Histogram::Counts& Histogram::widen(float min, float max) {
  // Minus zero and zero compare equal, so which of them is kept would depend on the order.
  const float low = (empty() ? min : std::min(min_, min)) + 0.0f;
  const float high = (empty() ? max : std::max(max_, max)) + 0.0f;
  const int exponent = exponent_for(low, high);
  const int32_t first = bin_of(low, exponent), last = bin_of(high, exponent);
  const auto now = std::make_shared<Counts>(static_cast<size_t>(last - first) + 1);
  const std::shared_ptr<const Counts> before = std::exchange(counts_, now);
  const int exponent_before = std::exchange(exponent_, exponent);
  const int32_t first_before = std::exchange(first_bin_, first);
  min_ = low, max_ = high;
  if (before != nullptr) add_counts(*now, exponent_before, first_before, *before);
  return *now;
}

/// Adds to counts of ours those of bins from `first` on, which at `exponent` are as wide as ours or narrower, and
/// within ours.
void Histogram::add_counts(Counts& to, int exponent, int32_t first, std::span<const uint64_t> counts) const {
  if (counts.empty()) return;
  const int shift = exponent_ - exponent;
  const auto slot = [&](size_t i) {
    return static_cast<int64_t>(coarser(first + static_cast<int32_t>(i), shift)) - first_bin_;
  };
  const int64_t begin = slot(0);
  TERSOR_CHECK(begin >= 0 && slot(counts.size() - 1) < static_cast<int64_t>(to.size()));
  if (shift == 0)
    for (size_t i = 0; i < counts.size(); ++i) to[static_cast<size_t>(begin) + i] += counts[i];
  else
    for (size_t i = 0; i < counts.size(); ++i) to[static_cast<size_t>(slot(i))] += counts[i];
}

}  // namespace tersor::quant
