// SPDX-License-Identifier: Apache-2.0
#include "core/kernels/observe.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/kernels/loop_constants.h"
#include "core/kernels/unroll.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/observe.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tersor::kernels {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// The compiler's own vectors: the lesser of two is one instruction in WebAssembly too, which Highway's Min is not.
using Floats = float __attribute__((vector_size(32)));
using Bits = int32_t __attribute__((vector_size(32)));
using UnsignedBits = uint32_t __attribute__((vector_size(32)));
constexpr size_t kLanes = sizeof(Floats) / sizeof(float);

/// Of bits of floats: the greatest and least as signed numbers, and the greatest as unsigned ones.
template <class Signed, class Unsigned>
struct BitExtremes {
  Signed most, least;
  Unsigned farthest;
  HWY_INLINE void join(const BitExtremes& other) {
    most = most < other.most ? other.most : most;
    least = other.least < least ? other.least : least;
    farthest = farthest < other.farthest ? other.farthest : farthest;
  }
};

/// Bits of positive floats rise with them, those of negative ones fall and are below as signed numbers, beyond as
/// unsigned ones; infinities and NaN lie after both. So the extremes tell too whether all are finite.
Extremes FindExtremes(const float* x, size_t n) {
  constexpr size_t kVectors = HWY_TARGET == HWY_WASM ? 2 : 4;  // whose registers do not hold as many
  constexpr size_t kAtOnce = kVectors * kLanes;
  constexpr int32_t kInfinity = 0x7f800000;
  using OfOne = BitExtremes<int32_t, uint32_t>;
  using OfLanes = BitExtremes<Bits, UnsignedBits>;
  const auto one_at = [x](size_t at) {
    int32_t bits;
    std::memcpy(&bits, x + at, sizeof bits);
    return OfOne{bits, bits, static_cast<uint32_t>(bits)};
  };
  const auto lanes_at = [x](size_t at) HWY_ATTR {
    Bits bits;
    std::memcpy(&bits, x + at, sizeof bits);
    return OfLanes{bits, bits, (UnsignedBits)bits};
  };
  OfOne all = one_at(0);
  size_t i = 0;
  if (n >= kAtOnce) {
    OfLanes in[kVectors];
    for (size_t k = 0; k < kVectors; ++k) in[k] = lanes_at(k * kLanes);
    for (i = kAtOnce; i + kAtOnce <= n; i += kAtOnce)
      TERSOR_UNROLL for (size_t k = 0; k < kVectors; ++k) in[k].join(lanes_at(i + k * kLanes));
    TERSOR_UNROLL for (size_t k = 1; k < kVectors; ++k) in[0].join(in[k]);
    for (size_t lane = 0; lane < kLanes; ++lane) all.join({in[0].most[lane], in[0].least[lane], in[0].farthest[lane]});
  }
  for (; i < n; ++i) all.join(one_at(i));
  const bool any_negative = all.farthest >> 31 != 0, any_positive = all.most >= 0;
  const uint32_t min = any_negative ? all.farthest : static_cast<uint32_t>(all.least);
  const int32_t max = any_positive ? all.most : all.least;
  Extremes found;
  std::memcpy(&found.min, &min, sizeof min);
  std::memcpy(&found.max, &max, sizeof max);
  // Which zero comes first must not show: adding +0 makes a negative zero positive.
  found.min += 0.0f, found.max += 0.0f;
  found.finite = all.most < kInfinity && all.farthest < (uint32_t{1} << 31 | kInfinity);
  return found;
}

// Places of a block's counters by vectors, then one counter after the other. Equal neighbours do not wait for each
// other, as they count in turns.
uint64_t CountBinsByFour(const float* HWY_RESTRICT x, size_t n, float per_width, int32_t first,
                         uint16_t* HWY_RESTRICT by_four) {
  const hn::ScalableTag<float> d;
  const hn::RebindToSigned<decltype(d)> di;
  const size_t lanes = hn::Lanes(d);
  constexpr size_t kBlock = 512;
  constexpr int kCounterShift = 1, kPlaceShift = 3;
  // A whole number below 2^23 added to 2^23 stands in the lowest bits.
  const auto no_fraction = hn::Set(d, kWholeAsBits), scale = hn::Set(d, per_width),
             offset = hn::Set(d, static_cast<float>(first));
  // Of counters, in bytes; where 32 bits hold an address they are addresses, so that nothing is left to add.
  HWY_ALIGN int32_t places[kBlock];
  constexpr bool kAddresses = sizeof(uintptr_t) == sizeof(int32_t);
  const auto start_of_all = reinterpret_cast<uintptr_t>(by_four);
  const uintptr_t origin = kAddresses ? 0 : start_of_all;
  const auto start_of_places = static_cast<int32_t>(static_cast<uint32_t>(start_of_all - origin));
  // Less the exponent's bits, as far as they are left after the shift.
  const auto turns = hn::Sub(
      hn::Add(hn::ShiftLeft<kCounterShift>(hn::And(hn::Iota(di, 0), hn::Set(di, 3))), hn::Set(di, start_of_places)),
      hn::ShiftLeft<kPlaceShift>(hn::BitCast(di, no_fraction)));
  const auto count_at = [&](int32_t place) { ++*reinterpret_cast<uint16_t*>(origin + static_cast<uint32_t>(place)); };
  uint64_t zeros = 0;
  for (size_t start = 0; start < n; start += kBlock) {
    const size_t count = HWY_MIN(kBlock, n - start);
    auto equal = hn::Zero(di);  // minus the zeros
    size_t i = 0;
    for (; i + lanes <= count; i += lanes) {
      const auto v = hn::LoadU(d, x + start + i);
      equal = hn::Add(equal, hn::VecFromMask(di, hn::RebindMask(di, hn::Eq(v, hn::Zero(d)))));
      const auto bin = hn::Add(hn::Sub(hn::Floor(hn::Mul(v, scale)), offset), no_fraction);
      hn::Store(hn::Add(hn::ShiftLeft<kPlaceShift>(hn::BitCast(di, bin)), turns), di, places + i);
    }
    HWY_ALIGN int32_t negated[HWY_MAX_BYTES / sizeof(int32_t)];
    hn::Store(equal, di, negated);
    for (size_t k = 0; k < lanes; ++k) zeros += static_cast<uint64_t>(-static_cast<int64_t>(negated[k]));
    for (; i < count; ++i) {
      zeros += x[start + i] == 0 ? 1 : 0;
      const int32_t bin = static_cast<int32_t>(std::floor(x[start + i] * per_width)) - first;
      places[i] = (bin << kPlaceShift) + start_of_places;
    }
    i = 0;
    for (; i + 4 <= count; i += 4) {
      count_at(places[i]);
      count_at(places[i + 1]);
      count_at(places[i + 2]);
      count_at(places[i + 3]);
    }
    for (; i < count; ++i) count_at(places[i]);
  }
  return zeros;
}

size_t FindBeyond(const float* HWY_RESTRICT x, size_t n, float limit, uint32_t* HWY_RESTRICT places) {
  const hn::ScalableTag<float> d;
  const size_t at_once = 4 * hn::Lanes(d);
  const auto most = hn::Set(d, limit);
  const auto magnitude = [&](size_t i) { return hn::Abs(hn::LoadU(d, x + i)); };
  size_t found = 0, i = 0;
  const auto look = [&](size_t end) {
    for (; i < end; ++i)
      if (std::fabs(x[i]) > limit) places[found++] = static_cast<uint32_t>(i);
  };
  while (i + at_once <= n) {
    const auto front = hn::Max(magnitude(i), magnitude(i + hn::Lanes(d)));
    const auto back = hn::Max(magnitude(i + 2 * hn::Lanes(d)), magnitude(i + 3 * hn::Lanes(d)));
    if (hn::AllFalse(d, hn::Gt(hn::Max(front, back), most)))
      i += at_once;
    else
      look(i + at_once);
  }
  look(n);
  return found;
}

void AddUpBins(uint16_t* HWY_RESTRICT by_four, uint32_t weight, size_t bins, uint64_t* HWY_RESTRICT counts) {
  size_t b = 0;
#if HWY_TARGET != HWY_SCALAR
  // Two bins to a vector, the sum of each in the lower half of its lane.
  const hn::FixedTag<uint16_t, 8> d16;
  const hn::FixedTag<uint32_t, 4> d32;
  const hn::FixedTag<uint64_t, 2> d64;
  const auto factor = hn::Set(d32, weight);
  const auto lower_quarters = hn::Set(d32, 0xffff);
  const auto lower_halves = hn::Set(d64, 0xffffffff);
  for (; b + 2 <= bins; b += 2) {
    const auto all = hn::BitCast(d32, hn::LoadU(d16, by_four + 4 * b));
    const auto pairs = hn::BitCast(d64, hn::Add(hn::And(all, lower_quarters), hn::ShiftRight<16>(all)));
    const auto sums = hn::Add(hn::BitCast(d32, pairs), hn::BitCast(d32, hn::ShiftRight<32>(pairs)));
    const auto weighted = hn::And(hn::BitCast(d64, hn::Mul(sums, factor)), lower_halves);
    hn::StoreU(hn::Add(hn::LoadU(d64, counts + b), weighted), d64, counts + b);
    hn::StoreU(hn::Zero(d16), d16, by_four + 4 * b);
  }
#endif
  for (; b < bins; ++b) {
    uint16_t* const four = by_four + 4 * b;
    counts[b] += uint64_t{weight} * (uint64_t{four[0]} + four[1] + four[2] + four[3]);
    four[0] = four[1] = four[2] = four[3] = 0;
  }
}

constexpr size_t kRowsInFloat = 64;
constexpr size_t kChannelsAtOnce = 256;  // whose sums stay in the nearest cache
constexpr size_t kNearValues = 4096;     // that stay there besides
constexpr size_t kFewestRows = 8;        // that are worth reading and writing a vector's sums
// Between these, squares of floats and sums of so many of them stay clear of what a float cannot hold.
constexpr float kSmall = 0x1p-40f, kLarge = 0x1p+50f;

/// Of `count` of the channels: fewer than a vector. Gives what it adds to all `squares`.
HWY_NOINLINE double SumInDouble(const float* HWY_RESTRICT x, size_t rows, size_t channels, size_t count,
                                float* HWY_RESTRICT lows, float* HWY_RESTRICT highs, double* HWY_RESTRICT sums,
                                double* HWY_RESTRICT squares) {
  double sum[kLanes] = {}, square[kLanes] = {}, total = 0;
  for (size_t r = 0; r < rows; ++r)
    for (size_t c = 0; c < count; ++c) {
      const float v = x[r * channels + c];
      const double w = static_cast<double>(v);
      lows[c] = HWY_MIN(lows[c], v);
      highs[c] = HWY_MAX(highs[c], v);
      sum[c] += w;
      square[c] += w * w;
    }
  for (size_t c = 0; c < count; ++c) sums[c] += sum[c], squares[c] += square[c], total += square[c];
  return total;
}

/// Of up to kChannelsAtOnce channels, in whole vectors.
struct FloatSums {
  HWY_ALIGN float lows[kChannelsAtOnce], highs[kChannelsAtOnce], sums[kChannelsAtOnce], squares[kChannelsAtOnce];
};

/// Vector by vector: what these rows add to the sums of `count` channels.
HWY_INLINE void AddRows(const float* HWY_RESTRICT x, size_t rows, size_t channels, size_t count, FloatSums& of) {
  for (size_t c = 0; c < count; c += kLanes) {
    Floats low, high, sum, square;
    std::memcpy(&low, of.lows + c, sizeof low);
    std::memcpy(&high, of.highs + c, sizeof high);
    std::memcpy(&sum, of.sums + c, sizeof sum);
    std::memcpy(&square, of.squares + c, sizeof square);
    const float* row = x + c;
    for (const float* const end = row + rows * channels; row != end; row += channels) {
      Floats v;
      std::memcpy(&v, row, sizeof v);
      low = v < low ? v : low;
      high = high < v ? v : high;
      sum += v;
      square += v * v;
    }
    std::memcpy(of.lows + c, &low, sizeof low);
    std::memcpy(of.highs + c, &high, sizeof high);
    std::memcpy(of.sums + c, &sum, sizeof sum);
    std::memcpy(of.squares + c, &square, sizeof square);
  }
}

/// Of `count` of the channels: whole vectors, kChannelsAtOnce at most. Gives what it adds to all `squares`.
HWY_NOINLINE double SumInFloat(const float* HWY_RESTRICT x, size_t rows, size_t channels, size_t count,
                               float* HWY_RESTRICT lows, float* HWY_RESTRICT highs, double* HWY_RESTRICT sums,
                               double* HWY_RESTRICT squares) {
  // Rows of which a second vector is still in the nearest cache when the first is done.
  const size_t at_once = HWY_MAX(kFewestRows, HWY_MIN(kNearValues / channels, kRowsInFloat));
  FloatSums part;
  HWY_ALIGN double sum[kChannelsAtOnce], square[kChannelsAtOnce];
  std::copy_n(x, count, part.lows);
  std::copy_n(x, count, part.highs);
  std::fill_n(sum, count, 0);
  std::fill_n(square, count, 0);
  for (size_t start = 0; start < rows; start += kRowsInFloat) {
    std::fill_n(part.sums, count, 0);
    std::fill_n(part.squares, count, 0);
    const size_t end = HWY_MIN(start + kRowsInFloat, rows);
    for (size_t r = start; r < end; r += at_once)
      AddRows(x + r * channels, HWY_MIN(at_once, end - r), channels, count, part);
    for (size_t c = 0; c < count; ++c) {
      sum[c] += static_cast<double>(part.sums[c]);
      square[c] += static_cast<double>(part.squares[c]);
    }
  }
  const auto fits = [&](size_t c) {
    const float largest = HWY_MAX(-part.lows[c], part.highs[c]);
    return (largest == 0) | ((largest >= kSmall) & (largest <= kLarge));
  };
  bool all_fit = true;
  for (size_t c = 0; c < count; ++c) {
    all_fit &= fits(c);
    lows[c] = HWY_MIN(lows[c], part.lows[c]);
    highs[c] = HWY_MAX(highs[c], part.highs[c]);
  }
  for (size_t c = 0; !all_fit && c < count; ++c)
    if (!fits(c)) {
      sum[c] = square[c] = 0;
      SumInDouble(x + c, rows, channels, 1, lows + c, highs + c, sum + c, square + c);
    }
  double totals[4] = {};  // which do not wait for each other
  for (size_t c = 0; c < count; c += 4)
    for (size_t k = 0; k < 4; ++k) {
      sums[c + k] += sum[c + k];
      squares[c + k] += square[c + k];
      totals[k] += square[c + k];
    }
  return totals[0] + totals[1] + totals[2] + totals[3];
}

double ChannelSums(const float* HWY_RESTRICT x, size_t rows, size_t channels, float* HWY_RESTRICT lows,
                   float* HWY_RESTRICT highs, double* HWY_RESTRICT sums, double* HWY_RESTRICT squares) {
  double total = 0;
  if (channels < kLanes && rows >= kLanes) {
    const size_t wide = kLanes * channels;
    float low[kLanes * kLanes], high[kLanes * kLanes];
    double sum[kLanes * kLanes] = {}, square[kLanes * kLanes] = {};
    for (size_t k = 0; k < wide; ++k) low[k] = lows[k % channels], high[k] = highs[k % channels];
    total += SumInFloat(x, rows / kLanes, wide, wide, low, high, sum, square);
    for (size_t k = 0; k < wide; ++k) {
      const size_t c = k % channels;
      lows[c] = HWY_MIN(lows[c], low[k]), highs[c] = HWY_MAX(highs[c], high[k]);
      sums[c] += sum[k], squares[c] += square[k];
    }
    x += rows / kLanes * wide;
    rows %= kLanes;
  }
  size_t c = 0;
  for (size_t count; c + kLanes <= channels; c += count) {
    count = HWY_MIN(kChannelsAtOnce, (channels - c) / kLanes * kLanes);
    total += SumInFloat(x + c, rows, channels, count, lows + c, highs + c, sums + c, squares + c);
  }
  return total + SumInDouble(x + c, rows, channels, channels - c, lows + c, highs + c, sums + c, squares + c);
}

void Widen(const float* HWY_RESTRICT lows, const float* HWY_RESTRICT highs, size_t n, float* HWY_RESTRICT low,
           float* HWY_RESTRICT high) {
  for (size_t i = 0; i < n; ++i) {
    low[i] = HWY_MIN(low[i], lows[i]) + 0.0f;
    high[i] = HWY_MAX(high[i], highs[i]) + 0.0f;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace tersor::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tersor::kernels {

HWY_EXPORT(FindExtremes);
HWY_EXPORT(CountBinsByFour);
HWY_EXPORT(FindBeyond);
HWY_EXPORT(AddUpBins);
HWY_EXPORT(ChannelSums);
HWY_EXPORT(Widen);

Extremes extremes(std::span<const float> values) {
  return HWY_DYNAMIC_DISPATCH(FindExtremes)(values.data(), values.size());
}

uint64_t count_bins_by_four(std::span<const float> values, float per_width, int32_t first, uint16_t* by_four) {
  return HWY_DYNAMIC_DISPATCH(CountBinsByFour)(values.data(), values.size(), per_width, first, by_four);
}

size_t find_beyond(std::span<const float> values, float limit, uint32_t* places) {
  return HWY_DYNAMIC_DISPATCH(FindBeyond)(values.data(), values.size(), limit, places);
}

void add_up_bins(uint16_t* by_four, uint32_t weight, std::span<uint64_t> counts) {
  HWY_DYNAMIC_DISPATCH(AddUpBins)(by_four, weight, counts.size(), counts.data());
}

double channel_sums(const float* x, size_t rows, size_t channels, float* lows, float* highs, double* sums,
                    double* squares) {
  return HWY_DYNAMIC_DISPATCH(ChannelSums)(x, rows, channels, lows, highs, sums, squares);
}

void widen(std::span<const float> lows, std::span<const float> highs, std::span<float> low, std::span<float> high) {
  HWY_DYNAMIC_DISPATCH(Widen)(lows.data(), highs.data(), lows.size(), low.data(), high.data());
}

}  // namespace tersor::kernels
#endif
