// SPDX-License-Identifier: Apache-2.0
#include "core/samples/picture.h"

#include <string>
#include <utility>

#include "core/base/error.h"

namespace tersor::samples {

void check_picture_size(int64_t width, int64_t height) {
  if (width < 1 || height < 1)
    throw Error(ErrorCode::kInvalidSamples,
                "The picture is " + std::to_string(width) + " x " + std::to_string(height) + " pixels.", {},
                "Save the picture again, or leave it out.");
  if (width > kMostPixels || height > kMostPixels || width * height > kMostPixels)
    throw Error(ErrorCode::kInvalidSamples,
                "The picture is " + std::to_string(width) + " x " + std::to_string(height) + " pixels, at most " +
                    std::to_string(kMostPixels / 1'000'000) + " million are read.",
                {}, "Scale it down first.");
}

Picture to_grey(Picture picture) {
  if (picture.channels == 1) return picture;
  Picture grey{picture.width, picture.height, 1, {}};
  grey.pixels.resize(static_cast<size_t>(grey.width * grey.height));
  const uint8_t* rgb = picture.pixels.data();
  for (uint8_t& value : grey.pixels) {
    value = static_cast<uint8_t>((19595u * rgb[0] + 38470u * rgb[1] + 7471u * rgb[2] + 32768u) >> 16);
    rgb += 3;
  }
  return grey;
}

namespace {

/// Reads the two byte orders of TIFF; every read is checked.
class Tiff {
 public:
  explicit Tiff(std::span<const std::byte> bytes) : bytes_(bytes) {}
  /// False when this is no TIFF block.
  bool start() {
    const uint32_t mark = big(0, 2);
    if (mark != 0x4949 && mark != 0x4d4d) return false;
    little_ = mark == 0x4949;
    return get(2, 2) == 42;
  }
  /// 0 outside the block.
  uint32_t get(size_t at, size_t count) const {
    if (!little_) return big(at, count);
    uint32_t value = 0;
    if (at > bytes_.size() || count > bytes_.size() - at) return 0;
    for (size_t i = count; i-- > 0;) value = value << 8 | static_cast<uint32_t>(bytes_[at + i]);
    return value;
  }

 private:
  uint32_t big(size_t at, size_t count) const {
    uint32_t value = 0;
    if (at > bytes_.size() || count > bytes_.size() - at) return 0;
    for (size_t i = 0; i < count; ++i) value = value << 8 | static_cast<uint32_t>(bytes_[at + i]);
    return value;
  }
  std::span<const std::byte> bytes_;
  bool little_ = false;
};

}  // namespace

int exif_orientation(std::span<const std::byte> block) {
  Tiff tiff(block);
  if (!tiff.start()) return 1;
  const size_t directory = tiff.get(4, 4);
  const size_t entries = tiff.get(directory, 2);
  for (size_t i = 0; i < entries; ++i) {
    const size_t entry = directory + 2 + i * 12;
    constexpr uint32_t kOrientation = 0x0112, kShort = 3;
    if (tiff.get(entry, 2) != kOrientation) continue;
    const uint32_t value = tiff.get(entry + 2, 2) == kShort ? tiff.get(entry + 8, 2) : 1;
    return value >= 1 && value <= 8 ? static_cast<int>(value) : 1;
  }
  return 1;
}

Picture oriented(Picture picture, int orientation) {
  if (orientation <= 1 || orientation > 8) return picture;
  const bool swapped = orientation >= 5;
  // Where the pixel (x, y) of the result lies in the stored picture, for orientations 2 to 8.
  const bool flip_x = orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
  const bool flip_y = orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
  Picture result{
      swapped ? picture.height : picture.width, swapped ? picture.width : picture.height, picture.channels, {}};
  result.pixels.resize(picture.pixels.size());
  uint8_t* to = result.pixels.data();
  for (int64_t y = 0; y < result.height; ++y) {
    for (int64_t x = 0; x < result.width; ++x) {
      int64_t from_x = swapped ? y : x, from_y = swapped ? x : y;
      if (flip_x) from_x = picture.width - 1 - from_x;
      if (flip_y) from_y = picture.height - 1 - from_y;
      const uint8_t* from = picture.row(from_y) + from_x * picture.channels;
      for (int c = 0; c < picture.channels; ++c) *to++ = from[c];
    }
  }
  return result;
}

}  // namespace tersor::samples
