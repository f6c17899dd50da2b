// SPDX-License-Identifier: Apache-2.0
#include "core/kernels/multiply_rows.h"

#include <atomic>

#include "core/kernels/unroll.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/multiply_rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "core/kernels/along_rows-inl.h"
#include "core/kernels/bounds-inl.h"
#include "core/kernels/by_panels-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tersor::kernels {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

// Products that are added one by one: of tap `tap` those from `first` on, of those after it all, of `last_tap` those
// before `last`.
struct Stretch {
  int64_t tap, first, last_tap, last;
};

// What follows `former`, of which only the end is read; see kSumLength.
Stretch NextStretch(const Stretch& former, int64_t taps, int64_t depth) {
  Stretch next{former.last_tap, former.last, former.last_tap, former.last};
  if (next.first == depth && next.tap + 1 < taps) next = {next.tap + 1, 0, next.tap + 1, 0};
  for (int64_t products = 0; products < kSumLength;) {
    if (next.last == depth) {
      if (next.last_tap + 1 == taps) break;
      ++next.last_tap, next.last = 0;
    }
    const int64_t count = HWY_MIN(depth - next.last, kSumLength);
    products += count, next.last += count;
  }
  return next;
}

struct TileCall {
  const float* panel;
  const float* const* rows;  // of the tile's first row, tap 0
  int64_t rows_step;         // pointers from one tap to the next
  int64_t taps, depth;
  Stretch stretch;
  const float* totals;  // of the stretches before, as wide as the panel; null in the first
  const float* bias;    // of the panel's first column, padded to the panel's width
  float low, high;
  float* out;  // room for the panel's width
  int64_t out_step;
};

// A product of AVX-512 takes a number from memory for all its lanes; a broadcast before it costs Zen 4 a third of its
// rate.
constexpr bool kLoadsInProducts = HWY_TARGET <= HWY_AVX3;

// kRows x kVectors sums stay in registers, `tiles` times one below the other.
template <int kRows, int kVectors, bool kHasTotals>
HWY_NOINLINE void Tiles(const TileCall& call, int64_t tiles) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  const auto [first_tap, first, last_tap, last] = call.stretch;
  const int64_t rows_step = call.rows_step, depth = call.depth, out_step = call.out_step;
  const float *const panel = call.panel + (first_tap * depth + first) * static_cast<int64_t>(kVectors * lanes),
                     *const bias = call.bias;
  const float* const* first_rows = call.rows + first_tap * rows_step;
  const float* totals = call.totals;
  float* out = call.out;
  for (; tiles > 0; --tiles, first_rows += kRows, out += kRows * out_step) {
    V sums[kRows][kVectors];
    TERSOR_UNROLL for (int r = 0; r < kRows; ++r) {
      TERSOR_UNROLL for (int v = 0; v < kVectors; ++v) sums[r][v] = hn::Zero(d);
    }
    const float* w = panel;
    const float* const* rows = first_rows;
    int64_t k = first;
    for (int64_t tap = first_tap; tap <= last_tap; ++tap, rows += rows_step, k = 0) {
      const auto add = [&](const auto& numbers, int64_t at, const float* HWY_RESTRICT of_all) HWY_ATTR {
        V weights[kVectors];
        TERSOR_UNROLL for (int v = 0; v < kVectors; ++v) {
          weights[v] = hn::Load(d, of_all + static_cast<size_t>(v) * lanes);
        }
        if constexpr (kLoadsInProducts) {
          TERSOR_UNROLL for (int v = 0; v < kVectors; ++v) {
            TERSOR_UNROLL for (int r = 0; r < kRows; ++r) sums[r][v] =
                hn::Add(sums[r][v], hn::Mul(hn::Set(d, numbers[r][at]), weights[v]));
            std::atomic_signal_fence(std::memory_order_seq_cst);  // no number is kept for the next vector
          }
        } else {
          TERSOR_UNROLL for (int r = 0; r < kRows; ++r) {
            const V x = hn::Set(d, numbers[r][at]);
            TERSOR_UNROLL for (int v = 0; v < kVectors; ++v) sums[r][v] = hn::Add(sums[r][v], hn::Mul(x, weights[v]));
          }
        }
      };
      const float* base[kRows];
      TERSOR_UNROLL for (int r = 0; r < kRows; ++r) base[r] = rows[r];
      w = AlongRows<1>(base, k, tap == last_tap ? last : depth, w, kVectors * lanes, add);
    }
    if constexpr (kHasTotals) {
      TERSOR_UNROLL for (int r = 0; r < kRows; ++r) {
        TERSOR_UNROLL for (int v = 0; v < kVectors; ++v, totals += lanes) sums[r][v] =
            hn::Add(hn::Load(d, totals), sums[r][v]);
      }
    }
    const V low = hn::Set(d, call.low), high = hn::Set(d, call.high);
    TERSOR_UNROLL for (int v = 0; v < kVectors; ++v) {
      const size_t at = static_cast<size_t>(v) * lanes;
      const V term = hn::LoadU(d, bias + at);
      float* y = out + at;
      TERSOR_UNROLL for (int r = 0; r < kRows; ++r, y += out_step)
          hn::StoreU(Bounded(hn::Add(sums[r][v], term), low, high), d, y);
    }
  }
}

int64_t VectorWidth() {
  return static_cast<int64_t>(hn::Lanes(D()));
}

// As many rows as the registers hold without spilling: V8 uses 15 of 16; of the 32 of AVX-512 more gained nothing.
#if HWY_TARGET == HWY_WASM || HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
constexpr int kRowsOfOne = 6, kRowsOfTwo = 4;
#elif HWY_TARGET <= HWY_AVX3
constexpr int kRowsOfOne = 12, kRowsOfTwo = 8;
#else
constexpr int kRowsOfOne = 8, kRowsOfTwo = 6;
#endif

// A stretch of the sums of all rows of one panel; `first` has the place of row 0.
template <int kMostRows, int kVectors, bool kHasTotals>
void PanelRows(const TileCall& first, int64_t count) {
  TileCall call = first;
  int64_t left = count;
  const auto next = [&](int64_t rows) {
    left -= rows;
    call.rows += rows;
    if (kHasTotals) call.totals += rows * kVectors * static_cast<int64_t>(hn::Lanes(D()));
    call.out += rows * call.out_step;
  };
  // One row more than tiles hold, as in 7 x 7 pictures, would read the weights once more for itself alone.
  constexpr int kHalf = kMostRows / 2 + 1;
  const bool one_more = left > kMostRows && left % kMostRows == 1;
  const int64_t tiles = left / kMostRows - (one_more ? 1 : 0);
  Tiles<kMostRows, kVectors, kHasTotals>(call, tiles), next(tiles * kMostRows);
  if (one_more) Tiles<kHalf, kVectors, kHasTotals>(call, 1), next(kHalf);
  if constexpr (kMostRows > 4)
    if (left >= 4) Tiles<4, kVectors, kHasTotals>(call, left / 4), next(left / 4 * 4);
  if (left >= 2) Tiles<2, kVectors, kHasTotals>(call, left / 2), next(left / 2 * 2);
  if (left == 1) Tiles<1, kVectors, kHasTotals>(call, 1);
}

template <int kMostRows, int kVectors>
void StretchOfRows(const TileCall& call, int64_t count) {
  if (call.totals == nullptr)
    PanelRows<kMostRows, kVectors, false>(call, count);
  else
    PanelRows<kMostRows, kVectors, true>(call, count);
}

#if HWY_TARGET != HWY_SCALAR  // there a column is a vector

// Four rows to a vector, whatever its length could be: four numbers of each are loaded and turned.
using Four = hn::CappedTag<float, 4>;
using V4 = hn::Vec<Four>;

HWY_INLINE void Turn(Four d, const float* const* base, int64_t k, V4 (&columns)[4]) {
  const V4 a = hn::LoadU(d, base[0] + k), b = hn::LoadU(d, base[1] + k), c = hn::LoadU(d, base[2] + k),
           e = hn::LoadU(d, base[3] + k);
  const V4 ab_low = hn::InterleaveLower(d, a, b), ce_low = hn::InterleaveLower(d, c, e),
           ab_high = hn::InterleaveUpper(d, a, b), ce_high = hn::InterleaveUpper(d, c, e);
  columns[0] = hn::ConcatLowerLower(d, ce_low, ab_low);
  columns[1] = hn::ConcatUpperUpper(d, ce_low, ab_low);
  columns[2] = hn::ConcatLowerLower(d, ce_high, ab_high);
  columns[3] = hn::ConcatUpperUpper(d, ce_high, ab_high);
}

// One column of 4 x kFours rows; sums as Tile() does. What of the rows is more than `count` repeats the last.
template <int kFours>
HWY_NOINLINE void ColumnTile(const TileCall& call, int64_t count) {
  const Four d;
  V4 sums[kFours], totals[kFours];
  TERSOR_UNROLL for (int f = 0; f < kFours; ++f) sums[f] = totals[f] = hn::Zero(d);
  const float* HWY_RESTRICT w = call.panel;
  const float* const* rows = call.rows;
  int64_t summed = 0;
  for (int64_t tap = 0; tap < call.taps; ++tap, rows += call.rows_step) {
    const float* base[4 * kFours];
    for (int r = 0; r < 4 * kFours; ++r) base[r] = rows[HWY_MIN(r, static_cast<int>(count) - 1)];
    for (int64_t first = 0; first < call.depth; first += kSumLength) {
      const int64_t last = HWY_MIN(call.depth, first + kSumLength);
      int64_t k = first;
      for (; k + 4 <= last; k += 4) {
        TERSOR_UNROLL for (int f = 0; f < kFours; ++f) {
          V4 columns[4];
          Turn(d, base + 4 * f, k, columns);
          TERSOR_UNROLL for (int j = 0; j < 4; ++j) sums[f] =
              hn::Add(sums[f], hn::Mul(columns[j], hn::Set(d, w[k + j])));
        }
      }
      for (; k < last; ++k) {
        TERSOR_UNROLL for (int f = 0; f < kFours; ++f) {
          HWY_ALIGN const float x[4] = {base[4 * f][k], base[4 * f + 1][k], base[4 * f + 2][k], base[4 * f + 3][k]};
          sums[f] = hn::Add(sums[f], hn::Mul(hn::Load(d, x), hn::Set(d, w[k])));
        }
      }
      summed += last - first;
      if (summed < kSumLength) continue;
      summed = 0;
      TERSOR_UNROLL for (int f = 0; f < kFours; ++f) {
        totals[f] = hn::Add(totals[f], sums[f]);
        sums[f] = hn::Zero(d);
      }
    }
    w += call.depth;
  }
  TERSOR_UNROLL for (int f = 0; f < kFours; ++f) {
    const V4 y = hn::Add(hn::Add(totals[f], sums[f]), hn::Set(d, *call.bias));
    HWY_ALIGN float lanes[4];
    hn::Store(Bounded(y, hn::Set(d, call.low), hn::Set(d, call.high)), d, lanes);
    for (int64_t r = 4 * f; r < HWY_MIN(count, 4 * (f + 1)); ++r) call.out[r * call.out_step] = lanes[r - 4 * f];
  }
}

void ColumnRows(const TileCall& first, int64_t count) {
  constexpr int64_t kMost = 16;
  TileCall call = first;
  for (int64_t r = 0; r < count; r += kMost, call.rows += kMost, call.out += kMost * call.out_step) {
    if (count - r > kMost / 4)
      ColumnTile<4>(call, HWY_MIN(count - r, kMost));
    else
      ColumnTile<1>(call, count - r);
  }
}

#endif

// One panel of kRowsPerCall rows at most.
void OnePanel(const Panels& weights, const TileCall& whole, int64_t count) {
#if HWY_TARGET != HWY_SCALAR
  if (weights.single_columns()) return ColumnRows(whole, count);
#endif
  HWY_ALIGN float totals[kRowsPerCall * kMostWidth];
  const Epilogue none;
  TileCall call = whole;
  for (bool ends = false; !ends; call.totals = totals) {
    call.stretch = NextStretch(call.stretch, whole.taps, whole.depth);
    ends = call.stretch.last_tap + 1 >= whole.taps && call.stretch.last == whole.depth;
    call.bias = ends ? whole.bias : kNoBias<float>;
    call.low = ends ? whole.low : none.low, call.high = ends ? whole.high : none.high;
    call.out = ends ? whole.out : totals, call.out_step = ends ? whole.out_step : weights.width();
    if (weights.width() == VectorWidth())
      StretchOfRows<kRowsOfOne, 1>(call, count);
    else
      StretchOfRows<kRowsOfTwo, 2>(call, count);
  }
}

void MultiplyRows(const Panels& weights, const Rows& rows, const Epilogue& epilogue, float* out, int64_t out_step) {
  TileCall all{};
  all.rows = rows.pointers, all.rows_step = rows.count;
  all.taps = weights.taps(), all.depth = weights.depth();
  all.bias = epilogue.bias, all.low = epilogue.low, all.high = epilogue.high;
  all.out = out, all.out_step = out_step;
  ByPanels(weights, all, rows.count, [&](const TileCall& call, int64_t count) { OnePanel(weights, call, count); });
}

}  // namespace HWY_NAMESPACE
}  // namespace tersor::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tersor::kernels {

HWY_EXPORT(VectorWidth);
HWY_EXPORT(MultiplyRows);

int64_t vector_width() {
  return HWY_DYNAMIC_DISPATCH(VectorWidth)();
}

void multiply_rows(const Panels& weights, const Rows& rows, const Epilogue& epilogue, float* out, int64_t out_step) {
  HWY_DYNAMIC_DISPATCH(MultiplyRows)(weights, rows, epilogue, out, out_step);
}

}  // namespace tersor::kernels
#endif
