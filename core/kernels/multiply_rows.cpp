// SPDX-License-Identifier: Apache-2.0
#include "core/kernels/multiply_rows.h"

#include "core/kernels/unroll.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/multiply_rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "core/kernels/bounds-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tersor::kernels {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

struct TileCall {
  const float* panel;
  const float* const* rows;  // of the tile's first row, tap 0
  int64_t rows_step;         // pointers from one tap to the next
  int64_t taps, depth;
  const float* bias;  // of the panel's first column, padded to the panel's width, or null
  float low, high;
  float* out;
  int64_t out_step;
  int64_t columns;  // columns of the panel that exist
};

// The first `count` lanes; none where it is not positive.
HWY_INLINE void StoreSome(D d, V y, int64_t count, float* out) {
  HWY_ALIGN float lanes[HWY_MAX_BYTES / sizeof(float)];
  hn::Store(y, d, lanes);
  for (int64_t c = 0; c < HWY_MIN(count, static_cast<int64_t>(hn::Lanes(d))); ++c) out[c] = lanes[c];
}

// kRows x kVectors sums stay in registers, `tiles` times one below the other. The rows are addressed by one running
// index off kRows bases.
template <int kRows, int kVectors>
HWY_NOINLINE void Tiles(const TileCall& call, int64_t tiles) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  const bool whole = call.columns == static_cast<int64_t>(kVectors * lanes);
  const int64_t taps = call.taps, depth = call.depth, rows_step = call.rows_step, out_step = call.out_step;
  const float* const* first_rows = call.rows;
  float* out = call.out;
  for (; tiles > 0; --tiles, first_rows += kRows, out += kRows * out_step) {
    V sums[kRows][kVectors];
    TERSOR_UNROLL for (int r = 0; r < kRows; ++r) {
      TERSOR_UNROLL for (int v = 0; v < kVectors; ++v) sums[r][v] = hn::Zero(d);
    }
    // Of long sums what has been added up already; in memory, since most sums are short and registers few.
    HWY_ALIGN float totals[kRows * kVectors * HWY_MAX_BYTES / sizeof(float)];
    bool has_totals = false;
    const float* HWY_RESTRICT w = call.panel;
    const float* const* rows = first_rows;
    int64_t summed = 0;
    for (int64_t tap = 0; tap < taps; ++tap, rows += rows_step) {
      const float* base[kRows];
      TERSOR_UNROLL for (int r = 0; r < kRows; ++r) base[r] = rows[r];
      for (int64_t first = 0; first < depth; first += kSumLength) {
        const int64_t last = HWY_MIN(depth, first + kSumLength);
        for (int64_t k = first; k < last; ++k, w += kVectors * lanes) {
          V weights[kVectors];
          TERSOR_UNROLL for (int v = 0; v < kVectors; ++v) weights[v] = hn::Load(d, w + static_cast<size_t>(v) * lanes);
          TERSOR_UNROLL for (int r = 0; r < kRows; ++r) {
            const V x = hn::Set(d, base[r][k]);
            TERSOR_UNROLL for (int v = 0; v < kVectors; ++v) sums[r][v] = hn::Add(sums[r][v], hn::Mul(x, weights[v]));
          }
        }
        summed += last - first;
        if (summed < kSumLength) continue;
        summed = 0;
        TERSOR_UNROLL for (int r = 0; r < kRows; ++r) {
          TERSOR_UNROLL for (int v = 0; v < kVectors; ++v) {
            float* const total = totals + static_cast<size_t>(r * kVectors + v) * lanes;
            hn::Store(has_totals ? hn::Add(hn::Load(d, total), sums[r][v]) : sums[r][v], d, total);
            sums[r][v] = hn::Zero(d);
          }
        }
        has_totals = true;
      }
    }
    if (has_totals) {
      TERSOR_UNROLL for (int r = 0; r < kRows; ++r) {
        TERSOR_UNROLL for (int v = 0; v < kVectors; ++v) sums[r][v] =
            hn::Add(hn::Load(d, totals + static_cast<size_t>(r * kVectors + v) * lanes), sums[r][v]);
      }
    }
    const V low = hn::Set(d, call.low), high = hn::Set(d, call.high);
    TERSOR_UNROLL for (int v = 0; v < kVectors; ++v) {
      const size_t at = static_cast<size_t>(v) * lanes;
      const V bias = call.bias == nullptr ? hn::Zero(d) : hn::LoadU(d, call.bias + at);
      float* y = out + at;
      TERSOR_UNROLL for (int r = 0; r < kRows; ++r, y += out_step) {
        const V bounded = Bounded(hn::Add(sums[r][v], bias), low, high);
        if (whole)
          hn::StoreU(bounded, d, y);
        else
          StoreSome(d, bounded, call.columns - static_cast<int64_t>(at), y);
      }
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

// All rows of one panel; `first` has the place of row 0.
template <int kMostRows, int kVectors>
void PanelRows(const TileCall& first, int64_t count) {
  TileCall call = first;
  int64_t left = count;
  const auto next = [&](int64_t rows) {
    left -= rows;
    call.rows += rows;
    call.out += rows * call.out_step;
  };
  // One row more than tiles hold, as in 7 x 7 pictures, would read the weights once more for itself alone.
  constexpr int kHalf = kMostRows / 2 + 1;
  const bool one_more = left > kMostRows && left % kMostRows == 1;
  const int64_t tiles = left / kMostRows - (one_more ? 1 : 0);
  Tiles<kMostRows, kVectors>(call, tiles), next(tiles * kMostRows);
  if (one_more) Tiles<kHalf, kVectors>(call, 1), next(kHalf);
  if constexpr (kMostRows > 4)
    if (left >= 4) Tiles<4, kVectors>(call, left / 4), next(left / 4 * 4);
  if (left >= 2) Tiles<2, kVectors>(call, left / 2), next(left / 2 * 2);
  if (left == 1) Tiles<1, kVectors>(call, 1);
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
    V4 y = hn::Add(totals[f], sums[f]);
    if (call.bias != nullptr) y = hn::Add(y, hn::Set(d, *call.bias));
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

void OnePanel(const Panels& weights, const TileCall& call, int64_t count) {
#if HWY_TARGET != HWY_SCALAR
  if (weights.single_columns()) return ColumnRows(call, count);
#endif
  if (weights.width() == VectorWidth())
    PanelRows<kRowsOfOne, 1>(call, count);
  else
    PanelRows<kRowsOfTwo, 2>(call, count);
}

void MultiplyRows(const Panels& weights, const Rows& rows, const Epilogue& epilogue, float* out, int64_t out_step) {
  const int64_t width = weights.width();
  TileCall call{nullptr,       rows.pointers, rows.count, weights.taps(), weights.depth(), nullptr, epilogue.low,
                epilogue.high, nullptr,       out_step,   width};
  HWY_ALIGN float padded_bias[2 * HWY_MAX_BYTES / sizeof(float)] = {};
  for (int64_t p = 0; p < weights.count(); ++p) {
    call.panel = weights.panel(p);
    call.columns = HWY_MIN(width, weights.columns() - p * width);
    call.out = out + p * width;
    if (epilogue.bias != nullptr) {
      call.bias = epilogue.bias + p * width;
      if (call.columns < width) {
        for (int64_t c = 0; c < call.columns; ++c) padded_bias[c] = call.bias[c];
        call.bias = padded_bias;
      }
    }
    OnePanel(weights, call, rows.count);
  }
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
