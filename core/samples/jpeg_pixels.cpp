// SPDX-License-Identifier: Apache-2.0
// From JPEG coefficients to pixels. The arithmetic is that of libjpeg's jidctint ("accurate integer" DCT after
// Loeffler, Ligtenberg and Moschytz), of its smooth chroma upsampling and of its colour tables, so that pixels are
// equal.
#include <algorithm>
#include <utility>

#include "core/samples/jpeg.h"

namespace tersor::samples::jpeg {

namespace {

constexpr int kConstantBits = 13, kPassBits = 2;

uint8_t clamp_to_byte(int64_t value) {
  return static_cast<uint8_t>(std::clamp<int64_t>(value, 0, 255));
}

/// One 8-point inverse DCT over `in` (stride `step`); results are scaled up by 2^13 and not rounded.
void transform(const int64_t* in, int step, int64_t* out) {
  const auto at = [&](int i) { return in[i * step]; };
  // Even part.
  const int64_t rotated = (at(2) + at(6)) * 4433;
  const int64_t even2 = rotated - at(6) * 15137, even3 = rotated + at(2) * 6270;
  const int64_t even0 = (at(0) + at(4)) * (1 << kConstantBits), even1 = (at(0) - at(4)) * (1 << kConstantBits);
  const int64_t e0 = even0 + even3, e3 = even0 - even3, e1 = even1 + even2, e2 = even1 - even2;
  // Odd part.
  int64_t z1 = at(7) + at(1), z2 = at(5) + at(3), z3 = at(7) + at(3), z4 = at(5) + at(1);
  const int64_t z5 = (z3 + z4) * 9633;
  z1 *= -7373, z2 *= -20995;
  z3 = z3 * -16069 + z5, z4 = z4 * -3196 + z5;
  const int64_t o0 = at(7) * 2446 + z1 + z3, o1 = at(5) * 16819 + z2 + z4;
  const int64_t o2 = at(3) * 25172 + z2 + z3, o3 = at(1) * 12299 + z1 + z4;
  out[0] = e0 + o3, out[7] = e0 - o3;
  out[1] = e1 + o2, out[6] = e1 - o2;
  out[2] = e2 + o1, out[5] = e2 - o1;
  out[3] = e3 + o0, out[4] = e3 - o0;
}

void transform_block(const int16_t* coefficients, const std::array<uint16_t, 64>& quants, uint8_t* out,
                     int64_t stride) {
  int64_t values[64], line[8], columns[64];
  for (size_t i = 0; i < 64; ++i) values[i] = static_cast<int64_t>(coefficients[i]) * quants[i];
  constexpr int kFirst = kConstantBits - kPassBits, kSecond = kConstantBits + kPassBits + 3;
  for (int x = 0; x < 8; ++x) {
    const int64_t* column = values + x;
    if ((column[8] | column[16] | column[24] | column[32] | column[40] | column[48] | column[56]) == 0) {
      for (int y = 0; y < 8; ++y) columns[y * 8 + x] = column[0] * (1 << kPassBits);
      continue;
    }
    transform(column, 8, line);
    for (int y = 0; y < 8; ++y) columns[y * 8 + x] = (line[y] + (1 << (kFirst - 1))) >> kFirst;
  }
  for (int y = 0; y < 8; ++y) {
    transform(columns + y * 8, 1, line);
    for (int x = 0; x < 8; ++x)
      out[y * stride + x] = clamp_to_byte(((line[x] + (1 << (kSecond - 1))) >> kSecond) + 128);
  }
}

/// Doubles a row: 3 parts of the near sample, 1 of the next. `in` is scaled so that four parts shifted by `shift` are
/// whole; left and right copies round with their own bias, against drift.
void widen(const int* in, int64_t count, int shift, int bias_left, int bias_right, uint8_t* out) {
  const auto put = [&](int64_t at, int parts, int bias) { out[at] = static_cast<uint8_t>((parts + bias) >> shift); };
  for (int64_t i = 0; i < count; ++i) {
    put(2 * i, i == 0 ? in[i] * 4 : in[i] * 3 + in[i - 1], bias_left);
    put(2 * i + 1, i == count - 1 ? in[i] * 4 : in[i] * 3 + in[i + 1], bias_right);
  }
}

/// Rows of one component at the picture's full size.
class Upsampler {
 public:
  Upsampler(const Frame& frame, const Component& component)
      : component_(component), across_(frame.h_max / component.h), down_(frame.v_max / component.v) {
    // Very narrow chroma is repeated and not smoothed, as in libjpeg.
    smooth_ = (across_ == 2 && down_ <= 2 && component.width > 2) || (across_ == 1 && down_ == 2);
    sums_.resize(static_cast<size_t>(component.width));
    row_.resize(static_cast<size_t>(component.width * across_));
  }

  const uint8_t* row(int64_t y) {
    const int64_t near = y / down_;
    if (across_ == 1 && down_ == 1) return plane_row(near);
    if (!smooth_) {
      const uint8_t* from = plane_row(near);
      for (int64_t x = 0; x < static_cast<int64_t>(row_.size()); ++x) row_[static_cast<size_t>(x)] = from[x / across_];
      return row_.data();
    }
    const bool lower = y % 2 == 1;
    const uint8_t* a = plane_row(near);
    const uint8_t* b =
        down_ == 1 ? a : plane_row(std::clamp<int64_t>(near + (lower ? 1 : -1), 0, component_.height - 1));
    if (across_ == 1) {
      for (size_t x = 0; x < row_.size(); ++x) row_[x] = static_cast<uint8_t>((a[x] * 3 + b[x] + (lower ? 2 : 1)) >> 2);
      return row_.data();
    }
    for (size_t x = 0; x < sums_.size(); ++x) sums_[x] = down_ == 1 ? a[x] : a[x] * 3 + b[x];
    down_ == 1 ? widen(sums_.data(), component_.width, 2, 1, 2, row_.data())
               : widen(sums_.data(), component_.width, 4, 8, 7, row_.data());
    return row_.data();
  }

 private:
  const uint8_t* plane_row(int64_t y) const { return component_.plane.data() + y * component_.stride(); }

  const Component& component_;
  int across_, down_;
  bool smooth_ = false;
  std::vector<int> sums_;
  std::vector<uint8_t> row_;
};

/// x * factor / 65536, rounded up from the half.
int scaled(int x, int factor) {
  return (x * factor + 32768) >> 16;
}

void convert_row(const uint8_t* luma, const uint8_t* blue, const uint8_t* red, int64_t width, uint8_t* out) {
  for (int64_t x = 0; x < width; ++x, out += 3) {
    const int y = luma[x], cb = blue[x] - 128, cr = red[x] - 128;
    out[0] = clamp_to_byte(y + scaled(cr, 91881));
    out[1] = clamp_to_byte(y + ((-22554 * cb - 46802 * cr + 32768) >> 16));
    out[2] = clamp_to_byte(y + scaled(cb, 116130));
  }
}

}  // namespace

void inverse_transform(Component& component) {
  component.plane.resize(static_cast<size_t>(component.rows * component.columns * 64));
  const int16_t* from = component.coefficients.data();
  for (int64_t y = 0; y < component.rows; ++y)
    for (int64_t x = 0; x < component.columns; ++x, from += 64)
      transform_block(from, component.quants, component.plane.data() + y * 8 * component.stride() + x * 8,
                      component.stride());
  std::vector<int16_t>().swap(component.coefficients);
}

Picture compose(const Frame& frame) {
  const bool grey = frame.components.size() == 1;
  Picture picture{frame.width, frame.height, grey ? 1 : 3, {}};
  picture.pixels.resize(static_cast<size_t>(picture.width * picture.height * picture.channels));
  std::vector<Upsampler> parts;
  for (const Component& component : frame.components) parts.emplace_back(frame, component);
  for (int64_t y = 0; y < picture.height; ++y) {
    const uint8_t* first = parts[0].row(y);
    uint8_t* out = picture.row(y);
    if (grey) {
      std::copy_n(first, picture.width, out);
      continue;
    }
    const uint8_t* second = parts[1].row(y);
    const uint8_t* third = parts[2].row(y);
    if (!frame.rgb) {
      convert_row(first, second, third, picture.width, out);
      continue;
    }
    for (int64_t x = 0; x < picture.width; ++x, out += 3) out[0] = first[x], out[1] = second[x], out[2] = third[x];
  }
  return picture;
}

}  // namespace tersor::samples::jpeg
