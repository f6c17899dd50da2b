// SPDX-License-Identifier: Apache-2.0
#include "core/calibrate/exact_sum.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/base/error.h"

namespace tersor::calibrate {

namespace {

using Words = std::array<uint64_t, ExactSum::kWords>;

void negate(Words& words) {
  uint64_t carry = 1;
  for (uint64_t& word : words) {
    word = ~word + carry;
    carry = carry != 0 && word == 0 ? 1 : 0;
  }
}

}  // namespace

void ExactSum::add(double x) {
  uint64_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  const int biased = static_cast<int>(bits >> 52 & 0x7ff);
  if (biased == 0) return;  // zero, or too small by far
  TERSOR_CHECK(biased != 0x7ff);
  uint64_t mantissa = (bits & ((uint64_t{1} << 52) - 1)) | uint64_t{1} << 52;
  int shift = biased - 1075 - kUnitExponent;  // x = mantissa * unit * 2^shift
  if (shift < -53) return;
  if (shift < 0) {
    const uint64_t kept = mantissa >> -shift, half = uint64_t{1} << (-shift - 1), rest = mantissa - (kept << -shift);
    mantissa = kept + (rest > half || (rest == half && (kept & 1) != 0) ? 1 : 0);
    shift = 0;
  }
  const size_t index = static_cast<size_t>(shift) / 64;
  const int offset = shift % 64;
  TERSOR_CHECK(index + 1 < kWords);
  const uint64_t low = mantissa << offset, high = offset == 0 ? 0 : mantissa >> (64 - offset);
  uint64_t* word = words_.data() + index;
  const uint64_t* const end = words_.data() + kWords;
  const uint64_t before = *word, before_next = word[1];
  if (x > 0) {
    word[0] += low;
    word[1] += high + (word[0] < before ? 1 : 0);  // high has bits to spare
    if (word[1] < before_next)
      for (word += 2; word != end && ++*word == 0;) ++word;
  } else {
    word[0] -= low;
    word[1] -= high + (word[0] > before ? 1 : 0);
    if (word[1] > before_next)
      for (word += 2; word != end && (*word)-- == 0;) ++word;
  }
}

void ExactSum::add(const ExactSum& other) {
  uint64_t carry = 0;
  for (size_t k = 0; k < kWords; ++k) {
    const uint64_t sum = words_[k] + other.words_[k];
    const uint64_t overflow = sum < words_[k] ? 1 : 0;
    words_[k] = sum + carry;
    carry = overflow + (words_[k] < sum ? 1 : 0);
  }
}

namespace {

/// What is there and the sum of two, each in two doubles, by Knuth's sum of two, twice: what the first rounds off, and
/// what the second does. `lost` is what is left over, or 1 for an addend that is rounded one by one.
struct Added {
  double high, low, lost;
};

inline Added added(double high, double low, double x) {
  constexpr double kLeast = 0x1p-107;  // whose last bit is above the unit
  const double sum = high + x, from_x = sum - high;
  const double lost = (high - (sum - from_x)) + (x - from_x);
  const double low_sum = low + lost, from_lost = low_sum - low;
  const double lost_again = (low - (low_sum - from_lost)) + (lost - from_lost);
  const bool is_small = (std::fabs(x) < kLeast) & (x != 0);
  return {sum, low_sum, is_small ? 1 : lost_again};
}

}  // namespace

void ExactSums::add(std::span<const double> addends) {
  TERSOR_CHECK(addends.size() == size());
  constexpr size_t kAtOnce = 16;
  size_t k = 0;
  for (; k + kAtOnce <= addends.size(); k += kAtOnce) {
    double high[kAtOnce], low[kAtOnce], lost = 0;
    for (size_t i = 0; i < kAtOnce; ++i) {
      const Added one = added(high_[k + i], low_[k + i], addends[k + i]);
      high[i] = one.high, low[i] = one.low, lost += std::fabs(one.lost);
    }
    if (lost != 0) {
      for (size_t i = 0; i < kAtOnce; ++i) add_one(k + i, addends[k + i]);
      continue;
    }
    std::copy_n(high, kAtOnce, high_.begin() + static_cast<std::ptrdiff_t>(k));
    std::copy_n(low, kAtOnce, low_.begin() + static_cast<std::ptrdiff_t>(k));
  }
  for (; k < addends.size(); ++k) add_one(k, addends[k]);
}

void ExactSums::add_one(size_t index, double x) {
  const Added one = added(high_[index], low_[index], x);
  if (one.lost == 0) {
    high_[index] = one.high, low_[index] = one.low;
    return;
  }
  rest_.resize(size());
  rest_[index].add(x);
}

void ExactSums::add(const ExactSums& other) {
  TERSOR_CHECK(other.size() == size());
  for (size_t k = 0; k < size(); ++k) add(k, other.sum(k));
}

void ExactSums::add(size_t index, const ExactSum& other) {
  rest_.resize(size());
  rest_[index].add(other);
}

ExactSum ExactSums::sum(size_t index) const {
  ExactSum sum = rest_.empty() ? ExactSum{} : rest_[index];
  sum.add(high_[index]);
  sum.add(low_[index]);
  return sum;
}

double ExactSum::value() const {
  Words magnitude = words_;
  const bool negative = words_[kWords - 1] >> 63 != 0;
  if (negative) negate(magnitude);
  double result = 0;
  for (size_t k = kWords; k-- > 0;)
    result += std::ldexp(static_cast<double>(magnitude[k]), static_cast<int>(k) * 64 + kUnitExponent);
  return negative ? -result : result;
}

}  // namespace tersor::calibrate
