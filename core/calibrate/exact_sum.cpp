// SPDX-License-Identifier: Apache-2.0
#include "core/calibrate/exact_sum.h"

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

void ExactSums::add(std::span<const double> addends) {
  TERSOR_CHECK(addends.size() == size());
  constexpr double kLeast = 0x1p-107;  // whose last bit is above the unit: below, addends are rounded one by one
  for (size_t k = 0; k < addends.size(); ++k) {
    // Knuth's sum of two, twice: what the first rounds off, and what the second does.
    const double x = addends[k], high = high_[k] + x, from_x = high - high_[k];
    const double lost = (high_[k] - (high - from_x)) + (x - from_x);
    const double low = low_[k] + lost, from_lost = low - low_[k];
    const double lost_again = (low_[k] - (low - from_lost)) + (lost - from_lost);
    if (lost_again == 0 && (std::fabs(x) >= kLeast || x == 0)) {
      high_[k] = high, low_[k] = low;
      continue;
    }
    rest_.resize(size());
    rest_[k].add(x);
  }
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
