// SPDX-License-Identifier: Apache-2.0
#include "core/simulate/integer_conv.h"

#include <algorithm>

namespace tersor::simulate {

namespace {

int32_t dot(const int16_t* a, const int16_t* b, int64_t count) {
  int32_t sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += static_cast<int32_t>(a[i]) * b[i];
  return sum;
}

bool is_depthwise(const ConvGeometry& g) {
  return g.groups == g.in_channels && g.out_channels == g.in_channels && g.groups > 1;
}

void run_depthwise(const ConvGeometry& g, const int16_t* weights, const int16_t* padded, int64_t padded_w,
                   int64_t out_h, int64_t out_w, int32_t* sums) {
  const int64_t channels = g.in_channels;
  for (int64_t oh = 0; oh < out_h; ++oh)
    for (int64_t ow = 0; ow < out_w; ++ow) {
      int32_t* out = sums + (oh * out_w + ow) * channels;
      std::fill(out, out + channels, 0);
      for (int64_t kh = 0; kh < g.kernel_h; ++kh)
        for (int64_t kw = 0; kw < g.kernel_w; ++kw) {
          const int16_t* in =
              padded +
              ((oh * g.stride_h + kh * g.dilation_h) * padded_w + ow * g.stride_w + kw * g.dilation_w) * channels;
          const int16_t* w = weights + (kh * g.kernel_w + kw) * channels;
          for (int64_t c = 0; c < channels; ++c) out[c] += static_cast<int32_t>(in[c]) * w[c];
        }
    }
}

void run_grouped(const ConvGeometry& g, const int16_t* weights, const int16_t* padded, int64_t padded_w, int64_t out_h,
                 int64_t out_w, int32_t* sums) {
  const int64_t channels = g.in_channels / g.groups, per_group = g.out_channels / g.groups;
  // Without groups and dilation a kernel row is one run of kernel_w * channels numbers.
  const bool whole_rows = g.groups == 1 && g.dilation_w == 1;
  const int64_t run_length = whole_rows ? g.kernel_w * channels : channels, runs = whole_rows ? 1 : g.kernel_w;
  for (int64_t oh = 0; oh < out_h; ++oh)
    for (int64_t ow = 0; ow < out_w; ++ow) {
      int32_t* out = sums + (oh * out_w + ow) * g.out_channels;
      for (int64_t o = 0; o < g.out_channels; ++o) {
        const int16_t* w = weights + o * g.kernel_h * g.kernel_w * channels;
        int32_t sum = 0;
        for (int64_t kh = 0; kh < g.kernel_h; ++kh)
          for (int64_t r = 0; r < runs; ++r, w += run_length) {
            const int64_t place = (oh * g.stride_h + kh * g.dilation_h) * padded_w + ow * g.stride_w + r * g.dilation_w;
            sum += dot(padded + place * g.in_channels + (o / per_group) * channels, w, run_length);
          }
        out[o] = sum;
      }
    }
}

}  // namespace

IntegerConv::IntegerConv(const ConvGeometry& geometry, std::span<const int16_t> weights) : weights_(weights.size()) {
  const int64_t taps = geometry.kernel_h * geometry.kernel_w, channels = geometry.in_channels / geometry.groups;
  for (int64_t o = 0; o < geometry.out_channels; ++o)
    for (int64_t c = 0; c < channels; ++c)
      for (int64_t t = 0; t < taps; ++t) {
        const int64_t to = is_depthwise(geometry) ? t * geometry.out_channels + o : (o * taps + t) * channels + c;
        weights_[static_cast<size_t>(to)] = weights[static_cast<size_t>((o * channels + c) * taps + t)];
      }
}

void IntegerConv::run(const ConvGeometry& g, std::span<const uint8_t> x, bool is_signed, int32_t zero_point,
                      int64_t in_h, int64_t in_w, std::span<int16_t> scratch, std::span<int32_t> sums) const {
  const int64_t padded_w = in_w + g.pad_left + g.pad_right, row = in_w * g.in_channels;
  std::fill(scratch.begin(), scratch.end(), int16_t{0});
  for (int64_t h = 0; h < in_h; ++h) {
    int16_t* to = scratch.data() + ((h + g.pad_top) * padded_w + g.pad_left) * g.in_channels;
    const uint8_t* from = x.data() + h * row;
    const auto zero = static_cast<int16_t>(zero_point);
    if (is_signed)
      for (int64_t i = 0; i < row; ++i) to[i] = static_cast<int16_t>(static_cast<int8_t>(from[i]) - zero);
    else
      for (int64_t i = 0; i < row; ++i) to[i] = static_cast<int16_t>(from[i] - zero);
  }
  const int64_t out_h = g.out_h(in_h), out_w = g.out_w(in_w);
  if (is_depthwise(g))
    run_depthwise(g, weights_.data(), scratch.data(), padded_w, out_h, out_w, sums.data());
  else
    run_grouped(g, weights_.data(), scratch.data(), padded_w, out_h, out_w, sums.data());
}

}  // namespace tersor::simulate
