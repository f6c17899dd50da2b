// SPDX-License-Identifier: Apache-2.0
// From JPEG coefficients to pixels, in the integers of libjpeg: its accurate DCT, its smooth chroma upsampling and its
// colours, so that pixels are equal.
#include <algorithm>
#include <utility>
#include <vector>

#include "core/kernels/pixels.h"
#include "core/samples/jpeg.h"

namespace tersor::samples::jpeg {

namespace {

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
    if (down_ == 1) {
      std::copy_n(a, sums_.size(), sums_.begin());
      kernels::double_row(sums_.data(), sums_.size(), 2, 1, 2, row_.data());
    } else {
      kernels::three_to_one(a, b, sums_.size(), sums_.data());
      kernels::double_row(sums_.data(), sums_.size(), 4, 8, 7, row_.data());
    }
    return row_.data();
  }

 private:
  const uint8_t* plane_row(int64_t y) const { return component_.plane.data() + y * component_.stride(); }

  const Component& component_;
  int across_, down_;
  bool smooth_ = false;
  std::vector<uint16_t> sums_;
  std::vector<uint8_t> row_;
};

}  // namespace

void inverse_transform(Component& component, int64_t first, int64_t count) {
  const auto columns = static_cast<size_t>(component.columns), stride = static_cast<size_t>(component.stride());
  const int16_t* from = component.coefficients.data() + first % component.kept_rows * component.columns * 64;
  uint8_t* to = component.plane.data() + first * 8 * component.stride();
  for (int64_t y = 0; y < count; ++y, from += columns * 64, to += stride * 8)
    kernels::inverse_dct(from, component.quants.data(), columns, to, stride);
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
      kernels::ycc_to_rgb(first, second, third, static_cast<size_t>(picture.width), out);
      continue;
    }
    for (int64_t x = 0; x < picture.width; ++x, out += 3) out[0] = first[x], out[1] = second[x], out[2] = third[x];
  }
  return picture;
}

}  // namespace tersor::samples::jpeg
