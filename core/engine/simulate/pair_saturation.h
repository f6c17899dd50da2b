// SPDX-License-Identifier: Apache-2.0
// The sums of x64 CPUs without VNNI. Their kernels for uint8 x int8 add raw products in pairs, and each pair's sum
// saturates at 16 bits before it enters the 32-bit sum (vpmaddubsw; onnxruntime core/mlas/lib, QgemmU8S8KernelAvx2).
// Only pairs of weights with |w0 + w1| > 128 can saturate at all, so the exact sum is corrected for those.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/kernels/integer.h"

namespace tersor::simulate {

/// What becomes of pairs that do not fit into 16 bits.
enum class Pairs {
  kExact,       // they are added all the same
  kCounted,     // and the sums that hold one are counted
  kSaturating,  // they saturate, and the sums are counted
};

/// What saturation changes in the sums of one row: constant raw int8 weights, one column per sum.
class PairSaturation {
 public:
  PairSaturation() = default;
  /// Column by column `rows` weights, in the order in which the runtime adds: the numbers 2j and 2j + 1 are a pair.
  PairSaturation(std::span<const int8_t> weights, size_t rows);
  /// No pair of weights can saturate.
  bool empty() const { return pairs_.empty(); }

  /// `count` rows, each `x_step` numbers after the one before: number k of a row is x[places[k]] + zero_point, the raw
  /// uint8 code.
  struct Rows {
    const int16_t* x;
    int64_t count, x_step;
    const int64_t* places;
    int32_t zero_point;
  };
  /// In how many sums a pair saturates. Corrects sums[r * sums_step + c] for row r and column c; null: counts alone.
  int64_t apply(const Rows& rows, int32_t* sums, int64_t sums_step) const;

 private:
  size_t columns_ = 0;
  std::vector<kernels::WeightPair> pairs_;
  std::vector<kernels::PairPlace> places_;
};

}  // namespace tersor::simulate
