// SPDX-License-Identifier: Apache-2.0
#include "core/kernels/transpose.h"

namespace tersor::kernels {

namespace {

constexpr int64_t kSide = 4;

/// A square of four by four, which the compiler turns in registers.
void square(const uint32_t* from, int64_t from_step, uint32_t* to, int64_t to_step) {
  uint32_t turned[kSide][kSide];
  for (int64_t c = 0; c < kSide; ++c)
    for (int64_t r = 0; r < kSide; ++r) turned[r][c] = from[c * from_step + r];
  for (int64_t r = 0; r < kSide; ++r)
    for (int64_t c = 0; c < kSide; ++c) to[r * to_step + c] = turned[r][c];
}

}  // namespace

void transpose(const uint32_t* from, int64_t from_step, int64_t rows, int64_t columns, uint32_t* to, int64_t to_step) {
  const int64_t whole_rows = rows - rows % kSide, whole_columns = columns - columns % kSide;
  for (int64_t c = 0; c < whole_columns; c += kSide)
    for (int64_t r = 0; r < whole_rows; r += kSide)
      square(from + c * from_step + r, from_step, to + r * to_step + c, to_step);
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = r < whole_rows ? whole_columns : 0; c < columns; ++c)
      to[r * to_step + c] = from[c * from_step + r];
}

void take_every_second(const uint32_t* from, int64_t count, uint32_t* to) {
  for (int64_t k = 0; k < count; ++k) to[k] = from[2 * k];
}

}  // namespace tersor::kernels
