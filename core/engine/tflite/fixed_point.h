// SPDX-License-Identifier: Apache-2.0
// The fixed-point arithmetic of TensorFlow Lite Micro's kernels: how sums of integers become codes of 8 bits. It rounds
// twice, and takes products and quotients of scales in double.
#pragma once

#include <algorithm>
#include <cstdint>

namespace tersor::tflite {

/// value / 2^31 * 2^shift, with value in [2^30, 2^31).
struct Multiplier {
  int32_t value = 0;
  int shift = 0;
};
/// The nearest one to a number of 0 or more, halves away from zero; 0 below 2^-32.
Multiplier multiplier_of(double number);

/// Of an integer of 32 bits, as C++ wraps it.
inline int32_t wrapped(int64_t value) {
  return static_cast<int32_t>(static_cast<uint32_t>(static_cast<uint64_t>(value)));
}

/// 2ab / 2^32, halves away from zero.
inline int32_t high_product(int32_t a, int32_t b) {
  if (a == b && a == INT32_MIN) return INT32_MAX;
  const int64_t ab = static_cast<int64_t>(a) * b;
  return static_cast<int32_t>((ab + (ab >= 0 ? int64_t{1} << 30 : 1 - (int64_t{1} << 30))) / (int64_t{1} << 31));
}

/// x / 2^exponent, halves away from zero.
inline int32_t divided_by_power(int32_t x, int exponent) {
  const int64_t mask = (int64_t{1} << exponent) - 1, wide = x;
  return static_cast<int32_t>((wide >> exponent) + ((wide & mask) > (mask >> 1) + (x < 0 ? 1 : 0) ? 1 : 0));
}

/// x times the multiplier.
inline int32_t scaled(int32_t x, Multiplier by) {
  const int left = std::clamp(by.shift, 0, 31), right = std::clamp(-by.shift, 0, 31);
  return divided_by_power(high_product(wrapped(static_cast<int64_t>(x) * (int64_t{1} << left)), by.value), right);
}

/// x * 2^exponent, held at the ends of 32 bits.
inline int32_t shifted_to_ends(int32_t x, int exponent) {
  const int64_t wide = static_cast<int64_t>(x) * (int64_t{1} << exponent), most = (int64_t{1} << (31 - exponent)) - 1;
  if (x > most) return INT32_MAX;
  return x < -most ? INT32_MIN : wrapped(wide);
}

/// exp(a) as Q0.31, of an a <= 0 with so many integer bits.
int32_t exp_of_negative(int32_t a, int integer_bits);
/// 1 / (1 + a) as Q0.31, of an a in [0, 1) as Q0.31.
int32_t one_over_one_plus(int32_t a);
/// 1 / (1 + exp(-a)) as Q0.31, and tanh(a), of an a with 4 integer bits.
int32_t logistic_of(int32_t a);
int32_t tanh_of(int32_t a);
/// The same in steps of 2^-15, of a number in steps of 2^-12 / 3, from the runtime's table and lines in it.
int32_t logistic_16(int64_t number);
int32_t tanh_16(int64_t number);
/// Inputs further from 0 than this many steps lie outside the integer bits.
int32_t input_radius(int integer_bits, int shift);

}  // namespace tersor::tflite
