// SPDX-License-Identifier: Apache-2.0
#include "core/kernels/winograd.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/winograd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "core/kernels/bounds-inl.h"

#ifndef TERSOR_WINOGRAD_ONCE
#define TERSOR_WINOGRAD_ONCE
namespace tersor::kernels {
/// A 4 x 4 patch of pixels, row by row, and where its transform goes: place p at to + p * step.
struct PatchCall {
  const float* pixels[16];
  int64_t channels;
  float* to;
  int64_t step;
};

/// The sums of one tile, place p at from + p * step, and where its outputs go; null where the picture ends.
struct TileOutput {
  const float* from;
  int64_t step;
  int64_t channels;
  Epilogue epilogue;
  float* pixels[4];
};
}  // namespace tersor::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace tersor::kernels {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// B' d B, first along the rows, then along the columns; B' = [1 0 -1 0; 0 1 1 0; 0 -1 1 0; 0 1 0 -1].
template <class D>
HWY_INLINE void TransformPatch(D d, const PatchCall& call, int64_t c) {
  hn::Vec<D> rows[4][4];
  for (int j = 0; j < 4; ++j) {
    const auto a = hn::LoadU(d, call.pixels[j] + c), b = hn::LoadU(d, call.pixels[4 + j] + c),
               e = hn::LoadU(d, call.pixels[8 + j] + c), f = hn::LoadU(d, call.pixels[12 + j] + c);
    rows[0][j] = hn::Sub(a, e);
    rows[1][j] = hn::Add(b, e);
    rows[2][j] = hn::Sub(e, b);
    rows[3][j] = hn::Sub(b, f);
  }
  float* to = call.to + c;
  for (int i = 0; i < 4; ++i, to += 4 * call.step) {
    hn::StoreU(hn::Sub(rows[i][0], rows[i][2]), d, to);
    hn::StoreU(hn::Add(rows[i][1], rows[i][2]), d, to + call.step);
    hn::StoreU(hn::Sub(rows[i][2], rows[i][1]), d, to + 2 * call.step);
    hn::StoreU(hn::Sub(rows[i][1], rows[i][3]), d, to + 3 * call.step);
  }
}

// A' m A, first along the rows, then along the columns; A' = [1 1 1 0; 0 1 -1 -1].
template <class D>
HWY_INLINE void TransformSums(D d, const TileOutput& call, int64_t c) {
  hn::Vec<D> rows[2][4];
  for (int j = 0; j < 4; ++j) {
    const float* from = call.from + j * call.step + c;
    const auto a = hn::LoadU(d, from), b = hn::LoadU(d, from + 4 * call.step), e = hn::LoadU(d, from + 8 * call.step),
               f = hn::LoadU(d, from + 12 * call.step);
    rows[0][j] = hn::Add(hn::Add(a, b), e);
    rows[1][j] = hn::Sub(hn::Sub(b, e), f);
  }
  const auto low = hn::Set(d, call.epilogue.low), high = hn::Set(d, call.epilogue.high);
  const auto finish = [&](hn::Vec<D> y, float* to) {
    if (call.epilogue.bias != nullptr) y = hn::Add(y, hn::LoadU(d, call.epilogue.bias + c));
    hn::StoreU(Bounded(y, low, high), d, to + c);
  };
  for (int i = 0; i < 2; ++i) {
    const auto& m = rows[i];
    if (call.pixels[2 * i] != nullptr) finish(hn::Add(hn::Add(m[0], m[1]), m[2]), call.pixels[2 * i]);
    if (call.pixels[2 * i + 1] != nullptr) finish(hn::Sub(hn::Sub(m[1], m[2]), m[3]), call.pixels[2 * i + 1]);
  }
}

void Patch(const PatchCall& call) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t c = 0;
  for (; c + lanes <= call.channels; c += lanes) TransformPatch(d, call, c);
  const hn::CappedTag<float, 1> one;
  for (; c < call.channels; ++c) TransformPatch(one, call, c);
}

void Outputs(const TileOutput& call) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t c = 0;
  for (; c + lanes <= call.channels; c += lanes) TransformSums(d, call, c);
  const hn::CappedTag<float, 1> one;
  for (; c < call.channels; ++c) TransformSums(one, call, c);
}

}  // namespace HWY_NAMESPACE
}  // namespace tersor::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tersor::kernels {

HWY_EXPORT(Patch);
HWY_EXPORT(Outputs);

namespace {

constexpr int64_t kPlaces = 16;

/// Tiles per pass: as many as keep their transforms in cache, and enough to make reading all weights worth it.
int64_t tiles_per_pass(int64_t in_channels, int64_t out_channels) {
  const int64_t floats_of_tile = kPlaces * (in_channels + out_channels);
  return std::clamp<int64_t>((1 << 18) / floats_of_tile / 8 * 8, 24, kRowsPerCall);
}

int64_t padded(int64_t floats) {
  return (floats + 15) / 16 * 16;
}

/// One pass's scratch: transformed patches and sums, [place][tile][channel] each, and a pixel of zeros.
struct Scratch {
  float *patches, *sums, *zeros;

  Scratch(std::span<std::byte> bytes, int64_t tiles, int64_t in_channels, int64_t out_channels)
      : patches(reinterpret_cast<float*>(bytes.data())),
        sums(patches + padded(kPlaces * tiles * in_channels)),
        zeros(sums + padded(kPlaces * tiles * out_channels)) {
    std::fill_n(zeros, in_channels, 0.0f);
  }
};

/// Where tile `index` of a batch lies.
struct Tile {
  int64_t picture, oy, ox;

  Tile(int64_t index, const ConvAxis& rows, const ConvAxis& columns) {
    const int64_t across = (columns.out + 1) / 2, down = (rows.out + 1) / 2;
    picture = index / (across * down);
    oy = index / across % down * 2;
    ox = index % across * 2;
  }
};

constexpr int64_t kKernelsAtOnce = 16;

/// G g G' of up to kKernelsAtOnce 3 x 3 kernels, one after the other, G = [1 0 0; 1/2 1/2 1/2; 1/2 -1/2 1/2; 0 0 1]; in
/// double, rounded once. Place p goes to to + p * step. Side by side, for the compiler's vectors.
void transform_kernels(const float* g, int64_t count, float* to, int64_t step) {
  using Side = double[kKernelsAtOnce];
  const auto halves = [](const Side& a, const Side& b, const Side& c, Side& sum, Side& difference) {
    for (int64_t k = 0; k < kKernelsAtOnce; ++k) {
      sum[k] = (a[k] + b[k] + c[k]) / 2;
      difference[k] = (a[k] - b[k] + c[k]) / 2;
    }
  };
  Side rows[4][3] = {}, second[3] = {}, sums, differences;
  for (int64_t k = 0; k < count; ++k)
    for (int j = 0; j < 3; ++j) {
      rows[0][j][k] = g[9 * k + j];
      second[j][k] = g[9 * k + 3 + j];
      rows[3][j][k] = g[9 * k + 6 + j];
    }
  for (int j = 0; j < 3; ++j) halves(rows[0][j], second[j], rows[3][j], rows[1][j], rows[2][j]);
  const auto store = [&](int place, const Side& values) {
    float* const at = to + place * step;
    for (int64_t k = 0; k < count; ++k) at[k] = static_cast<float>(values[k]);
  };
  for (int i = 0; i < 4; ++i) {
    halves(rows[i][0], rows[i][1], rows[i][2], sums, differences);
    store(4 * i, rows[i][0]);
    store(4 * i + 1, sums);
    store(4 * i + 2, differences);
    store(4 * i + 3, rows[i][2]);
  }
}

}  // namespace

bool Winograd::suits(const ConvWeights& shape) {
  return shape.unit_steps && shape.groups == 1 && shape.kernel_rows == 3 && shape.kernel_columns == 3 &&
         shape.in_channels >= 32 && shape.out_channels >= 32;
}

Winograd::Winograd(int64_t in_channels, int64_t out_channels, const float* weights)
    : in_channels_(in_channels), out_channels_(out_channels) {
  const int64_t count = in_channels * out_channels;
  std::vector<float> transformed(static_cast<size_t>(kPlaces * count));
  for (int64_t k = 0; k < count; k += kKernelsAtOnce)
    transform_kernels(weights + 9 * k, std::min(kKernelsAtOnce, count - k), transformed.data() + k, count);
  for (int64_t p = 0; p < kPlaces; ++p)
    places_.emplace_back(out_channels, 1, in_channels,
                         Panels::Source{transformed.data() + p * count, in_channels, 0, 1});
}

int64_t Winograd::scratch_bytes(int64_t in_channels, int64_t out_channels) {
  const int64_t tiles = tiles_per_pass(in_channels, out_channels);
  return 4 * (padded(kPlaces * tiles * in_channels) + padded(kPlaces * tiles * out_channels) + padded(in_channels));
}

void Winograd::run(const float* x, int64_t batch, const ConvAxis& rows, const ConvAxis& columns,
                   const Epilogue& epilogue, std::span<std::byte> scratch, float* y) const {
  const int64_t pass = tiles_per_pass(in_channels_, out_channels_);
  const Scratch parts(scratch, pass, in_channels_, out_channels_);
  const int64_t total = batch * ((rows.out + 1) / 2) * ((columns.out + 1) / 2);
  for (int64_t first = 0; first < total; first += pass) {
    const int64_t count = std::min(pass, total - first);
    for (int64_t t = 0; t < count; ++t) {
      const Tile tile(first + t, rows, columns);
      PatchCall call{{}, in_channels_, parts.patches + t * in_channels_, count * in_channels_};
      for (int64_t p = 0; p < kPlaces; ++p) {
        const int64_t iy = tile.oy - rows.before + p / 4, ix = tile.ox - columns.before + p % 4;
        const bool inside = iy >= 0 && iy < rows.in && ix >= 0 && ix < columns.in;
        call.pixels[p] = inside ? x + ((tile.picture * rows.in + iy) * columns.in + ix) * in_channels_ : parts.zeros;
      }
      HWY_DYNAMIC_DISPATCH(Patch)(call);
    }
    const float* pointers[kRowsPerCall];
    for (int64_t p = 0; p < kPlaces; ++p) {
      for (int64_t t = 0; t < count; ++t) pointers[t] = parts.patches + (p * count + t) * in_channels_;
      multiply_rows(places_[static_cast<size_t>(p)], {pointers, count}, {}, parts.sums + p * count * out_channels_,
                    out_channels_);
    }
    for (int64_t t = 0; t < count; ++t) {
      const Tile tile(first + t, rows, columns);
      TileOutput call{parts.sums + t * out_channels_, count * out_channels_, out_channels_, epilogue, {}};
      for (int64_t p = 0; p < 4; ++p) {
        const int64_t oy = tile.oy + p / 2, ox = tile.ox + p % 2;
        if (oy < rows.out && ox < columns.out)
          call.pixels[p] = y + ((tile.picture * rows.out + oy) * columns.out + ox) * out_channels_;
      }
      HWY_DYNAMIC_DISPATCH(Outputs)(call);
    }
  }
}

}  // namespace tersor::kernels
#endif
