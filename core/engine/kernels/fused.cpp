// SPDX-License-Identifier: Apache-2.0
#include "core/kernels/fused.h"

namespace tersor::kernels {

float fma_by_rounding_to_odd(float a, float b, float c) {
  const double product = static_cast<double>(a) * static_cast<double>(b);
  const double addend = static_cast<double>(c);
  double sum = product + addend;
  // Two-sum (Knuth): the error of the addition, exact where the sum did not overflow.
  const double part = sum - product;
  const double error = (product - (sum - part)) + (addend - part);
  uint64_t bits;
  std::memcpy(&bits, &sum, sizeof bits);
  if (error != 0 && std::isfinite(sum) && (bits & 1) == 0) {
    // One unit towards the exact value, whose neighbour below or above has an odd last bit.
    const bool away = (error > 0) == (sum > 0);
    bits = away ? bits + 1 : bits - 1;
    std::memcpy(&sum, &bits, sizeof sum);
  }
  return static_cast<float>(sum);
}

}  // namespace tersor::kernels
