// SPDX-License-Identifier: Apache-2.0
#include "core/tflite/fixed_point.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

namespace tersor::tflite {

namespace {

constexpr int64_t kOne = int64_t{1} << 31;

/// exp of a Q0.31 in [-1/4, 0): the Taylor polynomial of degree 4 about -1/8.
int32_t exp_of_small(int32_t a) {
  constexpr int32_t kExpOfEighth = 1895147668, kThird = 715827883;
  const int32_t x = wrapped(static_cast<int64_t>(a) + (1 << 28));
  const int32_t x2 = high_product(x, x), x3 = high_product(x2, x), x4 = high_product(x2, x2);
  const int32_t high = high_product(wrapped(static_cast<int64_t>(divided_by_power(x4, 2)) + x3), kThird);
  const int32_t rest = divided_by_power(wrapped(static_cast<int64_t>(high) + x2), 1);
  return wrapped(static_cast<int64_t>(kExpOfEighth) +
                 high_product(kExpOfEighth, wrapped(static_cast<int64_t>(x) + rest)));
}

/// 2 / (1 + a) as Q2.29: Newton's steps from 48/17 - 32/17 times the half.
int32_t two_over_one_plus(int32_t a) {
  const auto half = static_cast<int32_t>((static_cast<int64_t>(a) + kOne) / 2);
  int32_t x = wrapped(int64_t{1515870810} + high_product(half, -1010580540));
  for (int step = 0; step < 3; ++step) {
    const int32_t error = wrapped((int64_t{1} << 29) - high_product(half, x));
    x = wrapped(static_cast<int64_t>(x) + shifted_to_ends(high_product(x, error), 2));
  }
  return x;
}

}  // namespace

Multiplier multiplier_of(double number) {
  if (number == 0) return {};
  int exponent = 0;
  const double fraction = std::frexp(number, &exponent);
  auto value = static_cast<int64_t>(std::floor(std::fabs(fraction) * static_cast<double>(kOne) + 0.5));
  if (value == kOne) {
    value /= 2;
    ++exponent;
  }
  if (exponent < -31) return {};
  return {static_cast<int32_t>(number < 0 ? -value : value), exponent};
}

int32_t exp_of_negative(int32_t a, int integer_bits) {
  if (a == 0) return INT32_MAX;
  // exp(-2^k) as Q0.31, for k from -2.
  static constexpr int32_t kPowers[] = {1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242};
  const int fraction_bits = 31 - integer_bits;
  const int32_t quarter = 1 << (fraction_bits - 2);
  const int32_t rest = (a & (quarter - 1)) - quarter;
  int32_t result = exp_of_small(shifted_to_ends(rest, integer_bits));
  const int32_t steps = wrapped(static_cast<int64_t>(rest) - a);
  for (int k = 0; k < 7; ++k)
    if (integer_bits > k - 2 && (steps & (1 << (fraction_bits + k - 2))) != 0)
      result = high_product(result, kPowers[k]);
  return result;
}

int32_t one_over_one_plus(int32_t a) {
  return shifted_to_ends(two_over_one_plus(a), 1);
}

int32_t logistic_of(int32_t a) {
  if (a == 0) return 1 << 30;
  const int32_t p = one_over_one_plus(exp_of_negative(a > 0 ? -a : a, 4));
  return a > 0 ? p : INT32_MAX - p;
}

int32_t tanh_of(int32_t a) {
  if (a == 0) return 0;
  // The same bits with one more integer bit are 2a.
  const int32_t e = exp_of_negative(a > 0 ? -a : a, 5);
  const int32_t t = shifted_to_ends(wrapped(static_cast<int64_t>(two_over_one_plus(e)) - (1 << 29)), 2);
  return a > 0 ? t : -t;
}

int32_t input_radius(int integer_bits, int shift) {
  const double most = std::ldexp(static_cast<double>((1 << integer_bits) - 1), 31 - integer_bits - shift);
  return static_cast<int32_t>(std::floor(std::min(most, 2147483647.0)));
}

namespace {

/// sigmoid(k / 24) in steps of 2^-16, as the runtime's table has it: in 44 places one more than the nearest.
const std::array<int32_t, 256>& sigmoids() {
  static constexpr uint8_t kOneMore[] = {4,  8,  12, 14, 15, 16, 17, 19, 20,  21,  22,  25,  27,  28, 29,
                                         30, 31, 33, 34, 35, 37, 39, 40, 41,  43,  44,  45,  46,  49, 50,
                                         54, 62, 63, 64, 66, 82, 86, 93, 100, 103, 112, 116, 135, 255};
  static const std::array<int32_t, 256> table = [] {
    std::array<int32_t, 256> made{};
    for (size_t k = 0; k < made.size(); ++k)
      made[k] = static_cast<int32_t>(
          std::min(std::floor(65536 / (1 + std::exp(-static_cast<double>(k) / 24)) + 0.5), 65535.0));
    for (const uint8_t k : kOneMore) ++made[k];
    return made;
  }();
  return table;
}

/// The table between its places, of a number in steps of 2^-bits / 24; `end` beyond the last.
int64_t between_sigmoids(int64_t number, int bits, int64_t end) {
  const auto place = static_cast<size_t>(number >> bits);
  if (place >= 255) return end << bits;
  const int64_t rest = number & ((int64_t{1} << bits) - 1), low = sigmoids()[place];
  return (low << bits) + rest * (sigmoids()[place + 1] - low);
}

}  // namespace

int32_t logistic_16(int64_t number) {
  const int64_t found = between_sigmoids(std::abs(number), 9, 0x7FFF << 1);
  return static_cast<int32_t>((number >= 0 ? found + 512 : (1 << 25) - found + 511) >> 10);
}

int32_t tanh_16(int64_t number) {
  const int64_t found = between_sigmoids(std::abs(number), 8, 0xFFFF);
  return static_cast<int32_t>((number >= 0 ? found - (1 << 23) + 128 : (1 << 23) - found + 127) >> 8);
}

}  // namespace tersor::tflite
