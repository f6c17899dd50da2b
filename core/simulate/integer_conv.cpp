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

/// The kernel that the runtime takes for it sums without saturation.
bool runs_as_depthwise(const ConvGeometry& g) {
  return g.in_channels == g.groups && g.out_channels == g.groups;
}

/// Numbers w - zw as [out channel][tap][channel].
std::vector<int16_t> numbers_of(const ConvGeometry& g, const IntegerConv::Codes& weights) {
  const auto channels = static_cast<size_t>(g.in_channels / g.groups),
             taps = static_cast<size_t>(g.kernel_h * g.kernel_w), outputs = static_cast<size_t>(g.out_channels);
  std::vector<int16_t> numbers(weights.raw.size());
  for (size_t o = 0; o < outputs; ++o) {
    const int32_t zero_point =
        weights.zero_points.empty() ? 0 : weights.zero_points[weights.zero_points.size() == 1 ? 0 : o];
    for (size_t c = 0; c < channels; ++c)
      for (size_t t = 0; t < taps; ++t) {
        const uint8_t code = weights.raw[(o * channels + c) * taps + t];
        const int32_t number = weights.is_signed ? static_cast<int8_t>(code) : code;
        numbers[(o * taps + t) * channels + c] = static_cast<int16_t>(number - zero_point);
      }
  }
  return numbers;
}

/// By group, the columns of raw weights in the runtime's order (tap, channel).
std::vector<PairSaturation> saturation_of(const ConvGeometry& g, const IntegerConv::Codes& weights) {
  const auto channels = static_cast<size_t>(g.in_channels / g.groups),
             taps = static_cast<size_t>(g.kernel_h * g.kernel_w), outputs = static_cast<size_t>(g.out_channels);
  std::vector<PairSaturation> groups(static_cast<size_t>(g.groups));
  std::vector<int8_t> column(channels * taps);
  for (size_t o = 0; o < outputs; ++o) {
    for (size_t c = 0; c < channels; ++c)
      for (size_t t = 0; t < taps; ++t)
        column[t * channels + c] = static_cast<int8_t>(weights.raw[(o * channels + c) * taps + t]);
    groups[o / (outputs / groups.size())].add_column(column);
  }
  const auto is_empty = [](const PairSaturation& group) { return group.empty(); };
  if (std::all_of(groups.begin(), groups.end(), is_empty)) groups.clear();
  return groups;
}

}  // namespace

IntegerConv::IntegerConv(const ConvGeometry& geometry, const Codes& weights, bool saturates) {
  const int64_t taps = geometry.kernel_h * geometry.kernel_w, channels = geometry.in_channels / geometry.groups;
  const std::vector<int16_t> numbers = numbers_of(geometry, weights);
  if (saturates && weights.is_signed && !runs_as_depthwise(geometry)) saturation_ = saturation_of(geometry, weights);
  if (is_depthwise(geometry)) {
    depthwise_.resize(numbers.size());
    for (int64_t o = 0; o < geometry.out_channels; ++o)
      for (int64_t t = 0; t < taps; ++t)
        depthwise_[static_cast<size_t>(t * geometry.out_channels + o)] = numbers[static_cast<size_t>(o * taps + t)];
    return;
  }
  const bool whole = has_whole_rows(geometry);
  const int64_t outputs = geometry.out_channels / geometry.groups,
                depth = whole ? geometry.kernel_w * channels : channels;
  for (int64_t g = 0; g < geometry.groups; ++g)
    groups_.emplace_back(
        outputs, whole ? geometry.kernel_h : taps, depth,
        kernels::IntegerPanels::Source{numbers.data() + g * outputs * taps * channels, taps * channels, depth, 1});
}

int64_t IntegerConv::run(const ConvGeometry& g, std::span<const uint8_t> x, const Picture& picture,
                         std::span<int16_t> scratch, std::span<int32_t> sums) const {
  const int64_t padded_w = picture.width + g.pad_left + g.pad_right, row = picture.width * g.in_channels;
  std::fill(scratch.begin(), scratch.end(), int16_t{0});
  for (int64_t h = 0; h < picture.height; ++h) {
    int16_t* to = scratch.data() + ((h + g.pad_top) * padded_w + g.pad_left) * g.in_channels;
    kernels::widen_codes(x.data() + h * row, static_cast<size_t>(row), {1, picture.zero_point, picture.is_signed}, to);
  }
  const int64_t out_h = g.out_h(picture.height), out_w = g.out_w(picture.width);
  if (is_depthwise(g)) {
    run_depthwise(g, depthwise_.data(), scratch.data(), padded_w, out_h, out_w, sums.data());
    return 0;
  }
  for (size_t k = 0; k < groups_.size(); ++k)
    run_group(g, groups_[k], static_cast<int64_t>(k), scratch.data(), padded_w, out_h, out_w, sums.data());
  return saturation_.empty() || picture.is_signed ? 0 : saturate(g, scratch.data(), padded_w, picture, sums);
}

int64_t IntegerConv::saturate(const ConvGeometry& g, const int16_t* padded, int64_t padded_w, const Picture& picture,
                              std::span<int32_t> sums) const {
  const int64_t channels = g.in_channels / g.groups, outputs = g.out_channels / g.groups;
  std::vector<int64_t> places;
  for (int64_t kh = 0; kh < g.kernel_h; ++kh)
    for (int64_t kw = 0; kw < g.kernel_w; ++kw)
      for (int64_t c = 0; c < channels; ++c)
        places.push_back((kh * g.dilation_h * padded_w + kw * g.dilation_w) * g.in_channels + c);
  const int64_t out_h = g.out_h(picture.height), out_w = g.out_w(picture.width);
  int64_t saturated = 0;
  for (int64_t oh = 0; oh < out_h; ++oh)
    for (int64_t ow = 0; ow < out_w; ++ow) {
      const int16_t* row = padded + (oh * g.stride_h * padded_w + ow * g.stride_w) * g.in_channels;
      int32_t* out = sums.data() + (oh * out_w + ow) * g.out_channels;
      for (size_t k = 0; k < saturation_.size(); ++k) {
        const auto group = static_cast<int64_t>(k);
        saturated += saturation_[k].apply(row + group * channels, places, picture.zero_point, out + group * outputs);
      }
    }
  return saturated;
}

}  // namespace tersor::simulate
