// SPDX-License-Identifier: Apache-2.0
#include "core/kernels/observe.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/kernels/unroll.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/observe.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tersor::kernels {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

Extremes FindExtremes(const float* x, size_t n) {
  const hn::ScalableTag<float> d;
  const size_t lanes = hn::Lanes(d);
  Extremes found{x[0], x[0], true};
  float rest = 0;  // x - x is 0 for finite x, else NaN, and NaN stays
  size_t i = 0;
  if (n >= lanes) {
    auto low = hn::LoadU(d, x), high = low, difference = hn::Zero(d);
    for (; i + lanes <= n; i += lanes) {
      const auto v = hn::LoadU(d, x + i);
      low = hn::Min(low, v);
      high = hn::Max(high, v);
      difference = hn::Add(difference, hn::Sub(v, v));
    }
    HWY_ALIGN float buffer[3][HWY_MAX_BYTES / sizeof(float)];
    hn::Store(low, d, buffer[0]);
    hn::Store(high, d, buffer[1]);
    hn::Store(difference, d, buffer[2]);
    for (size_t k = 0; k < lanes; ++k) {
      found.min = std::min(found.min, buffer[0][k]);
      found.max = std::max(found.max, buffer[1][k]);
      rest += buffer[2][k];
    }
  }
  for (; i < n; ++i) {
    found.min = std::min(found.min, x[i]);
    found.max = std::max(found.max, x[i]);
    rest += x[i] - x[i];
  }
  // Which zero comes first must not show: adding +0 makes a negative zero positive.
  return {found.min + 0.0f, found.max + 0.0f, rest == 0};
}

// Places of a block's counters by vectors, then one counter after the other. `kTurns` counters stand for each bin, of
// which neighbours take one in turn, so that equal neighbours do not wait for each other.
template <class Counter, size_t kTurns>
uint64_t CountInTurns(const float* HWY_RESTRICT x, size_t n, float per_width, int32_t first,
                      Counter* HWY_RESTRICT counters) {
  const hn::ScalableTag<float> d;
  const hn::RebindToSigned<decltype(d)> di;
  const size_t lanes = hn::Lanes(d);
  constexpr size_t kBlock = 512;
  constexpr int kPlaceShift = kTurns * sizeof(Counter) == 16 ? 4 : 3;  // bytes of a bin
  static_assert(size_t{1} << kPlaceShift == kTurns * sizeof(Counter) && 4 % kTurns == 0);
  // A whole number below 2^23 added to 2^23 stands in the lowest bits.
  const auto no_fraction = hn::Set(d, 8388608.0f), scale = hn::Set(d, per_width),
             offset = hn::Set(d, static_cast<float>(first));
  const auto mask = hn::Set(di, 0x7fffff);
  HWY_ALIGN int32_t places[kBlock];  // in bytes
  auto* const bytes = reinterpret_cast<unsigned char*>(counters);
  const auto count_at = [bytes](size_t turn, int32_t place) {
    ++*reinterpret_cast<Counter*>(bytes + static_cast<uint32_t>(place) + turn % kTurns * sizeof(Counter));
  };
  uint64_t zeros = 0;
  for (size_t start = 0; start < n; start += kBlock) {
    const size_t count = HWY_MIN(kBlock, n - start);
    auto equal = hn::Zero(di);  // minus the zeros
    size_t i = 0;
    for (; i + lanes <= count; i += lanes) {
      const auto v = hn::LoadU(d, x + start + i);
      equal = hn::Add(equal, hn::VecFromMask(di, hn::RebindMask(di, hn::Eq(v, hn::Zero(d)))));
      const auto bin = hn::Add(hn::Sub(hn::Floor(hn::Mul(v, scale)), offset), no_fraction);
      hn::Store(hn::ShiftLeft<kPlaceShift>(hn::And(hn::BitCast(di, bin), mask)), di, places + i);
    }
    HWY_ALIGN int32_t negated[HWY_MAX_BYTES / sizeof(int32_t)];
    hn::Store(equal, di, negated);
    for (size_t k = 0; k < lanes; ++k) zeros += static_cast<uint64_t>(-static_cast<int64_t>(negated[k]));
    for (; i < count; ++i) {
      zeros += x[start + i] == 0 ? 1 : 0;
      places[i] = (static_cast<int32_t>(std::floor(x[start + i] * per_width)) - first) << kPlaceShift;
    }
    i = 0;
    for (; i + 4 <= count; i += 4) {
      count_at(0, places[i]);
      count_at(1, places[i + 1]);
      count_at(2, places[i + 2]);
      count_at(3, places[i + 3]);
    }
    for (; i < count; ++i) count_at(0, places[i]);
  }
  return zeros;
}

uint64_t CountBins(const float* x, size_t n, float per_width, int32_t first, uint64_t* counts) {
  return CountInTurns<uint64_t, 1>(x, n, per_width, first, counts);
}

uint64_t CountBinsInFours(const float* x, size_t n, float per_width, int32_t first, uint32_t* fours) {
  return CountInTurns<uint32_t, 4>(x, n, per_width, first, fours);
}

void AddUpBins(uint32_t* HWY_RESTRICT fours, size_t bins, uint64_t* HWY_RESTRICT counts) {
  for (size_t b = 0; b < bins; ++b) {
    uint32_t* const four = fours + 4 * b;
    counts[b] += static_cast<uint64_t>(four[0]) + four[1] + four[2] + four[3];
    four[0] = four[1] = four[2] = four[3] = 0;
  }
}

// The compiler's own vectors: Highway has no doubles in WebAssembly. `kVectors` times eight channels stay in registers
// over all rows.
using Floats = float __attribute__((vector_size(32)));
using Doubles = double __attribute__((vector_size(64)));

template <class Vector, class Element>
HWY_INLINE Vector load(const Element* from) {
  Vector v;
  std::memcpy(&v, from, sizeof v);
  return v;
}

#if HWY_TARGET == HWY_WASM  // whose 16 registers hold the sums of eight channels, not of sixteen

HWY_INLINE void SumEightColumns(const float* HWY_RESTRICT x, size_t rows, size_t channels, float* HWY_RESTRICT lows,
                                float* HWY_RESTRICT highs, double* HWY_RESTRICT sums, double* HWY_RESTRICT squares) {
  using Two = float __attribute__((vector_size(8)));
  using Four = float __attribute__((vector_size(16)));
  using Wide = double __attribute__((vector_size(16)));
  Four low[2], high[2];
  Wide sum[4], square[4];
  TERSOR_UNROLL for (size_t k = 0; k < 2; ++k) low[k] = load<Four>(lows + 4 * k), high[k] = load<Four>(highs + 4 * k);
  TERSOR_UNROLL for (size_t k = 0; k < 4; ++k) sum[k] = load<Wide>(sums + 2 * k),
                                               square[k] = load<Wide>(squares + 2 * k);
  for (size_t r = 0; r < rows; ++r, x += channels) {
    TERSOR_UNROLL for (size_t k = 0; k < 2; ++k) {
      const Four v = load<Four>(x + 4 * k);
      low[k] = v < low[k] ? v : low[k];
      high[k] = high[k] < v ? v : high[k];
    }
    TERSOR_UNROLL for (size_t k = 0; k < 4; ++k) {
      const Wide w = __builtin_convertvector(load<Two>(x + 2 * k), Wide);
      sum[k] += w;
      square[k] += w * w;
    }
  }
  std::memcpy(lows, low, sizeof low), std::memcpy(highs, high, sizeof high);
  std::memcpy(sums, sum, sizeof sum), std::memcpy(squares, square, sizeof square);
}

#else

template <size_t kVectors>
HWY_INLINE void SumColumns(const float* HWY_RESTRICT x, size_t rows, size_t channels, float* HWY_RESTRICT lows,
                           float* HWY_RESTRICT highs, double* HWY_RESTRICT sums, double* HWY_RESTRICT squares) {
  Floats low[kVectors], high[kVectors];
  Doubles sum[kVectors], square[kVectors];
  TERSOR_UNROLL for (size_t k = 0; k < kVectors; ++k) {
    low[k] = load<Floats>(lows + 8 * k), high[k] = load<Floats>(highs + 8 * k);
    sum[k] = load<Doubles>(sums + 8 * k), square[k] = load<Doubles>(squares + 8 * k);
  }
  for (size_t r = 0; r < rows; ++r) TERSOR_UNROLL for (size_t k = 0; k < kVectors; ++k) {
      const Floats v = load<Floats>(x + r * channels + 8 * k);
      const Doubles w = __builtin_convertvector(v, Doubles);
      low[k] = v < low[k] ? v : low[k];
      high[k] = v > high[k] ? v : high[k];
      sum[k] += w;
      square[k] += w * w;
    }
  TERSOR_UNROLL for (size_t k = 0; k < kVectors; ++k) {
    std::memcpy(lows + 8 * k, &low[k], sizeof low[k]), std::memcpy(highs + 8 * k, &high[k], sizeof high[k]);
    std::memcpy(sums + 8 * k, &sum[k], sizeof sum[k]), std::memcpy(squares + 8 * k, &square[k], sizeof square[k]);
  }
}

#endif

void ChannelSums(const float* HWY_RESTRICT x, size_t rows, size_t channels, float* HWY_RESTRICT lows,
                 float* HWY_RESTRICT highs, double* HWY_RESTRICT sums, double* HWY_RESTRICT squares) {
  size_t c = 0;
#if HWY_TARGET == HWY_WASM
  for (; c + 8 <= channels; c += 8) SumEightColumns(x + c, rows, channels, lows + c, highs + c, sums + c, squares + c);
#else
  for (; c + 16 <= channels; c += 16) SumColumns<2>(x + c, rows, channels, lows + c, highs + c, sums + c, squares + c);
  for (; c + 8 <= channels; c += 8) SumColumns<1>(x + c, rows, channels, lows + c, highs + c, sums + c, squares + c);
#endif
  if (c == channels) return;
  for (size_t r = 0; r < rows; ++r)
    for (size_t k = c; k < channels; ++k) {
      const float v = x[r * channels + k];
      const double w = static_cast<double>(v);
      lows[k] = v < lows[k] ? v : lows[k];
      highs[k] = v > highs[k] ? v : highs[k];
      sums[k] += w;
      squares[k] += w * w;
    }
}

}  // namespace HWY_NAMESPACE
}  // namespace tersor::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tersor::kernels {

HWY_EXPORT(FindExtremes);
HWY_EXPORT(CountBins);
HWY_EXPORT(CountBinsInFours);
HWY_EXPORT(AddUpBins);
HWY_EXPORT(ChannelSums);

Extremes extremes(std::span<const float> values) {
  return HWY_DYNAMIC_DISPATCH(FindExtremes)(values.data(), values.size());
}

uint64_t count_bins(std::span<const float> values, float per_width, int32_t first, uint64_t* counts) {
  return HWY_DYNAMIC_DISPATCH(CountBins)(values.data(), values.size(), per_width, first, counts);
}

uint64_t count_bins_in_fours(std::span<const float> values, float per_width, int32_t first, uint32_t* fours) {
  return HWY_DYNAMIC_DISPATCH(CountBinsInFours)(values.data(), values.size(), per_width, first, fours);
}

void add_up_bins(uint32_t* fours, std::span<uint64_t> counts) {
  HWY_DYNAMIC_DISPATCH(AddUpBins)(fours, counts.size(), counts.data());
}

void channel_sums(const float* x, size_t rows, size_t channels, float* lows, float* highs, double* sums,
                  double* squares) {
  HWY_DYNAMIC_DISPATCH(ChannelSums)(x, rows, channels, lows, highs, sums, squares);
}

}  // namespace tersor::kernels
#endif
