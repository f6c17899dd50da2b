// SPDX-License-Identifier: Apache-2.0
// The sums of x64 CPUs without VNNI. Their kernels for uint8 x int8 add raw products in pairs, and each pair's sum
// saturates at 16 bits before it enters the 32-bit sum (vpmaddubsw; onnxruntime core/mlas/lib, QgemmU8S8KernelAvx2).
// Only pairs of weights with |w0 + w1| > 128 can saturate at all, so the exact sum is corrected for those.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

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

  /// In how many columns a pair saturates. Corrects sums[c] for every column; null: counts alone. Number k of the row
  /// is x[places[k]] + zero_point, the raw uint8 code.
  int64_t apply(const int16_t* x, std::span<const int64_t> places, int32_t zero_point, int32_t* sums) const;

 private:
  struct Pair {
    int32_t column;
    int16_t w0, w1;
    int32_t least;  // where both numbers are below it, their products' sum fits
  };
  /// The pairs of all columns that meet the same two numbers of a row.
  struct Place {
    size_t first;   // of the two
    int32_t least;  // of all these pairs
    size_t end;     // of them among all
  };
  size_t columns_ = 0;
  std::vector<Pair> pairs_;  // of a place those first whose sums soonest do not fit
  std::vector<Place> places_;
};

}  // namespace tersor::simulate
