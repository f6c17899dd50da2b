// SPDX-License-Identifier: Apache-2.0
// Loops over the pixels of pictures: of JPEG's decoder, in libjpeg's integers, and of scaling.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tersor::kernels {

/// The inverse DCT of `blocks` blocks of 8x8 coefficients, row-major and one after the other, that lie side by side in
/// the picture: each coefficient times its quantizer, then libjpeg's jidctint (Loeffler, Ligtenberg, Moschytz: 13 bits
/// of fraction, 2 between the passes). Sums beyond 32 bits, which no valid file has, wrap around.
void inverse_dct(const int16_t* coefficients, const uint16_t* quants, size_t blocks, uint8_t* out, size_t stride);

/// sums[k] = 3 near[k] + far[k].
void three_to_one(const uint8_t* near, const uint8_t* far, size_t n, uint16_t* sums);

/// Two of each of n values, of the near one three parts and of the next one a part: the left one (3 in[k] + in[k-1] +
/// bias_left) >> shift (2 or 4), the right one with in[k+1] and bias_right; at the ends the near one stands for what is
/// missing.
void double_row(const uint16_t* in, size_t n, int shift, int bias_left, int bias_right, uint8_t* out);

/// Y, Cb and Cr to R, G, B, interleaved, by the 16-bit fractions of libjpeg.
void ycc_to_rgb(const uint8_t* luma, const uint8_t* blue, const uint8_t* red, size_t n, uint8_t* out);

/// Neighbours and what each counts.
struct PixelWindow {
  size_t begin, count;
  const double* weights;
};

/// out[k * channels + c] = the sum over window k of weight * pixel, in their order, each product and sum rounded.
/// channels: 1 or 3. `room` has 4 * width doubles; n windows.
void weigh_pixels(const uint8_t* pixels, size_t width, size_t channels, const PixelWindow* windows, size_t n,
                  double* room, double* out);

/// min(x + 0.5, 255) without its fraction, of x that are not negative.
void round_to_bytes(const double* x, size_t n, uint8_t* out);

}  // namespace tersor::kernels
