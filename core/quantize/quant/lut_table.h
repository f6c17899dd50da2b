// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tersor::quant {

/// The integers that table entries are chosen from: those of `value_bits` bits (lut_values_bitwidth of the platform).
struct LutValues {
  int value_bits = 8;
  bool is_signed = true;

  int32_t low() const { return is_signed ? -(1 << (value_bits - 1)) : 0; }
  int32_t high() const { return is_signed ? (1 << (value_bits - 1)) - 1 : (1 << value_bits) - 1; }
  bool operator==(const LutValues&) const = default;
};

/// The position of x among the entries, not rounded: x / (threshold + 1e-8) * 2^(value_bits - s), clamped to low() and
/// high(). s is 1 for signed values and else 0. The formula, small summand included, is that of MCT's LUT quantizers.
double lut_place(double x, double threshold, const LutValues& values);
/// The index of the entry nearest to a place; of two equally near, the first.
size_t nearest_entry(std::span<const int32_t> table, double place);

/// A table of integers, and its error over the places that it was made for.
struct LutTable {
  std::vector<int32_t> entries;  // ascending, all different
  double error = 0;              // sum of weight * (place - nearest entry)^2
};

/// Returns the table of at most `size` entries with the least error: exact one-dimensional k-means over integers, by
/// dynamic programming. With `with_zero` the table contains 0. `weights` has a weight for each place; empty weights all
/// alike.
LutTable least_error_table(std::span<const double> places, std::span<const double> weights, const LutValues& values,
                           int size, bool with_zero);

}  // namespace tersor::quant
