// SPDX-License-Identifier: Apache-2.0
// Sums of products of 16-bit integers in 32 bits, and from those to 8 bits. Integers wrap around, so no order of sums
// shows.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace tersor::kernels {

/// Constant weights laid out for multiply_integer_rows(): panels as in Panels, each [taps][pairs of depth][width][2],
/// an odd depth ending with zeros. Immutable; may be shared between threads.
class IntegerPanels {
 public:
  /// Where weight (column, tap, d) lies: weights[column * column_step + tap * tap_step + d * depth_step].
  struct Source {
    const int16_t* weights;
    int64_t column_step, tap_step, depth_step;
  };

  IntegerPanels() = default;
  IntegerPanels(int64_t columns, int64_t taps, int64_t depth, const Source& source);

  int64_t columns() const { return columns_; }
  int64_t taps() const { return taps_; }
  int64_t pairs() const { return (depth_ + 1) / 2; }
  int64_t width() const { return width_; }
  int64_t count() const { return columns_ == 0 ? 0 : (columns_ + width_ - 1) / width_; }
  const int16_t* panel(int64_t index) const { return data_.get() + index * taps_ * pairs() * width_ * 2; }

 private:
  int64_t columns_ = 0, taps_ = 0, depth_ = 0, width_ = 0;
  std::shared_ptr<int16_t> data_;
};

/// `rows` holds, tap by tap, one pointer per output row: rows[tap * count + r] points to `depth` numbers, or one more
/// that may be anything where depth is odd.
struct IntegerRows {
  const int16_t* const* pointers;
  int64_t count;
};

/// out[r * out_step + c] = bias[c] + sum over taps and depth of row[tap][r][d] * weight[c][tap][d], modulo 2^32. No
/// product of two neighbours may both be (-2^15)^2. `bias`: one per column, or null.
void multiply_integer_rows(const IntegerPanels& weights, const IntegerRows& rows, const int32_t* bias, int32_t* out,
                           int64_t out_step);

/// Two weights of a column whose products with two codes may add to more than 16 bits hold.
struct WeightPair {
  int32_t column;
  int16_t w0, w1;
  int32_t least;  // where both codes are below it, the sum fits
};
/// The pairs of all columns that meet the same two numbers of a row.
struct PairPlace {
  size_t first;   // of the two
  int32_t least;  // of all these pairs
  size_t end;     // of them among all; those whose sums soonest do not fit stand first
};
/// So many rows at once: code k of row r is rows[r][places[k]] + zero_point.
constexpr size_t kPairRows = 8;
struct PairRows {
  const int16_t* const* rows;
  const int64_t* places;
  int32_t zero_point;
};
/// changes[column * kPairRows + r]: plus what saturation at 16 bits changes in the sums of the pairs; marks, likewise:
/// other than 0 where it changes one.
void saturate_pairs(std::span<const PairPlace> places, std::span<const WeightPair> pairs, const PairRows& rows,
                    int32_t* changes, int32_t* marks);

/// Weights of a depthwise window for sum_depthwise(): taps in pairs, each [channels][2], an odd one paired with zeros.
std::vector<int16_t> pair_depthwise(const int16_t* weights, int64_t taps, int64_t channels);

/// `count` windows, each `step` numbers after the one before: sums[p * channels + c] = bias[c] + sum over taps t of
/// x[p * step + offsets[t] + c] * weight[t][c]. `offsets` has an even length, that of an odd last tap twice. `bias`:
/// one per channel, or null.
struct DepthwiseWindows {
  const int16_t* x;
  int64_t count, step;
  std::span<const int64_t> offsets;
};
void sum_depthwise(const DepthwiseWindows& windows, const int16_t* pairs, int64_t channels, const int32_t* bias,
                   int32_t* sums);

/// y = rne(min(max(float(sum) * multiplier, low - zero_point), high - zero_point)) + zero_point for rows x columns
/// sums; one multiplier, or one per column where `per_column`. Low and high lie within -128 ... 255 and no more than
/// 255 apart; a product that is NaN becomes low.
struct Requantization {
  const float* multipliers;
  bool per_column;
  int32_t zero_point, low, high;
};
void requantize(const int32_t* sums, int64_t rows, int64_t columns, const Requantization& to, uint8_t* y);

}  // namespace tersor::kernels
