// SPDX-License-Identifier: Apache-2.0
// Sums of integer convolutions against those of plain loops: windows over more rows than are kept at once, with
// borders, strides and dilations, in groups.
#include "core/simulate/integer_conv.h"

#include <random>

#include "tests/catch.h"

using namespace tersor::simulate;

namespace {

struct Case {
  ConvGeometry geometry;
  int64_t height, width;
};

std::vector<uint8_t> codes(int64_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<uint8_t> made(static_cast<size_t>(count));
  for (uint8_t& code : made) code = static_cast<uint8_t>(random());
  return made;
}

/// [pixel][out channel], of int8 weights OIHW and of uint8 numbers around 128.
std::vector<int32_t> by_plain_loops(const Case& of, const std::vector<uint8_t>& x, const std::vector<uint8_t>& w) {
  const ConvGeometry& g = of.geometry;
  const int64_t channels = g.in_channels / g.groups, outputs = g.out_channels / g.groups;
  std::vector<int32_t> sums;
  for (int64_t oh = 0; oh < g.out_h(of.height); ++oh)
    for (int64_t ow = 0; ow < g.out_w(of.width); ++ow)
      for (int64_t o = 0; o < g.out_channels; ++o) {
        int32_t sum = 0;
        for (int64_t c = 0; c < channels; ++c)
          for (int64_t kh = 0; kh < g.kernel_h; ++kh)
            for (int64_t kw = 0; kw < g.kernel_w; ++kw) {
              const int64_t h = oh * g.stride_h + kh * g.dilation_h - g.pad_top,
                            v = ow * g.stride_w + kw * g.dilation_w - g.pad_left;
              if (h < 0 || h >= of.height || v < 0 || v >= of.width) continue;
              const auto at = static_cast<size_t>((h * of.width + v) * g.in_channels + o / outputs * channels + c);
              const auto weight = static_cast<size_t>(((o * channels + c) * g.kernel_h + kh) * g.kernel_w + kw);
              sum += (x[at] - 128) * static_cast<int8_t>(w[weight]);
            }
        sums.push_back(sum);
      }
  return sums;
}

ConvGeometry geometry(int64_t in, int64_t out, int64_t groups, int64_t kernel, int64_t stride, int64_t dilation,
                      int64_t pad) {
  ConvGeometry g;
  g.in_channels = in, g.out_channels = out, g.groups = groups;
  g.kernel_h = g.kernel_w = kernel, g.stride_h = g.stride_w = stride, g.dilation_h = g.dilation_w = dilation;
  g.pad_top = g.pad_left = g.pad_bottom = g.pad_right = pad;
  return g;
}

}  // namespace

TEST_CASE("integer convolutions sum as plain loops do, however few rows are kept") {
  const Case cases[] = {
      {geometry(5, 7, 1, 3, 1, 1, 1), 40, 7},      // calls begin in the middle of a row
      {geometry(3, 9, 1, 3, 2, 1, 0), 61, 130},    // a row is more than a call
      {geometry(4, 6, 2, 3, 1, 2, 2), 50, 11},     // groups and dilation
      {geometry(16, 16, 16, 3, 1, 1, 1), 33, 14},  // depthwise
      {geometry(9, 9, 9, 5, 2, 1, 2), 37, 23},     // with channels left over
      {geometry(8, 8, 8, 3, 3, 2, 4), 30, 17},     // and borders of whole rows
      {geometry(6, 4, 1, 1, 3, 1, 0), 45, 20},     // strides larger than the window
      {geometry(6, 4, 1, 1, 1, 1, 2), 12, 5},      // one pixel with borders
      {geometry(13, 10, 1, 1, 1, 1, 0), 19, 21},   // pixels alone
      {geometry(2, 3, 1, 3, 1, 1, 1), 1, 200},     // fewer rows than a window has
  };
  for (const Case& one : cases) {
    const ConvGeometry& g = one.geometry;
    CAPTURE(g.in_channels, g.kernel_h, g.stride_h, one.height, one.width);
    const std::vector<uint8_t> x = codes(one.height * one.width * g.in_channels, 1),
                               w = codes(g.out_channels * g.in_channels / g.groups * g.kernel_h * g.kernel_w, 2);
    const IntegerConv conv(g, {w, true, {}}, Pairs::kExact);
    std::vector<int16_t> scratch(g.scratch_elements(one.height, one.width));
    std::vector<int32_t> sums(g.sum_elements(one.height, one.width)), found;
    conv.run(g, x, {one.height, one.width, false, 128}, {}, scratch, sums,
             [&](int64_t, std::span<const int32_t> some) { found.insert(found.end(), some.begin(), some.end()); });
    REQUIRE(found == by_plain_loops(one, x, w));
  }
}

TEST_CASE("a window fits a picture with its borders") {
  const ConvGeometry g = geometry(1, 1, 1, 3, 2, 1, 0);
  REQUIRE(g.fits(3, 3));
  REQUIRE_FALSE(g.fits(2, 3));
  REQUIRE_FALSE(g.fits(3, 2));
}
