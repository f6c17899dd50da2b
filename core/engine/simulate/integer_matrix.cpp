// SPDX-License-Identifier: Apache-2.0
#include "core/simulate/integer_matrix.h"

#include <algorithm>
#include <numeric>

#include "core/kernels/panels.h"

namespace tersor::simulate {

IntegerMatrix::IntegerMatrix(const Codes& codes, Pairs pairs) : rows_(codes.rows), pairs_(pairs) {
  const auto rows = static_cast<size_t>(codes.rows), columns = static_cast<size_t>(codes.columns);
  std::vector<int16_t> numbers(rows * columns);  // [column][row]
  const bool saturates = pairs != Pairs::kExact && codes.is_signed;
  std::vector<int8_t> raw(saturates ? rows * columns : 0);
  for (size_t c = 0; c < columns; ++c) {
    const int32_t zero_point = codes.zero_points.empty() ? 0 : codes.zero_points[codes.zero_points.size() == 1 ? 0 : c];
    for (size_t k = 0; k < rows; ++k) {
      const int64_t number = codes.number(static_cast<int64_t>(k), static_cast<int64_t>(c));
      numbers[c * rows + k] = static_cast<int16_t>(number - zero_point);
      if (saturates) raw[c * rows + k] = static_cast<int8_t>(number);
    }
  }
  if (saturates) saturation_ = PairSaturation(raw, rows);
  panels_ = kernels::IntegerPanels(codes.columns, 1, codes.rows, {numbers.data(), codes.rows, 0, 1});
}

int64_t IntegerMatrix::multiply(const int16_t* x, int64_t count, bool is_signed, int32_t zero_point,
                                int32_t* sums) const {
  const int64_t columns = panels_.columns();
  const int16_t* pointers[kernels::kRowsPerCall];
  for (int64_t first = 0; first < count; first += kernels::kRowsPerCall) {
    const int64_t some = std::min(kernels::kRowsPerCall, count - first);
    for (int64_t r = 0; r < some; ++r) pointers[r] = x + (first + r) * rows_;
    kernels::multiply_integer_rows(panels_, {pointers, some}, nullptr, sums + first * columns, columns);
  }
  if (saturation_.empty() || is_signed) return 0;
  std::vector<int64_t> places(static_cast<size_t>(rows_));
  std::iota(places.begin(), places.end(), int64_t{0});
  return saturation_.apply({x, count, rows_, places.data(), zero_point}, pairs_ == Pairs::kSaturating ? sums : nullptr,
                           columns);
}

}  // namespace tersor::simulate
