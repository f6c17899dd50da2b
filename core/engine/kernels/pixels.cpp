// SPDX-License-Identifier: Apache-2.0
#include "core/kernels/pixels.h"

#include <algorithm>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/pixels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tersor::kernels {
namespace HWY_NAMESPACE {

// Vectors and loops of the compiler's, for each target.

/// Four 32-bit numbers that wrap around.
using Lanes = uint32_t __attribute__((vector_size(16)));
using SignedLanes = int32_t __attribute__((vector_size(16)));
using Shorts = int16_t __attribute__((vector_size(8)));
using UnsignedShorts = uint16_t __attribute__((vector_size(8)));
using Bytes = uint8_t __attribute__((vector_size(16)));
using EightBytes = uint8_t __attribute__((vector_size(8)));
constexpr int kConstantBits = 13, kPassBits = 2;

HWY_INLINE Lanes Times(const Lanes& x, int32_t factor) {
  return x * static_cast<uint32_t>(factor);
}

/// Four 8-point inverse DCTs, one in each lane; results are scaled up by 2^13 and not rounded.
HWY_INLINE void Transform(Lanes* x) {
  const Lanes rotated = Times(x[2] + x[6], 4433);
  const Lanes even2 = rotated - Times(x[6], 15137), even3 = rotated + Times(x[2], 6270);
  const Lanes even0 = (x[0] + x[4]) << kConstantBits, even1 = (x[0] - x[4]) << kConstantBits;
  const Lanes e0 = even0 + even3, e3 = even0 - even3, e1 = even1 + even2, e2 = even1 - even2;
  const Lanes s3 = x[7] + x[3], s4 = x[5] + x[1], z5 = Times(s3 + s4, 9633);
  const Lanes z1 = Times(x[7] + x[1], -7373), z2 = Times(x[5] + x[3], -20995);
  const Lanes z3 = Times(s3, -16069) + z5, z4 = Times(s4, -3196) + z5;
  const Lanes o0 = Times(x[7], 2446) + z1 + z3, o1 = Times(x[5], 16819) + z2 + z4;
  const Lanes o2 = Times(x[3], 25172) + z2 + z3, o3 = Times(x[1], 12299) + z1 + z4;
  x[0] = e0 + o3, x[7] = e0 - o3;
  x[1] = e1 + o2, x[6] = e1 - o2;
  x[2] = e2 + o1, x[5] = e2 - o1;
  x[3] = e3 + o0, x[4] = e3 - o0;
}

template <int kBits>
HWY_INLINE Lanes Rounded(const Lanes& x) {
  return (Lanes)((SignedLanes)(x + (1u << (kBits - 1))) >> kBits);
}

/// Of four vectors.
HWY_INLINE void Transpose(const Lanes* in, Lanes* out) {
  const Lanes a = __builtin_shufflevector(in[0], in[2], 0, 4, 1, 5),
              b = __builtin_shufflevector(in[1], in[3], 0, 4, 1, 5);
  const Lanes c = __builtin_shufflevector(in[0], in[2], 2, 6, 3, 7),
              d = __builtin_shufflevector(in[1], in[3], 2, 6, 3, 7);
  out[0] = __builtin_shufflevector(a, b, 0, 4, 1, 5), out[1] = __builtin_shufflevector(a, b, 2, 6, 3, 7);
  out[2] = __builtin_shufflevector(c, d, 0, 4, 1, 5), out[3] = __builtin_shufflevector(c, d, 2, 6, 3, 7);
}

HWY_INLINE bool HasOnlyMean(const int16_t* block) {
  uint64_t any = 0;
  for (size_t k = 4; k < 64; k += 4) {
    uint64_t four;
    std::memcpy(&four, block + k, sizeof four);
    any |= four;
  }
  return any == 0 && (block[1] | block[2] | block[3]) == 0;
}

/// Both passes add nothing to the mean.
HWY_INLINE void InverseOfMean(uint32_t mean, uint8_t* out, size_t stride) {
  const int pixel = std::clamp((static_cast<int32_t>(mean + 4) >> 3) + 128, 0, 255);
  for (size_t y = 0; y < 8; ++y) std::memset(out + y * stride, pixel, 8);
}

HWY_INLINE void InverseOfBlock(const int16_t* block, const uint16_t* quants, uint8_t* out, size_t stride) {
  Lanes rows[2][8];  // by half of the columns
  for (size_t half = 0; half < 2; ++half) {
    for (size_t y = 0; y < 8; ++y) {
      Shorts coefficients;
      UnsignedShorts factors;
      std::memcpy(&coefficients, block + 8 * y + 4 * half, sizeof coefficients);
      std::memcpy(&factors, quants + 8 * y + 4 * half, sizeof factors);
      rows[half][y] =
          (Lanes) __builtin_convertvector(coefficients, SignedLanes) * __builtin_convertvector(factors, Lanes);
    }
    Transform(rows[half]);
    for (Lanes& row : rows[half]) row = Rounded<kConstantBits - kPassBits>(row);
  }
  for (size_t half = 0; half < 2; ++half) {  // of the rows
    Lanes columns[8], lines[2][4];
    for (size_t k = 0; k < 2; ++k) Transpose(rows[k] + 4 * half, columns + 4 * k);
    Transform(columns);
    for (Lanes& column : columns) {
      auto pixels = (SignedLanes)(Rounded<kConstantBits + kPassBits + 3>(column) + 128);
      pixels = pixels < 0 ? SignedLanes{} : pixels;
      column = (Lanes)(pixels > 255 ? SignedLanes{} + 255 : pixels);
    }
    for (size_t k = 0; k < 2; ++k) Transpose(columns + 4 * k, lines[k]);
    for (size_t y = 0; y < 4; ++y, out += stride) {
      const EightBytes line =
          __builtin_shufflevector((Bytes)lines[0][y], (Bytes)lines[1][y], 0, 4, 8, 12, 16, 20, 24, 28);
      std::memcpy(out, &line, sizeof line);
    }
  }
}

void InverseDct(const int16_t* coefficients, const uint16_t* quants, size_t blocks, uint8_t* out, size_t stride) {
  for (size_t k = 0; k < blocks; ++k, coefficients += 64, out += 8) {
    if (HasOnlyMean(coefficients))
      InverseOfMean(static_cast<uint32_t>(coefficients[0]) * quants[0], out, stride);
    else
      InverseOfBlock(coefficients, quants, out, stride);
  }
}

void ThreeToOne(const uint8_t* HWY_RESTRICT near, const uint8_t* HWY_RESTRICT far, size_t n,
                uint16_t* HWY_RESTRICT sums) {
  for (size_t k = 0; k < n; ++k) sums[k] = static_cast<uint16_t>(near[k] * 3 + far[k]);
}

template <int kShift>
HWY_INLINE void DoubleRowBy(const uint16_t* HWY_RESTRICT in, size_t n, uint16_t bias_left, uint16_t bias_right,
                            uint8_t* HWY_RESTRICT out) {
  using Sums = uint16_t __attribute__((vector_size(16)));
  constexpr size_t kAtOnce = sizeof(Sums) / sizeof(uint16_t);
  const auto sums_at = [in](size_t at) HWY_ATTR {
    Sums sums;
    std::memcpy(&sums, in + at, sizeof sums);
    return sums;
  };
  const auto put = [&](size_t at, size_t left, size_t right) {
    out[2 * at] = static_cast<uint8_t>((in[at] * 3 + in[left] + bias_left) >> kShift);
    out[2 * at + 1] = static_cast<uint8_t>((in[at] * 3 + in[right] + bias_right) >> kShift);
  };
  put(0, 0, std::min<size_t>(1, n - 1));
  size_t k = 1;
  for (; k + kAtOnce < n; k += kAtOnce) {
    const Sums near = sums_at(k) * uint16_t{3};
    const Sums left = (near + sums_at(k - 1) + bias_left) >> kShift,
               right = (near + sums_at(k + 1) + bias_right) >> kShift;
    const Sums both = left | right << 8;
    std::memcpy(out + 2 * k, &both, sizeof both);
  }
  for (; k < n; ++k) put(k, k - 1, std::min(k + 1, n - 1));
}

void DoubleRow(const uint16_t* in, size_t n, int shift, int bias_left, int bias_right, uint8_t* out) {
  const auto left = static_cast<uint16_t>(bias_left), right = static_cast<uint16_t>(bias_right);
  if (n == 0) return;
  shift == 2 ? DoubleRowBy<2>(in, n, left, right, out) : DoubleRowBy<4>(in, n, left, right, out);
}

HWY_INLINE uint8_t ToByte(int value) {
  return static_cast<uint8_t>(std::clamp(value, 0, 255));
}

HWY_INLINE void ToRgb(const uint8_t* HWY_RESTRICT luma, const uint8_t* HWY_RESTRICT blue,
                      const uint8_t* HWY_RESTRICT red, size_t n, uint8_t* HWY_RESTRICT r, uint8_t* HWY_RESTRICT g,
                      uint8_t* HWY_RESTRICT b) {
  constexpr int kHalf = 1 << 15;
  for (size_t k = 0; k < n; ++k) {
    const int y = luma[k], cb = blue[k] - 128, cr = red[k] - 128;
    r[k] = ToByte(y + ((cr * 91881 + kHalf) >> 16));
    g[k] = ToByte(y + ((-22554 * cb - 46802 * cr + kHalf) >> 16));
    b[k] = ToByte(y + ((cb * 116130 + kHalf) >> 16));
  }
}

HWY_INLINE void StoreInterleaved(const Bytes& r, const Bytes& g, const Bytes& b, uint8_t* out) {
  Bytes all[3];
  all[0] = __builtin_shufflevector(r, g, 0, 16, 0, 1, 17, 0, 2, 18, 0, 3, 19, 0, 4, 20, 0, 5);
  all[1] = __builtin_shufflevector(r, g, 21, 0, 6, 22, 0, 7, 23, 0, 8, 24, 0, 9, 25, 0, 10, 26);
  all[2] = __builtin_shufflevector(r, g, 0, 11, 27, 0, 12, 28, 0, 13, 29, 0, 14, 30, 0, 15, 31, 0);
  all[0] = __builtin_shufflevector(all[0], b, 0, 1, 16, 3, 4, 17, 6, 7, 18, 9, 10, 19, 12, 13, 20, 15);
  all[1] = __builtin_shufflevector(all[1], b, 0, 21, 2, 3, 22, 5, 6, 23, 8, 9, 24, 11, 12, 25, 14, 15);
  all[2] = __builtin_shufflevector(all[2], b, 26, 1, 2, 27, 4, 5, 28, 7, 8, 29, 10, 11, 30, 13, 14, 31);
  std::memcpy(out, all, sizeof all);
}

void YccToRgb(const uint8_t* luma, const uint8_t* blue, const uint8_t* red, size_t n, uint8_t* out) {
  constexpr size_t kAtOnce = 128;
  Bytes r[kAtOnce / sizeof(Bytes)], g[kAtOnce / sizeof(Bytes)], b[kAtOnce / sizeof(Bytes)];
  const auto bytes_of = [](Bytes* vectors) { return reinterpret_cast<uint8_t*>(vectors); };
  for (; n >= kAtOnce; n -= kAtOnce, luma += kAtOnce, blue += kAtOnce, red += kAtOnce) {
    ToRgb(luma, blue, red, kAtOnce, bytes_of(r), bytes_of(g), bytes_of(b));
    for (size_t k = 0; k < kAtOnce / sizeof(Bytes); ++k, out += 3 * sizeof(Bytes))
      StoreInterleaved(r[k], g[k], b[k], out);
  }
  ToRgb(luma, blue, red, n, bytes_of(r), bytes_of(g), bytes_of(b));
  for (size_t k = 0; k < n; ++k, out += 3) out[0] = bytes_of(r)[k], out[1] = bytes_of(g)[k], out[2] = bytes_of(b)[k];
}

/// A pixel; what is after its channels stays out.
using Pixel = double __attribute__((vector_size(32)));

void WeighPixels(const uint8_t* HWY_RESTRICT pixels, size_t width, size_t channels, const PixelWindow* windows,
                 size_t n, double* HWY_RESTRICT room, double* HWY_RESTRICT out) {
  if (channels == 1) {
    for (size_t k = 0; k < n; ++k) {
      const PixelWindow& window = windows[k];
      double sum = 0;
      for (size_t i = 0; i < window.count; ++i)
        sum += window.weights[i] * static_cast<double>(pixels[window.begin + i]);
      out[k] = sum;
    }
    return;
  }
  for (size_t x = 0; x < width; ++x)
    for (size_t c = 0; c < 3; ++c) room[4 * x + c] = static_cast<double>(pixels[3 * x + c]);
  for (size_t k = 0; k < n; ++k, out += 3) {
    const PixelWindow& window = windows[k];
    const double* from = room + 4 * window.begin;
    Pixel sum = {};
    for (size_t i = 0; i < window.count; ++i, from += 4) {
      Pixel pixel;
      std::memcpy(&pixel, from, sizeof pixel);
      sum += window.weights[i] * pixel;
    }
    out[0] = sum[0], out[1] = sum[1], out[2] = sum[2];
  }
}

void RoundToBytes(const double* HWY_RESTRICT x, size_t n, uint8_t* HWY_RESTRICT out) {
  for (size_t k = 0; k < n; ++k) out[k] = static_cast<uint8_t>(static_cast<int32_t>(std::min(x[k] + 0.5, 255.0)));
}

}  // namespace HWY_NAMESPACE
}  // namespace tersor::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tersor::kernels {

HWY_EXPORT(InverseDct);
HWY_EXPORT(ThreeToOne);
HWY_EXPORT(DoubleRow);
HWY_EXPORT(YccToRgb);
HWY_EXPORT(WeighPixels);
HWY_EXPORT(RoundToBytes);

void inverse_dct(const int16_t* coefficients, const uint16_t* quants, size_t blocks, uint8_t* out, size_t stride) {
  HWY_DYNAMIC_DISPATCH(InverseDct)(coefficients, quants, blocks, out, stride);
}

void three_to_one(const uint8_t* near, const uint8_t* far, size_t n, uint16_t* sums) {
  HWY_DYNAMIC_DISPATCH(ThreeToOne)(near, far, n, sums);
}

void double_row(const uint16_t* in, size_t n, int shift, int bias_left, int bias_right, uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(DoubleRow)(in, n, shift, bias_left, bias_right, out);
}

void ycc_to_rgb(const uint8_t* luma, const uint8_t* blue, const uint8_t* red, size_t n, uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(YccToRgb)(luma, blue, red, n, out);
}

void weigh_pixels(const uint8_t* pixels, size_t width, size_t channels, const PixelWindow* windows, size_t n,
                  double* room, double* out) {
  HWY_DYNAMIC_DISPATCH(WeighPixels)(pixels, width, channels, windows, n, room, out);
}

void round_to_bytes(const double* x, size_t n, uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(RoundToBytes)(x, n, out);
}

}  // namespace tersor::kernels
#endif
