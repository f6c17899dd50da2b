// SPDX-License-Identifier: Apache-2.0
#include "core/kernels/integer.h"

#include <cstring>
#include <type_traits>

#include "core/kernels/panels.h"
#include "core/kernels/unroll.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/integer.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "core/kernels/along_rows-inl.h"
#include "core/kernels/by_panels-inl.h"
#include "core/kernels/codes-inl.h"

#ifndef TERSOR_INTEGER_ONCE
#define TERSOR_INTEGER_ONCE
namespace tersor::kernels {
struct IntegerTile {
  const int16_t* panel;
  const int16_t* const* rows;  // of the tile's first row, tap 0
  int64_t rows_step;           // pointers from one tap to the next
  int64_t taps, pairs;
  const int32_t* bias;  // as wide as the panel
  int32_t* out;         // room for the panel's width
  int64_t out_step;
};
}  // namespace tersor::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace tersor::kernels {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR

constexpr int kRowsOfOne = 1, kRowsOfTwo = 1;

template <int kRows, int kVectors>
void Tiles(const IntegerTile& call, int64_t tiles) {
  for (int64_t tile = 0; tile < tiles; ++tile)
    for (int64_t c = 0; c < kVectors; ++c) {
      auto sum = static_cast<uint32_t>(call.bias[c]);
      for (int64_t tap = 0; tap < call.taps; ++tap)
        for (int64_t k = 0; k < 2 * call.pairs; ++k) {
          const int16_t weight = call.panel[((tap * call.pairs + k / 2) * kVectors + c) * 2 + k % 2];
          // After an odd depth lies a number that may be anything, and a weight of 0.
          sum += static_cast<uint32_t>(call.rows[tile + tap * call.rows_step][k] * weight);
        }
      call.out[tile * call.out_step + c] = static_cast<int32_t>(sum);
    }
}

#else

/// sum + a[2 i] b[2 i] + a[2 i + 1] b[2 i + 1] in each lane i. Highway's operation is that on x86 and in WebAssembly;
/// elsewhere it has the products in another order: it promises no more than the sum of all lanes.
template <class D32, class V16, class V32>
HWY_INLINE V32 AddPairs(D32 d, V16 a, V16 b, V32 sum) {
  V32 rest = hn::Zero(d);
#if HWY_ARCH_ARM
  const V32 lower = hn::ReorderWidenMulAccumulate(d, a, b, hn::Zero(d), rest);
#if HWY_ARCH_ARM_A64
  return hn::Add(sum, V32(vpaddq_s32(lower.raw, rest.raw)));
#else
  return hn::Add(sum, hn::Add(hn::ConcatEven(d, rest, lower), hn::ConcatOdd(d, rest, lower)));
#endif
#else
  sum = hn::ReorderWidenMulAccumulate(d, a, b, sum, rest);
  return HWY_TARGET == HWY_EMU128 ? hn::Add(sum, rest) : sum;
#endif
}

#if HWY_TARGET == HWY_WASM || HWY_TARGET == HWY_EMU128
constexpr int kRowsOfOne = 6, kRowsOfTwo = 4;
#elif HWY_TARGET <= HWY_AVX3
constexpr int kRowsOfOne = 12, kRowsOfTwo = 8;
#else
constexpr int kRowsOfOne = 8, kRowsOfTwo = 6;
#endif

// As the float tiles: kRows x kVectors sums in registers, each lane adding two products at a time.
template <int kRows, int kVectors>
HWY_NOINLINE void Tiles(const IntegerTile& call, int64_t tiles) {
  const hn::ScalableTag<int32_t> d;
  const hn::RepartitionToNarrow<decltype(d)> narrow;
  using V = hn::Vec<decltype(d)>;
  const size_t lanes = hn::Lanes(d);
  const int64_t taps = call.taps, pairs = call.pairs, rows_step = call.rows_step, out_step = call.out_step;
  const int16_t* const* first_rows = call.rows;
  const int32_t* const bias = call.bias;
  int32_t* out = call.out;
  for (; tiles > 0; --tiles, first_rows += kRows) {
    V sums[kRows][kVectors];
    TERSOR_UNROLL for (int r = 0; r < kRows; ++r) {
      TERSOR_UNROLL for (int v = 0; v < kVectors; ++v) sums[r][v] = hn::LoadU(d, bias + static_cast<size_t>(v) * lanes);
    }
    const int16_t* w = call.panel;
    const int16_t* const* rows = first_rows;
    for (int64_t tap = 0; tap < taps; ++tap, rows += rows_step) {
      const auto add = [&](const auto& numbers, int64_t at, const int16_t* HWY_RESTRICT of_all) HWY_ATTR {
        hn::Vec<decltype(narrow)> weights[kVectors];
        TERSOR_UNROLL for (int v = 0; v < kVectors; ++v) {
          weights[v] = hn::Load(narrow, of_all + static_cast<size_t>(v) * 2 * lanes);
        }
        TERSOR_UNROLL for (int r = 0; r < kRows; ++r) {
          int32_t pair;
          std::memcpy(&pair, numbers[r] + at, sizeof(pair));
          const auto x = hn::BitCast(narrow, hn::Set(d, pair));
          TERSOR_UNROLL for (int v = 0; v < kVectors; ++v) {
            sums[r][v] = AddPairs(d, x, weights[v], sums[r][v]);
          }
        }
      };
      const int16_t* base[kRows];
      TERSOR_UNROLL for (int r = 0; r < kRows; ++r) base[r] = rows[r];
      w = AlongRows<2>(base, 0, pairs, w, kVectors * 2 * lanes, add);
    }
    TERSOR_UNROLL for (int r = 0; r < kRows; ++r, out += out_step) {
      TERSOR_UNROLL for (int v = 0; v < kVectors; ++v) {
        hn::StoreU(sums[r][v], d, out + static_cast<size_t>(v) * lanes);
      }
    }
  }
}

#endif

template <int kMostRows, int kVectors>
void PanelRows(const IntegerTile& first, int64_t count) {
  IntegerTile call = first;
  int64_t left = count;
  const auto tiles_of = [&](auto rows, int64_t tiles) {
    Tiles<rows, kVectors>(call, tiles);
    left -= rows * tiles;
    call.rows += rows * tiles;
    call.out += rows * tiles * call.out_step;
  };
  tiles_of(std::integral_constant<int, kMostRows>(), left / kMostRows);
  if constexpr (kMostRows > 4) tiles_of(std::integral_constant<int, 4>(), left / 4);
  tiles_of(std::integral_constant<int, 1>(), left);
}

void OnePanel(const IntegerPanels& weights, const IntegerTile& call, int64_t count) {
  if (weights.width() == static_cast<int64_t>(hn::Lanes(hn::ScalableTag<int32_t>())))
    PanelRows<kRowsOfOne, 1>(call, count);
  else
    PanelRows<kRowsOfTwo, 2>(call, count);
}

void MultiplyIntegerRows(const IntegerPanels& weights, const IntegerRows& rows, const int32_t* bias, int32_t* out,
                         int64_t out_step) {
  const IntegerTile all{nullptr, rows.pointers, rows.count, weights.taps(), weights.pairs(), bias, out, out_step};
  ByPanels(weights, all, rows.count, [&](const IntegerTile& call, int64_t count) { OnePanel(weights, call, count); });
}

void SaturatePairs(std::span<const PairPlace> places, std::span<const WeightPair> pairs, const PairRows& of,
                   int32_t* HWY_RESTRICT changes, int32_t* HWY_RESTRICT marks) {
  const hn::CappedTag<int32_t, kPairRows> d;
  const auto low = hn::Set(d, -32768), high = hn::Set(d, 32767);
  HWY_ALIGN int32_t x0[kPairRows], x1[kPairRows];
  size_t at = 0;
  for (const PairPlace& place : places) {
    const int64_t first = of.places[place.first], second = of.places[place.first + 1];
    int32_t most = 0;
    for (size_t r = 0; r < kPairRows; ++r) {
      x0[r] = of.rows[r][first] + of.zero_point;
      x1[r] = of.rows[r][second] + of.zero_point;
      most = HWY_MAX(most, HWY_MAX(x0[r], x1[r]));
    }
    for (; at < place.end && pairs[at].least <= most; ++at) {
      const WeightPair& pair = pairs[at];
      const auto w0 = hn::Set(d, int32_t{pair.w0}), w1 = hn::Set(d, int32_t{pair.w1});
      const size_t to = static_cast<size_t>(pair.column) * kPairRows;
      for (size_t r = 0; r < kPairRows; r += hn::Lanes(d)) {
        const auto exact = hn::Add(hn::Mul(hn::Load(d, x0 + r), w0), hn::Mul(hn::Load(d, x1 + r), w1));
        const auto change = hn::Sub(hn::Min(hn::Max(exact, low), high), exact);
        hn::StoreU(hn::Add(hn::LoadU(d, changes + to + r), change), d, changes + to + r);
        hn::StoreU(hn::Or(hn::LoadU(d, marks + to + r), change), d, marks + to + r);
      }
    }
    at = place.end;
  }
}

HWY_INLINE int32_t DepthwiseSum(const DepthwiseWindows& windows, const int16_t* x, const int16_t* HWY_RESTRICT pairs,
                                int64_t channels, const int32_t* bias, int64_t c) {
  uint32_t sum = bias == nullptr ? 0 : static_cast<uint32_t>(bias[c]);
  for (size_t t = 0; t < windows.offsets.size(); ++t) {
    const auto pair = static_cast<int64_t>(t / 2), half = static_cast<int64_t>(t % 2);
    sum += static_cast<uint32_t>(x[windows.offsets[t] + c] * pairs[(pair * channels + c) * 2 + half]);
  }
  return static_cast<int32_t>(sum);
}

#if HWY_TARGET != HWY_SCALAR

// One vector of channels of kPixels neighbouring windows. Two taps at a time: their numbers in turn, as the weights
// lie.
template <int kPixels, class D16>
HWY_INLINE void DepthwiseVector(D16 d16, const DepthwiseWindows& windows, const int16_t* HWY_RESTRICT x,
                                const int16_t* HWY_RESTRICT pairs, int64_t channels, const int32_t* HWY_RESTRICT bias,
                                int64_t c, int32_t* HWY_RESTRICT sums) {
  const hn::RepartitionToWide<D16> d32;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d32));
  using V = hn::Vec<decltype(d32)>;
  V low[kPixels], high[kPixels];
  const V first_low = bias == nullptr ? hn::Zero(d32) : hn::LoadU(d32, bias + c),
          first_high = bias == nullptr ? hn::Zero(d32) : hn::LoadU(d32, bias + c + lanes);
  TERSOR_UNROLL for (int p = 0; p < kPixels; ++p) low[p] = first_low, high[p] = first_high;
  const int16_t* HWY_RESTRICT w = pairs + 2 * c;
  x += c;
  const int64_t *offset = windows.offsets.data(), *const end = offset + windows.offsets.size();
  for (; offset != end; offset += 2, w += 2 * channels) {
    const auto first = hn::LoadU(d16, w), second = hn::LoadU(d16, w + 2 * lanes);
    const int16_t *const even = x + offset[0], *const odd = x + offset[1];
    TERSOR_UNROLL for (int p = 0; p < kPixels; ++p) {
      const auto a = hn::LoadU(d16, even + p * windows.step), b = hn::LoadU(d16, odd + p * windows.step);
      const auto lower = hn::InterleaveLower(d16, a, b), upper = hn::InterleaveUpper(d16, a, b);
      low[p] = AddPairs(d32, lower, first, low[p]);
      high[p] = AddPairs(d32, upper, second, high[p]);
    }
  }
  TERSOR_UNROLL for (int p = 0; p < kPixels; ++p) {
    hn::StoreU(low[p], d32, sums + p * channels + c);
    hn::StoreU(high[p], d32, sums + p * channels + c + lanes);
  }
}

#endif

/// All channels of kPixels windows from window `first` on.
template <int kPixels>
HWY_INLINE void DepthwisePixels(const DepthwiseWindows& windows, const int16_t* pairs, int64_t channels,
                                const int32_t* bias, int64_t first, int32_t* sums) {
  const int16_t* const x = windows.x + first * windows.step;
  sums += first * channels;
  int64_t c = 0;
#if HWY_TARGET != HWY_SCALAR
  // Vectors of 128 bits: wider ones would turn the channels about.
  const hn::CappedTag<int16_t, 8> d16;
  for (; c + 8 <= channels; c += 8) DepthwiseVector<kPixels>(d16, windows, x, pairs, channels, bias, c, sums);
#endif
  for (; c < channels; ++c)
    for (int64_t p = 0; p < kPixels; ++p)
      sums[p * channels + c] = DepthwiseSum(windows, x + p * windows.step, pairs, channels, bias, c);
}

void SumDepthwise(const DepthwiseWindows& windows, const int16_t* pairs, int64_t channels, const int32_t* bias,
                  int32_t* sums) {
  int64_t p = 0;
  for (; p + 4 <= windows.count; p += 4) DepthwisePixels<4>(windows, pairs, channels, bias, p, sums);
  if (windows.count - p >= 2) DepthwisePixels<2>(windows, pairs, channels, bias, p, sums), p += 2;
  if (p < windows.count) DepthwisePixels<1>(windows, pairs, channels, bias, p, sums);
}

// One multiplier for all, or one for each.
template <bool kEach>
HWY_INLINE void RequantizeRun(const int32_t* HWY_RESTRICT sums, size_t n, const float* HWY_RESTRICT multipliers,
                              const Coder& coder, uint8_t* HWY_RESTRICT y) {
  const hn::ScalableTag<float> d;
  const hn::RebindToSigned<decltype(d)> di;
  const size_t lanes = hn::Lanes(d);
  const auto one = hn::Set(d, *multipliers);
  const auto steps = [&](size_t k) {
    const auto multiplier = kEach ? hn::LoadU(d, multipliers + k) : one;
    return hn::Mul(hn::ConvertTo(d, hn::LoadU(di, sums + k)), multiplier);
  };
  // The pointers move, so that the numbers lie at constants after them.
  const auto go_on = [&](size_t k) { sums += k, multipliers += kEach ? k : 0, y += k; };
#if HWY_TARGET == HWY_WASM
  for (; n >= 4 * lanes; n -= 4 * lanes, go_on(4 * lanes))
    coder.store({steps(0), steps(lanes), steps(2 * lanes), steps(3 * lanes)}, y);
#endif
  for (; n >= lanes; n -= lanes, go_on(lanes)) coder.store(steps(0), y);
  for (; n > 0; --n, go_on(1)) *y = coder.one(static_cast<float>(*sums) * *multipliers);
}

void Requantize(const int32_t* HWY_RESTRICT sums, int64_t rows, int64_t columns, const Requantization& to,
                uint8_t* HWY_RESTRICT y) {
  const Coder coder(to.low, to.high, to.zero_point);
  const auto count = static_cast<size_t>(columns);
  if (!to.per_column) return RequantizeRun<false>(sums, static_cast<size_t>(rows) * count, to.multipliers, coder, y);
  for (int64_t r = 0; r < rows; ++r, sums += columns, y += columns)
    RequantizeRun<true>(sums, count, to.multipliers, coder, y);
}

}  // namespace HWY_NAMESPACE
}  // namespace tersor::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tersor::kernels {

HWY_EXPORT(MultiplyIntegerRows);
HWY_EXPORT(SaturatePairs);
HWY_EXPORT(SumDepthwise);
HWY_EXPORT(Requantize);

IntegerPanels::IntegerPanels(int64_t columns, int64_t taps, int64_t depth, const Source& source)
    : columns_(columns), taps_(taps), depth_(depth), width_(panel_width(columns)) {
  const int64_t elements = count() * taps * pairs() * width_ * 2;
  // As floats of the same number of bytes: elements come in pairs.
  const std::shared_ptr<float> memory = allocate_panels(static_cast<size_t>(elements / 2));
  data_ = {memory, reinterpret_cast<int16_t*>(memory.get())};
  int16_t* to = data_.get();
  for (int64_t first = 0; first < columns; first += width_)
    for (int64_t tap = 0; tap < taps; ++tap)
      for (int64_t pair = 0; pair < pairs(); ++pair)
        for (int64_t c = first; c < first + width_; ++c, to += 2) {
          const bool exists = c < columns;
          const int16_t* from =
              source.weights + c * source.column_step + tap * source.tap_step + 2 * pair * source.depth_step;
          to[0] = exists ? from[0] : int16_t{0};
          to[1] = exists && 2 * pair + 1 < depth ? from[source.depth_step] : int16_t{0};
        }
}

void multiply_integer_rows(const IntegerPanels& weights, const IntegerRows& rows, const int32_t* bias, int32_t* out,
                           int64_t out_step) {
  HWY_DYNAMIC_DISPATCH(MultiplyIntegerRows)(weights, rows, bias, out, out_step);
}

void saturate_pairs(std::span<const PairPlace> places, std::span<const WeightPair> pairs, const PairRows& rows,
                    int32_t* changes, int32_t* marks) {
  HWY_DYNAMIC_DISPATCH(SaturatePairs)(places, pairs, rows, changes, marks);
}

std::vector<int16_t> pair_depthwise(const int16_t* weights, int64_t taps, int64_t channels) {
  std::vector<int16_t> pairs(static_cast<size_t>((taps + 1) / 2 * channels * 2), 0);
  for (int64_t t = 0; t < taps; ++t)
    for (int64_t c = 0; c < channels; ++c)
      pairs[static_cast<size_t>((t / 2 * channels + c) * 2 + t % 2)] = weights[t * channels + c];
  return pairs;
}

void sum_depthwise(const DepthwiseWindows& windows, const int16_t* pairs, int64_t channels, const int32_t* bias,
                   int32_t* sums) {
  HWY_DYNAMIC_DISPATCH(SumDepthwise)(windows, pairs, channels, bias, sums);
}

void requantize(const int32_t* sums, int64_t rows, int64_t columns, const Requantization& to, uint8_t* y) {
  HWY_DYNAMIC_DISPATCH(Requantize)(sums, rows, columns, to, y);
}

}  // namespace tersor::kernels
#endif
