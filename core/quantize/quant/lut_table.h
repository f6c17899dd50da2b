// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tersor::quant {

/// The integers that entries of a table are taken from: those of `value_bits` bits (LUT: lut_values_bitwidth).
struct LutValues {
  int value_bits = 8;
  bool is_signed = true;

  int32_t low() const { return is_signed ? -(1 << (value_bits - 1)) : 0; }
  int32_t high() const { return is_signed ? (1 << (value_bits - 1)) - 1 : (1 << value_bits) - 1; }
  bool operator==(const LutValues&) const = default;
};

/// x / (threshold + 1e-8) * 2^(value_bits - s) within low() and high(), s being 1 where values are signed: where x lies
/// among the entries. Not rounded. The formula, small summand included, is that of MCT's LUT quantizers.
double lut_place(double x, double threshold, const LutValues& values);
/// The entry nearest a place; the first of two.
size_t nearest_entry(std::span<const int32_t> table, double place);

struct LutTable {
  std::vector<int32_t> entries;  // ascending, no two alike
  double error = 0;              // sum of weight * (place - nearest entry)^2
};

/// The table of at most `size` entries with the least error: one-dimensional k-means over whole numbers, exact by
/// dynamic programming. Entry 0 is in it where `with_zero`. Places weigh alike or as much as `weights` says.
LutTable least_error_table(std::span<const double> places, std::span<const double> weights, const LutValues& values,
                           int size, bool with_zero);

}  // namespace tersor::quant
