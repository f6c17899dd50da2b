// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "core/kernels/conv.h"
#include "core/kernels/unroll.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/depthwise.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "core/kernels/bounds-inl.h"

#ifndef TERSOR_DEPTHWISE_ONCE
#define TERSOR_DEPTHWISE_ONCE
namespace tersor::kernels {
/// One output row: which taps lie inside, and where they start.
struct DepthwiseRow {
  const float* x;        // the sample's first pixel
  const float* weights;  // [tap][channel]
  int64_t channels;
  int64_t oy;
  ConvAxis rows, columns;
  Epilogue epilogue;
  float* y;  // the output row's first pixel
};
}  // namespace tersor::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace tersor::kernels {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// kPixels neighbouring outputs at one vector of channels: each weight is loaded once for all of them. All taps kx in
// [kx0, kx1) are inside for all pixels.
template <int kPixels, class D>
HWY_INLINE void Outputs(D d, const DepthwiseRow& row, int64_t ox, int64_t kx0, int64_t kx1, int64_t c) {
  using V = hn::Vec<D>;
  V sums[kPixels];
  TERSOR_UNROLL for (int p = 0; p < kPixels; ++p) sums[p] = hn::Zero(d);
  const ConvAxis &rows = row.rows, &columns = row.columns;
  const int64_t pixel_step = columns.stride * row.channels;
  for (int64_t ky = 0; ky < rows.kernel; ++ky) {
    const int64_t iy = row.oy * rows.stride - rows.before + ky * rows.dilation;
    if (iy < 0 || iy >= rows.in) continue;
    const float* in = row.x + (iy * columns.in + ox * columns.stride - columns.before) * row.channels + c;
    const float* w = row.weights + ky * columns.kernel * row.channels + c;
    for (int64_t kx = kx0; kx < kx1; ++kx) {
      const V weight = hn::LoadU(d, w + kx * row.channels);
      const float* at = in + kx * columns.dilation * row.channels;
      TERSOR_UNROLL for (int p = 0; p < kPixels; ++p) sums[p] =
          hn::Add(sums[p], hn::Mul(hn::LoadU(d, at + p * pixel_step), weight));
    }
  }
  const V low = hn::Set(d, row.epilogue.low), high = hn::Set(d, row.epilogue.high);
  TERSOR_UNROLL for (int p = 0; p < kPixels; ++p) {
    V sum = sums[p];
    if (row.epilogue.bias != nullptr) sum = hn::Add(sum, hn::LoadU(d, row.epilogue.bias + c));
    hn::StoreU(Bounded(sum, low, high), d, row.y + (ox + p) * row.channels + c);
  }
}

/// All channels of kPixels neighbouring outputs: what is read lies together, and the weights of all channels stay in
/// the nearest cache.
template <int kPixels>
HWY_INLINE void Pixels(const DepthwiseRow& row, int64_t ox, int64_t kx0, int64_t kx1) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t c = 0;
  for (; c + lanes <= row.channels; c += lanes) Outputs<kPixels>(d, row, ox, kx0, kx1, c);
#if HWY_TARGET != HWY_SCALAR
  const hn::CappedTag<float, 4> four;
  const auto few = static_cast<int64_t>(hn::Lanes(four));
  for (; c + few <= row.channels; c += few) Outputs<kPixels>(four, row, ox, kx0, kx1, c);
#endif
  const hn::CappedTag<float, 1> one;
  for (; c < row.channels; ++c) Outputs<kPixels>(one, row, ox, kx0, kx1, c);
}

void DepthwiseOneRow(const DepthwiseRow& row) {
  const ConvAxis& columns = row.columns;
  int64_t ox = 0;
  while (ox < columns.out) {
    const int64_t left = ox * columns.stride - columns.before;
    int64_t kx0 = 0, kx1 = columns.kernel;
    while (kx0 < kx1 && left + kx0 * columns.dilation < 0) ++kx0;
    while (kx1 > kx0 && left + (kx1 - 1) * columns.dilation >= columns.in) --kx1;
    const int64_t last = left + 3 * columns.stride + (columns.kernel - 1) * columns.dilation;
    if (kx0 == 0 && last < columns.in && ox + 4 <= columns.out) {
      Pixels<4>(row, ox, 0, columns.kernel);
      ox += 4;
    } else {
      Pixels<1>(row, ox, kx0, kx1);
      ++ox;
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace tersor::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tersor::kernels {

HWY_EXPORT(DepthwiseOneRow);

Depthwise::Depthwise(int64_t channels, int64_t kernel_rows, int64_t kernel_columns, const float* weights)
    : channels_(channels), weights_(static_cast<size_t>(channels * kernel_rows * kernel_columns)) {
  const int64_t taps = kernel_rows * kernel_columns;
  for (int64_t c = 0; c < channels; ++c)
    for (int64_t t = 0; t < taps; ++t) weights_[static_cast<size_t>(t * channels + c)] = weights[c * taps + t];
}

void Depthwise::run(const float* x, int64_t batch, const ConvAxis& rows, const ConvAxis& columns,
                    const Epilogue& epilogue, float* y) const {
  for (int64_t n = 0; n < batch; ++n)
    for (int64_t oy = 0; oy < rows.out; ++oy) {
      const DepthwiseRow row{
          x + n * rows.in * columns.in * channels_,         weights_.data(), channels_, oy, rows, columns, epilogue,
          y + (n * rows.out + oy) * columns.out * channels_};
      HWY_DYNAMIC_DISPATCH(DepthwiseOneRow)(row);
    }
}

}  // namespace tersor::kernels
#endif
