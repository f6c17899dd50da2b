// SPDX-License-Identifier: Apache-2.0
// Exact int32 sums of a convolution of 8-bit tensors: acc[o] = sum over taps and channels of (x - zx) * (w - zw).
// Integers, so the order of the sum is free.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/kernels/integer.h"

namespace tersor::simulate {

/// A two-dimensional convolution (one-dimensional ones have height 1). Pads may be negative nowhere.
struct ConvGeometry {
  int64_t in_channels = 0, out_channels = 0, groups = 1;
  int64_t kernel_h = 1, kernel_w = 1, stride_h = 1, stride_w = 1, dilation_h = 1, dilation_w = 1;
  int64_t pad_top = 0, pad_left = 0, pad_bottom = 0, pad_right = 0;

  int64_t out_h(int64_t in_h) const {
    return (in_h + pad_top + pad_bottom - dilation_h * (kernel_h - 1) - 1) / stride_h + 1;
  }
  int64_t out_w(int64_t in_w) const {
    return (in_w + pad_left + pad_right - dilation_w * (kernel_w - 1) - 1) / stride_w + 1;
  }
  /// int16 elements of scratch for one picture.
  size_t scratch_elements(int64_t in_h, int64_t in_w) const {
    // One more, which an odd number of channels may read beyond its end.
    return static_cast<size_t>((in_h + pad_top + pad_bottom) * (in_w + pad_left + pad_right) * in_channels + 1);
  }
};

class IntegerConv {
 public:
  /// `weights` are numbers (w - zw) in the order OIHW.
  IntegerConv(const ConvGeometry& geometry, std::span<const int16_t> weights);

  /// One picture: `x` holds raw bytes, channels last, of type int8 where `is_signed`; sums are [out_h * out_w,
  /// out_channels]. `geometry` is that of the constructor, its pads aside. `scratch` has scratch_elements().
  void run(const ConvGeometry& geometry, std::span<const uint8_t> x, bool is_signed, int32_t zero_point, int64_t in_h,
           int64_t in_w, std::span<int16_t> scratch, std::span<int32_t> sums) const;

 private:
  std::vector<int16_t> depthwise_;              // [tap][channel]
  std::vector<kernels::IntegerPanels> groups_;  // all others
};

}  // namespace tersor::simulate
