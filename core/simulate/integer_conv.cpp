// SPDX-License-Identifier: Apache-2.0
#include "core/simulate/integer_conv.h"

#include <algorithm>

#include "core/kernels/quantize.h"

namespace tersor::simulate {

namespace {

bool is_depthwise(const ConvGeometry& g) {
  return g.groups == g.in_channels && g.out_channels == g.in_channels && g.groups > 1;
}

void run_depthwise(const ConvGeometry& g, const int16_t* weights, const int16_t* padded, int64_t padded_w,
                   int64_t out_h, int64_t out_w, int32_t* sums) {
  const int64_t channels = g.in_channels;
  for (int64_t oh = 0; oh < out_h; ++oh)
    for (int64_t ow = 0; ow < out_w; ++ow) {
      int32_t* out = sums + (oh * out_w + ow) * channels;
      const int16_t* in = padded + (oh * g.stride_h * padded_w + ow * g.stride_w) * channels;
      kernels::sum_depthwise(in, {g.kernel_h, g.dilation_h * padded_w * channels},
                             {g.kernel_w, g.dilation_w * channels}, weights, channels, out);
    }
}

/// Without groups and dilation a kernel row is one run of kernel_w * channels numbers.
bool has_whole_rows(const ConvGeometry& g) {
  return g.groups == 1 && g.dilation_w == 1;
}

void run_group(const ConvGeometry& g, const kernels::IntegerPanels& weights, int64_t group, const int16_t* padded,
               int64_t padded_w, int64_t out_h, int64_t out_w, int32_t* sums) {
  constexpr int64_t kRowsPerCall = 96;
  const int64_t runs = has_whole_rows(g) ? 1 : g.kernel_w;
  const int16_t* const first_channel = padded + group * (g.in_channels / g.groups);
  std::vector<const int16_t*> pointers(static_cast<size_t>(weights.taps() * kRowsPerCall));
  for (int64_t first = 0; first < out_h * out_w; first += kRowsPerCall) {
    const int64_t count = std::min(kRowsPerCall, out_h * out_w - first);
    for (int64_t r = 0; r < count; ++r) {
      const int64_t oh = (first + r) / out_w, ow = (first + r) % out_w;
      const int16_t** pointer = pointers.data() + r;
      for (int64_t kh = 0; kh < g.kernel_h; ++kh)
        for (int64_t run = 0; run < runs; ++run, pointer += count) {
          const int64_t place = (oh * g.stride_h + kh * g.dilation_h) * padded_w + ow * g.stride_w + run * g.dilation_w;
          *pointer = first_channel + place * g.in_channels;
        }
    }
    kernels::multiply_integer_rows(weights, {pointers.data(), count},
                                   sums + first * g.out_channels + group * weights.columns(), g.out_channels);
  }
}

}  // namespace

IntegerConv::IntegerConv(const ConvGeometry& geometry, std::span<const int16_t> weights) {
  const int64_t taps = geometry.kernel_h * geometry.kernel_w, channels = geometry.in_channels / geometry.groups;
  if (is_depthwise(geometry)) {
    depthwise_.resize(weights.size());
    for (int64_t o = 0; o < geometry.out_channels; ++o)
      for (int64_t t = 0; t < taps; ++t)
        depthwise_[static_cast<size_t>(t * geometry.out_channels + o)] = weights[static_cast<size_t>(o * taps + t)];
    return;
  }
  std::vector<int16_t> moved(weights.size());  // [out channel][tap][channel]
  for (int64_t o = 0; o < geometry.out_channels; ++o)
    for (int64_t c = 0; c < channels; ++c)
      for (int64_t t = 0; t < taps; ++t)
        moved[static_cast<size_t>((o * taps + t) * channels + c)] =
            weights[static_cast<size_t>((o * channels + c) * taps + t)];
  const bool whole = has_whole_rows(geometry);
  const int64_t outputs = geometry.out_channels / geometry.groups,
                depth = whole ? geometry.kernel_w * channels : channels;
  for (int64_t g = 0; g < geometry.groups; ++g)
    groups_.emplace_back(
        outputs, whole ? geometry.kernel_h : taps, depth,
        kernels::IntegerPanels::Source{moved.data() + g * outputs * taps * channels, taps * channels, depth, 1});
}

void IntegerConv::run(const ConvGeometry& g, std::span<const uint8_t> x, bool is_signed, int32_t zero_point,
                      int64_t in_h, int64_t in_w, std::span<int16_t> scratch, std::span<int32_t> sums) const {
  const int64_t padded_w = in_w + g.pad_left + g.pad_right, row = in_w * g.in_channels;
  std::fill(scratch.begin(), scratch.end(), int16_t{0});
  for (int64_t h = 0; h < in_h; ++h) {
    int16_t* to = scratch.data() + ((h + g.pad_top) * padded_w + g.pad_left) * g.in_channels;
    kernels::widen_codes(x.data() + h * row, static_cast<size_t>(row), {1, zero_point, is_signed}, to);
  }
  const int64_t out_h = g.out_h(in_h), out_w = g.out_w(in_w);
  if (is_depthwise(g)) return run_depthwise(g, depthwise_.data(), scratch.data(), padded_w, out_h, out_w, sums.data());
  for (size_t k = 0; k < groups_.size(); ++k)
    run_group(g, groups_[k], static_cast<int64_t>(k), scratch.data(), padded_w, out_h, out_w, sums.data());
}

}  // namespace tersor::simulate
