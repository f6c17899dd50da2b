// SPDX-License-Identifier: Apache-2.0
#include "core/kernels/multiply_rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/multiply_rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#if defined(__clang__)
#define TERSOR_UNROLL _Pragma("clang loop unroll(full)")
#else
#define TERSOR_UNROLL _Pragma("GCC unroll 16")
#endif

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

HWY_INLINE V Finish(D d, V sum, const float* bias, const TileCall& call) {
  if (bias != nullptr) sum = hn::Add(sum, hn::LoadU(d, bias));
  const V low = hn::Set(d, call.low), high = hn::Set(d, call.high);
  sum = hn::IfThenElse(hn::Lt(sum, low), low, sum);
  return hn::IfThenElse(hn::Gt(sum, high), high, sum);
}

// kRows x two vectors of sums stay in registers. The rows are addressed by one running index off kRows bases.
template <int kRows>
HWY_NOINLINE void Tile(const TileCall& call) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  V left[kRows], right[kRows];
  TERSOR_UNROLL for (int r = 0; r < kRows; ++r) left[r] = right[r] = hn::Zero(d);
  const float* HWY_RESTRICT w = call.panel;
  const float* const* rows = call.rows;
  for (int64_t tap = 0; tap < call.taps; ++tap, rows += call.rows_step) {
    const float* base[kRows];
    TERSOR_UNROLL for (int r = 0; r < kRows; ++r) base[r] = rows[r];
    for (int64_t k = 0; k < call.depth; ++k, w += 2 * lanes) {
      const V wl = hn::Load(d, w), wr = hn::Load(d, w + lanes);
      TERSOR_UNROLL for (int r = 0; r < kRows; ++r) {
        const V x = hn::Set(d, base[r][k]);
        left[r] = hn::Add(left[r], hn::Mul(x, wl));
        right[r] = hn::Add(right[r], hn::Mul(x, wr));
      }
    }
  }
  const bool whole = call.columns == static_cast<int64_t>(2 * lanes);
  TERSOR_UNROLL for (int r = 0; r < kRows; ++r) {
    const V l = Finish(d, left[r], call.bias, call),
            h = Finish(d, right[r], call.bias == nullptr ? nullptr : call.bias + lanes, call);
    float* out = call.out + r * call.out_step;
    if (whole) {
      hn::StoreU(l, d, out);
      hn::StoreU(h, d, out + lanes);
    } else {
      HWY_ALIGN float both[2 * HWY_MAX_BYTES / sizeof(float)];
      hn::Store(l, d, both);
      hn::Store(h, d, both + lanes);
      for (int64_t c = 0; c < call.columns; ++c) out[c] = both[c];
    }
  }
}

int64_t PanelWidth() {
  return static_cast<int64_t>(2 * hn::Lanes(D()));
}

// As many rows as the registers hold without spilling (16 of them, V8's compiler uses 15; 32 of 512 bits, where more
// than 8 rows gained nothing).
#if HWY_TARGET == HWY_WASM || HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
constexpr int kTileRows = 4;
#elif HWY_TARGET <= HWY_AVX3
constexpr int kTileRows = 8;
#else
constexpr int kTileRows = 6;
#endif

void MultiplyRows(const Panels& weights, const Rows& rows, const Epilogue& epilogue, float* out, int64_t out_step) {
  const int64_t width = weights.width();
  TileCall call{nullptr,       nullptr, rows.count, weights.taps(), weights.depth(), nullptr, epilogue.low,
                epilogue.high, nullptr, out_step,   width};
  HWY_ALIGN float padded_bias[2 * HWY_MAX_BYTES / sizeof(float)] = {};
  for (int64_t p = 0; p < weights.count(); ++p) {
    call.panel = weights.panel(p);
    call.columns = HWY_MIN(width, weights.columns() - p * width);
    if (epilogue.bias != nullptr) {
      call.bias = epilogue.bias + p * width;
      if (call.columns < width) {
        for (int64_t c = 0; c < call.columns; ++c) padded_bias[c] = call.bias[c];
        call.bias = padded_bias;
      }
    }
    int64_t r = 0;
    const auto at = [&](int64_t row) {
      call.rows = rows.pointers + row;
      call.out = out + row * out_step + p * width;
    };
    for (; r + kTileRows <= rows.count; r += kTileRows) at(r), Tile<kTileRows>(call);
    if constexpr (kTileRows > 4)
      for (; r + 4 <= rows.count; r += 4) at(r), Tile<4>(call);
    for (; r + 2 <= rows.count; r += 2) at(r), Tile<2>(call);
    for (; r < rows.count; ++r) at(r), Tile<1>(call);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace tersor::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tersor::kernels {

HWY_EXPORT(PanelWidth);
HWY_EXPORT(MultiplyRows);

int64_t panel_width() {
  return HWY_DYNAMIC_DISPATCH(PanelWidth)();
}

void multiply_rows(const Panels& weights, const Rows& rows, const Epilogue& epilogue, float* out, int64_t out_step) {
  HWY_DYNAMIC_DISPATCH(MultiplyRows)(weights, rows, epilogue, out, out_step);
}

}  // namespace tersor::kernels
#endif
