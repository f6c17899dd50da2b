// SPDX-License-Identifier: Apache-2.0
#include "core/quant/histogram.h"

#include <algorithm>
#include <cmath>
#include <string>

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
  made.widen(min, max);
  TERSOR_CHECK(exponent <= made.exponent_);
  const int shift = made.exponent_ - exponent;
  for (size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0) continue;
    const int64_t slot = coarser(first_bin + static_cast<int32_t>(i), shift) - static_cast<int64_t>(made.first_bin_);
    TERSOR_CHECK(slot >= 0 && slot < static_cast<int64_t>(made.counts_.size()));
    made.counts_[static_cast<size_t>(slot)] += counts[i];
    made.total_ += counts[i];
  }
  TERSOR_CHECK(zeros <= made.total_);
  made.zeros_ = zeros;
  return made.total_ == 0 ? Histogram() : made;
}

void Histogram::add(std::span<const float> values) {
  if (values.empty()) return;
  float low = values[0], high = values[0];
  for (const float x : values) {
    if (!std::isfinite(x)) throw Error(ErrorCode::kInvalidSamples, "A value is not finite: " + std::to_string(x) + ".");
    low = std::min(low, x);
    high = std::max(high, x);
  }
  widen(low, high);
  const double scale = std::ldexp(1.0, -exponent_);
  for (const float x : values) {
    ++counts_[static_cast<size_t>(static_cast<int32_t>(std::floor(x * scale)) - first_bin_)];
    zeros_ += x == 0 ? 1 : 0;
  }
  total_ += values.size();
}

void Histogram::merge(const Histogram& other) {
  if (other.empty()) return;
  widen(other.min_, other.max_);
  const int shift = exponent_ - other.exponent_;
  for (size_t i = 0; i < other.counts_.size(); ++i)
    counts_[static_cast<size_t>(coarser(other.first_bin_ + static_cast<int32_t>(i), shift) - first_bin_)] +=
        other.counts_[i];
  total_ += other.total_;
  zeros_ += other.zeros_;
}

/// Takes the extremes in: merges pairs of bins until the range fits, and makes room at both ends.
void Histogram::widen(float min, float max) {
  // Minus zero and zero compare equal, so which of them is kept would depend on the order.
  const float low = (empty() ? min : std::min(min_, min)) + 0.0f;
  const float high = (empty() ? max : std::max(max_, max)) + 0.0f;
  const int exponent = exponent_for(low, high);
  const int32_t first = bin_of(low, exponent), last = bin_of(high, exponent);
  std::vector<uint64_t> wider(static_cast<size_t>(last - first) + 1);
  for (size_t i = 0; i < counts_.size(); ++i)
    wider[static_cast<size_t>(coarser(first_bin_ + static_cast<int32_t>(i), exponent - exponent_) - first)] +=
        counts_[i];
  min_ = low, max_ = high, exponent_ = exponent, first_bin_ = first;
  counts_ = std::move(wider);
}

}  // namespace tersor::quant
