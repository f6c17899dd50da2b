// SPDX-License-Identifier: Apache-2.0
// Int32 sums of a convolution of 8-bit tensors: acc[o] = sum over taps and channels of (x - zx) * (w - zw). Integers,
// so the order of the sum is free, but where pairs of products saturate.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/kernels/integer.h"
#include "core/kernels/panels.h"
#include "core/simulate/pair_saturation.h"

namespace tersor::simulate {

/// A two-dimensional convolution (one-dimensional ones have height 1). Pads may be negative nowhere; sizes are of
/// pictures that it fits.
struct ConvGeometry {
  int64_t in_channels = 0, out_channels = 0, groups = 1;
  int64_t kernel_h = 1, kernel_w = 1, stride_h = 1, stride_w = 1, dilation_h = 1, dilation_w = 1;
  int64_t pad_top = 0, pad_left = 0, pad_bottom = 0, pad_right = 0;

  int64_t window_h() const { return dilation_h * (kernel_h - 1) + 1; }
  int64_t window_w() const { return dilation_w * (kernel_w - 1) + 1; }
  /// The window is no larger than such a picture with its borders.
  bool fits(int64_t in_h, int64_t in_w) const {
    return in_h + pad_top + pad_bottom >= window_h() && in_w + pad_left + pad_right >= window_w();
  }
  int64_t out_h(int64_t in_h) const { return (in_h + pad_top + pad_bottom - window_h()) / stride_h + 1; }
  int64_t out_w(int64_t in_w) const { return (in_w + pad_left + pad_right - window_w()) / stride_w + 1; }
  bool depthwise() const { return groups == in_channels && out_channels == in_channels && groups > 1; }
  /// Each output pixel follows from the input pixel of the same place.
  bool pointwise() const {
    return kernel_h == 1 && kernel_w == 1 && stride_h == 1 && stride_w == 1 && pad_top == 0 && pad_left == 0 &&
           pad_bottom == 0 && pad_right == 0;
  }
  /// Output pixels that are summed before they are handed on: a row, or as many as are worth reading the weights for.
  int64_t pixels_at_once(int64_t in_w) const { return depthwise() ? out_w(in_w) : kernels::kRowsPerCall; }
  /// Rows of the padded picture that the windows of pixels_at_once() lie in, at most.
  int64_t rows_at_once(int64_t in_h, int64_t in_w) const {
    const int64_t width = out_w(in_w), pixels = pixels_at_once(in_w);
    const int64_t out_rows = pixels % width == 0 ? pixels / width : (pixels + width - 2) / width + 1;
    return std::min((out_rows - 1) * stride_h + window_h(), in_h + pad_top + pad_bottom);
  }
  /// int16 elements of scratch for one picture.
  size_t scratch_elements(int64_t in_h, int64_t in_w) const {
    const int64_t pixels = pointwise() ? std::min(pixels_at_once(in_w), in_h * in_w)
                                       : rows_at_once(in_h, in_w) * (in_w + pad_left + pad_right);
    // One more, which an odd number of channels may read beyond its end.
    return static_cast<size_t>(pixels * in_channels + 1);
  }
  /// int32 elements of scratch for sums.
  size_t sum_elements(int64_t in_h, int64_t in_w) const {
    return static_cast<size_t>(std::min(pixels_at_once(in_w), out_h(in_h) * out_w(in_w)) * out_channels);
  }
};

class IntegerConv {
 public:
  /// Weights as raw codes in the order OIHW, with no zero point, one, or one for each output channel.
  struct Codes {
    std::span<const uint8_t> raw;
    bool is_signed = false;
    std::span<const int32_t> zero_points;
  };
  /// `saturates`: uint8 pictures are multiplied as on x64 without VNNI, whose depthwise kernel alone is exact.
  IntegerConv(const ConvGeometry& geometry, const Codes& weights, Pairs pairs);

  /// Size, type and zero point of the input.
  struct Picture {
    int64_t height, width;
    bool is_signed;
    int32_t zero_point;
  };
  /// Takes the sums of the output pixels from `first` on, [pixel][out_channels], while they are in cache.
  using Taker = std::function<void(int64_t first, std::span<const int32_t> sums)>;
  /// One picture: `x` holds raw codes, channels last. `geometry` is that of the constructor, its pads aside. `bias`:
  /// one per output channel, or none. `scratch` has scratch_elements(), `sums` sum_elements(). Returns how many sums
  /// hold a pair that saturates, where those are counted.
  int64_t run(const ConvGeometry& geometry, std::span<const uint8_t> x, const Picture& picture,
              std::span<const int32_t> bias, std::span<int16_t> scratch, std::span<int32_t> sums,
              const Taker& take) const;

 private:
  class Windows;
  int64_t saturate(const Windows& windows, int64_t first, int32_t zero_point, std::span<int32_t> sums) const;

  std::vector<int16_t> depthwise_;              // as sum_depthwise() wants them
  std::vector<kernels::IntegerPanels> groups_;  // all others
  std::vector<PairSaturation> saturation_;      // by group; empty where nothing can saturate, or is counted
  Pairs pairs_ = Pairs::kExact;
};

}  // namespace tersor::simulate
