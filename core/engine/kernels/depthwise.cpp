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
/// One output row, and the kernel rows that lie inside for it.
struct DepthwiseRow {
  const float* x;        // the first pixel of the input row that the first of them reads
  const float* weights;  // [tap][channel], from the first of them on
  int64_t channels;
  int64_t kernel_rows, down;  // numbers from the input row of one to that of the next
  ConvAxis columns;
  Epilogue epilogue;
  float* y;  // the output row's first pixel
};
}  // namespace tersor::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace tersor::kernels {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// What is added to the sums of channels from c on. Without a bias the zero that leaves every sum as it is, -0 too.
template <class D>
HWY_INLINE hn::Vec<D> Bias(D d, const DepthwiseRow& row, int64_t c) {
  return row.epilogue.bias == nullptr ? hn::Set(d, -0.0f) : hn::LoadU(d, row.epilogue.bias + c);
}

/// Any window: one vector of channels of one output, of whose taps those from kx0 to kx1 are inside.
struct AnyWindow {
  static constexpr int64_t kPixels = 1;
  int64_t kx0, kx1;

  AnyWindow any() const { return *this; }

  template <class D>
  HWY_INLINE void outputs(D d, const DepthwiseRow& row, const float* x, int64_t c, float* y) const {
    const int64_t step = row.columns.dilation * row.channels;
    const float* w = row.weights + c;
    auto sum = hn::Zero(d);
    for (int64_t ky = 0; ky < row.kernel_rows; ++ky, x += row.down, w += row.columns.kernel * row.channels)
      for (int64_t kx = kx0; kx < kx1; ++kx)
        sum = hn::Add(sum, hn::Mul(hn::LoadU(d, x + kx * step + c), hn::LoadU(d, w + kx * row.channels)));
    hn::StoreU(Bounded(hn::Add(sum, Bias(d, row, c)), hn::Set(d, row.epilogue.low), hn::Set(d, row.epilogue.high)), d,
               y + c);
  }
};

/// Neighbouring outputs of windows of kTaps columns that lie inside: each weight is loaded once for all, and each
/// number once for all windows that hold it.
template <int kOutputs, int kTaps, int kStride>
struct InnerWindows {
  static constexpr int64_t kPixels = kOutputs;

  AnyWindow any() const { return {0, kTaps}; }

  template <class D>
  HWY_INLINE void outputs(D d, const DepthwiseRow& row, const float* x, int64_t c, float* y) const {
    using V = hn::Vec<D>;
    const int64_t channels = row.channels;
    const float* w = row.weights + c;
    V sums[kOutputs];
    TERSOR_UNROLL for (int p = 0; p < kOutputs; ++p) sums[p] = hn::Zero(d);
    x += c;
    for (int64_t ky = 0; ky < row.kernel_rows; ++ky, x += row.down) {
      V weights[kTaps];
      TERSOR_UNROLL for (int k = 0; k < kTaps; ++k, w += channels) weights[k] = hn::LoadU(d, w);
      const float* at = x;
      TERSOR_UNROLL for (int i = 0; i < (kOutputs - 1) * kStride + kTaps; ++i, at += channels) {
        const V value = hn::LoadU(d, at);
        TERSOR_UNROLL for (int p = 0; p < kOutputs; ++p) {
          const int k = i - p * kStride;
          if (k >= 0 && k < kTaps) sums[p] = hn::Add(sums[p], hn::Mul(value, weights[k]));
        }
      }
    }
    const V bias = Bias(d, row, c), low = hn::Set(d, row.epilogue.low), high = hn::Set(d, row.epilogue.high);
    y += c;
    TERSOR_UNROLL for (int p = 0; p < kOutputs; ++p, y += channels)
        hn::StoreU(Bounded(hn::Add(sums[p], bias), low, high), d, y);
  }
};

/// Channels from c on, fewer than a vector holds; not inlined, for its variables would take registers elsewhere.
HWY_NOINLINE void LastChannels(const DepthwiseRow& row, const float* x, int64_t c, const AnyWindow& window, float* y) {
  const hn::CappedTag<float, 1> one;
  for (; c < row.channels; ++c) window.outputs(one, row, x, c, y);
}

/// All channels: what is read lies together, and the weights of all channels stay in the nearest cache.
template <class Windows>
HWY_INLINE void Pixels(const DepthwiseRow& of_all, int64_t ox, const Windows& windows) {
  const DepthwiseRow row = of_all;  // nothing that is stored can change it
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const float* x = row.x + (ox * row.columns.stride - row.columns.before) * row.channels;
  float* y = row.y + ox * row.channels;
  int64_t c = 0;
  for (; c + lanes <= row.channels; c += lanes) windows.outputs(d, row, x, c, y);
#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_WASM  // where vectors are longer than these
  const hn::CappedTag<float, 4> four;
  const auto few = static_cast<int64_t>(hn::Lanes(four));
  for (; c + few <= row.channels; c += few) windows.outputs(four, row, x, c, y);
#endif
  if (c == row.channels) return;
  for (int64_t p = 0; p < Windows::kPixels; ++p)
    LastChannels(of_all, x + p * row.columns.stride * row.channels, c, windows.any(), y + p * row.channels);
}

/// Outputs from `ox` on up to `end`, whose windows lie inside, as far as whole groups of them go.
template <int kTaps, int kStride>
int64_t Inner(const DepthwiseRow& row, int64_t ox, int64_t end) {
  for (; ox + 4 <= end; ox += 4) Pixels(row, ox, InnerWindows<4, kTaps, kStride>());
  if constexpr (kTaps == 3)
    for (; ox + 2 <= end; ox += 2) Pixels(row, ox, InnerWindows<2, kTaps, kStride>());
  return ox;
}

void DepthwiseOneRow(const DepthwiseRow& row) {
  const ConvAxis& columns = row.columns;
  const int64_t reach = (columns.kernel - 1) * columns.dilation;
  // Outputs whose windows begin and end inside: from the first on, up to the second.
  const int64_t begin = HWY_MIN(columns.out, (columns.before + columns.stride - 1) / columns.stride);
  const int64_t room = columns.in - 1 + columns.before - reach;
  const int64_t end = room < 0 ? 0 : HWY_MIN(columns.out, room / columns.stride + 1);
  for (int64_t ox = 0; ox < columns.out;) {
    if (ox == begin && begin < end && columns.dilation == 1) {
      if (columns.kernel == 3 && columns.stride == 1) ox = Inner<3, 1>(row, ox, end);
      if (columns.kernel == 3 && columns.stride == 2) ox = Inner<3, 2>(row, ox, end);
      if (columns.kernel == 5 && columns.stride == 1) ox = Inner<5, 1>(row, ox, end);
      if (columns.kernel == 5 && columns.stride == 2) ox = Inner<5, 2>(row, ox, end);
      if (ox == columns.out) return;
    }
    const int64_t left = ox * columns.stride - columns.before;
    int64_t kx0 = 0, kx1 = columns.kernel;
    while (kx0 < kx1 && left + kx0 * columns.dilation < 0) ++kx0;
    while (kx1 > kx0 && left + (kx1 - 1) * columns.dilation >= columns.in) --kx1;
    Pixels(row, ox, AnyWindow{kx0, kx1});
    ++ox;
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
      const int64_t top = oy * rows.stride - rows.before;
      int64_t ky0 = 0, ky1 = rows.kernel;
      while (ky0 < ky1 && top + ky0 * rows.dilation < 0) ++ky0;
      while (ky1 > ky0 && top + (ky1 - 1) * rows.dilation >= rows.in) --ky1;
      const int64_t first = n * rows.in + top + ky0 * rows.dilation;
      const DepthwiseRow row{x + first * columns.in * channels_,
                             weights_.data() + ky0 * columns.kernel * channels_,
                             channels_,
                             ky1 - ky0,
                             rows.dilation * columns.in * channels_,
                             columns,
                             epilogue,
                             y + (n * rows.out + oy) * columns.out * channels_};
      HWY_DYNAMIC_DISPATCH(DepthwiseOneRow)(row);
    }
}

}  // namespace tersor::kernels
#endif
