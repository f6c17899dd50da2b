// SPDX-License-Identifier: Apache-2.0
// The loops that look at every value while a sample runs. Their results are functions of the values alone: extremes and
// counts do not depend on order, and sums by channel are added in one order on every target.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace tersor::kernels {

struct Extremes {
  float min = 0, max = 0;
  bool finite = true;  // false: an element is NaN or infinite; then min and max say nothing
};

/// Of at least one value; a zero comes out as +0.
Extremes extremes(std::span<const float> values);

/// Counts each x in bin floor(x * per_width) - first, and gives the number of exact zeros. `per_width` is a power of
/// two, so the product is exact; every bin must be there and below 2^23. Values must be finite. Each bin has four
/// counters, of which neighbours take one in turn; none may reach 2^16.
uint64_t count_bins_by_four(std::span<const float> values, float per_width, int32_t first, uint16_t* by_four);

/// Adds the four counters of each bin, `weight` times over (less than 2^14), to its count and clears them.
void add_up_bins(uint16_t* by_four, uint32_t weight, std::span<uint64_t> counts);

/// Writes where |x| > limit holds, rising, and gives how many there are. `places` has room for all.
size_t find_beyond(std::span<const float> values, float limit, uint32_t* places);

/// Per channel of `rows` rows of `channels` values (channels last), at least one, each of the four arrays having one
/// entry per channel: the least and largest value of each folded into lows and highs, and the sums of the values and of
/// their squares added to sums and squares: for each eight channels 64 rows after another in float, these in
/// double; in double alone what is left of channels, and values too large or too small for squares in float. Fewer than
/// eight channels: as if eight rows were one. Gives the sum of all squares: not finite when a value is not.
double channel_sums(const float* x, size_t rows, size_t channels, float* lows, float* highs, double* sums,
                    double* squares);

/// Widens each range low[i] ... high[i] so that it holds lows[i] ... highs[i] too. Zeros come out as +0.
void widen(std::span<const float> lows, std::span<const float> highs, std::span<float> low, std::span<float> high);

}  // namespace tersor::kernels
