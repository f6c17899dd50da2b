// SPDX-License-Identifier: Apache-2.0
// Pictures: PNG, JPEG, BMP and Netpbm files to 8-bit RGB or grey. The decoders are our own, so that a picture gives the
// same bytes on every machine, is bounded before anything is allocated, and broken files end in a sentence. JPEG
// follows the integer arithmetic of libjpeg-turbo (accurate DCT, smooth chroma upsampling), so pixels equal those of
// Pillow and OpenCV.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tersor::samples {

/// Row-major 8-bit pixels, channels (1 grey or 3 RGB) innermost.
struct Picture {
  int64_t width = 0;
  int64_t height = 0;
  int channels = 3;
  std::vector<uint8_t> pixels;

  uint8_t* row(int64_t y) { return pixels.data() + y * width * channels; }
  const uint8_t* row(int64_t y) const { return pixels.data() + y * width * channels; }
};

/// Width and height as stored, before an EXIF orientation is applied.
struct PictureHeader {
  int64_t width = 0;
  int64_t height = 0;
};

/// Pictures with more pixels are refused by their header.
constexpr int64_t kMostPixels = 100'000'000;
/// Compressed files that are longer are refused.
constexpr uint64_t kMostPictureBytes = uint64_t{512} << 20;

bool is_png(std::span<const std::byte> head);
bool is_jpeg(std::span<const std::byte> head);
bool is_bmp(std::span<const std::byte> head);
bool is_netpbm(std::span<const std::byte> head);

/// Reads the header only and checks the limits. Error kInvalidSamples when it is damaged, cut short, too large, or of a
/// kind that is not read (JPEG: CMYK, arithmetic coding, 12 bits; BMP: compressed pixels).
PictureHeader read_png_header(std::span<const std::byte> file);
PictureHeader read_jpeg_header(std::span<const std::byte> file);
PictureHeader read_bmp_header(std::span<const std::byte> file);
PictureHeader read_netpbm_header(std::span<const std::byte> file);

/// The whole picture: 16 bits rounded to 8, transparency laid over white, EXIF orientation applied.
Picture decode_png(std::span<const std::byte> file);
Picture decode_jpeg(std::span<const std::byte> file);
Picture decode_bmp(std::span<const std::byte> file);
Picture decode_netpbm(std::span<const std::byte> file);

/// Error kInvalidSamples naming both numbers when a side or the product passes the limits.
void check_picture_size(int64_t width, int64_t height);

/// One grey channel, by ITU-R 601-2: (19595 R + 38470 G + 7471 B + 32768) / 65536. A grey picture stays as it is.
Picture to_grey(Picture picture);

/// The EXIF orientation (1 to 8) of a TIFF block, as in a JPEG's APP1 segment after "Exif" or a PNG's eXIf chunk; 1
/// where there is none or the block is broken.
int exif_orientation(std::span<const std::byte> tiff);

/// The picture turned as that orientation asks.
Picture oriented(Picture picture, int orientation);

}  // namespace tersor::samples
