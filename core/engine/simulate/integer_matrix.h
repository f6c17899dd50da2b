// SPDX-License-Identifier: Apache-2.0
// The right operand of an integer matrix product, made ready, and the product's exact int32 sums.
#pragma once

#include <cstdint>
#include <span>

#include "core/kernels/integer.h"
#include "core/simulate/pair_saturation.h"

namespace tersor::simulate {

class IntegerMatrix {
 public:
  /// 8-bit codes of a [rows, columns] matrix, or of its transpose, with one zero point or one for each column.
  struct Codes {
    std::span<const uint8_t> raw;
    bool is_signed = false;
    std::span<const int32_t> zero_points;
    int64_t rows = 0, columns = 0;
    bool transposed = false;

    int64_t number(int64_t row, int64_t column) const {
      const uint8_t code = raw[static_cast<size_t>(transposed ? column * rows + row : row * columns + column)];
      return is_signed ? static_cast<int8_t>(code) : code;
    }
  };

  IntegerMatrix() = default;
  /// `pairs`: of uint8 rows.
  IntegerMatrix(const Codes& codes, Pairs pairs);

  /// sums[i, c] = sum over k of x[i, k] * (w[k, c] - zero point), modulo 2^32. `x` holds `count` rows of numbers minus
  /// `zero_point`, one after the other, and one more number that may be anything. Returns how many sums hold a
  /// pair that saturates, where those are counted; `is_signed` rows have none.
  int64_t multiply(const int16_t* x, int64_t count, bool is_signed, int32_t zero_point, int32_t* sums) const;

 private:
  int64_t rows_ = 0;
  kernels::IntegerPanels panels_;
  PairSaturation saturation_;
  Pairs pairs_ = Pairs::kExact;
};

}  // namespace tersor::simulate
