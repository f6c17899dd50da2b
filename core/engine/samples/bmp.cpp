// SPDX-License-Identifier: Apache-2.0
// BMP (Windows bitmaps, also those of OS/2): 1, 4 and 8 bits with a palette, 16, 24 and 32 bits with or without masks,
// from the bottom up or from the top down. Pixels that are compressed are refused.
#include <algorithm>
#include <array>
#include <bit>
#include <string>

#include "core/base/error.h"
#include "core/samples/picture.h"

namespace tersor::samples {

namespace {

constexpr size_t kFileHeader = 14, kCoreHeader = 12, kInfoHeader = 40;

[[noreturn]] void broken(const std::string& what) {
  throw Error(ErrorCode::kInvalidSamples, "The BMP picture is damaged: " + what + ".", {},
              "Save the picture again, or leave it out.");
}

[[noreturn]] void not_read(const std::string& what) {
  throw Error(ErrorCode::kInvalidSamples, "The BMP picture " + what + ", which is not read.", {},
              "Save the picture without compression, or as .png.");
}

/// A whole number of `count` bytes, the lowest first.
uint32_t little(std::span<const std::byte> file, size_t at, size_t count) {
  if (at > file.size() || count > file.size() - at) broken("it ends within its header");
  uint32_t value = 0;
  for (size_t i = count; i-- > 0;) value = value << 8 | static_cast<uint32_t>(file[at + i]);
  return value;
}

/// Where a colour lies in a pixel.
struct Mask {
  int shift = 0;
  uint32_t most = 0;  // 0: the colour is not there

  static Mask of(uint32_t bits) {
    if (bits == 0) return {};
    const int shift = std::countr_zero(bits);
    const uint32_t most = bits >> shift;
    if ((most & (most + 1)) != 0) broken("a mask of its colours has gaps");
    return {shift, most};
  }
  uint8_t value(uint32_t pixel) const {
    return most == 0 ? 0 : static_cast<uint8_t>(uint64_t{pixel >> shift & most} * 255 / most);
  }
};

struct Header {
  int64_t width = 0, height = 0;
  bool from_top = false;
  int bits = 0;
  size_t pixels = 0;   // where they begin
  size_t palette = 0;  // where it begins
  size_t entry = 4;    // bytes of a palette's entry
  size_t entries = 0;
  std::array<Mask, 4> masks;  // red, green, blue, alpha

  /// Rows are filled up to whole words of four bytes.
  int64_t row_bytes() const { return (width * bits + 31) / 32 * 4; }
};

void read_masks(std::span<const std::byte> file, uint32_t compression, size_t info, Header& header) {
  constexpr uint32_t kNone = 0, kMasks = 3, kMasksWithAlpha = 6;
  std::array<uint32_t, 4> bits{0xff0000, 0xff00, 0xff, 0};
  if (compression == kNone && header.bits == 16) bits = {0x7c00, 0x3e0, 0x1f, 0};
  if (compression == kMasks || compression == kMasksWithAlpha) {
    if (header.bits != 16 && header.bits != 32)
      broken("it has masks for pixels of " + std::to_string(header.bits) + " bits");
    constexpr size_t kWithAlpha = 56;  // a header of this length names a mask of alpha
    const bool alpha = info >= kWithAlpha || compression == kMasksWithAlpha;
    for (size_t c = 0; c < (alpha ? 4 : 3); ++c) bits[c] = little(file, kFileHeader + kInfoHeader + 4 * c, 4);
  }
  for (size_t c = 0; c < 4; ++c) header.masks[c] = Mask::of(bits[c]);
}

Header read_header(std::span<const std::byte> file) {
  Header header;
  header.pixels = little(file, 10, 4);
  const size_t info = little(file, kFileHeader, 4);
  if (info != kCoreHeader && info < kInfoHeader) broken("its header has " + std::to_string(info) + " bytes");
  const bool is_core = info == kCoreHeader;
  const auto side = [&](size_t at) { return static_cast<int64_t>(static_cast<int32_t>(little(file, at, 4))); };
  header.width = is_core ? int64_t{little(file, 18, 2)} : side(18);
  header.height = is_core ? int64_t{little(file, 20, 2)} : side(22);
  header.from_top = header.height < 0;
  header.height = header.from_top ? -header.height : header.height;
  check_picture_size(header.width, header.height);
  header.bits = static_cast<int>(little(file, is_core ? 24 : 28, 2));
  constexpr int kBits[] = {1, 4, 8, 16, 24, 32};
  if (std::find(std::begin(kBits), std::end(kBits), header.bits) == std::end(kBits))
    not_read("has pixels of " + std::to_string(header.bits) + " bits");
  const uint32_t compression = is_core ? 0 : little(file, 30, 4);
  if (compression != 0 && compression != 3 && compression != 6) not_read("is compressed");
  if (header.bits >= 16) {
    read_masks(file, compression, info, header);
    return header;
  }
  if (compression != 0) broken("it has masks for pixels of " + std::to_string(header.bits) + " bits");
  header.palette = kFileHeader + info;
  header.entry = is_core ? 3 : 4;
  const size_t most = size_t{1} << header.bits;
  const size_t said = is_core ? 0 : little(file, 46, 4);
  header.entries = said == 0 || said > most ? most : said;
  return header;
}

/// Red, green and blue of each entry.
std::vector<std::array<uint8_t, 3>> read_palette(std::span<const std::byte> file, const Header& header) {
  std::vector<std::array<uint8_t, 3>> palette(header.entries);
  for (size_t i = 0; i < palette.size(); ++i) {
    const uint32_t blue_first = little(file, header.palette + i * header.entry, 3);
    palette[i] = {static_cast<uint8_t>(blue_first >> 16), static_cast<uint8_t>(blue_first >> 8),
                  static_cast<uint8_t>(blue_first)};
  }
  return palette;
}

/// Over white.
uint8_t laid(uint32_t value, uint32_t alpha) {
  return static_cast<uint8_t>((value * alpha + 255 * (255 - alpha) + 127) / 255);
}

}  // namespace

bool is_bmp(std::span<const std::byte> head) {
  constexpr size_t kShortest = 26;  // two letters begin many a text, so the length of the header has to be one, too
  if (head.size() < kShortest || head[0] != std::byte{'B'} || head[1] != std::byte{'M'}) return false;
  const uint32_t info = little(head, kFileHeader, 4);
  return info == kCoreHeader || (info >= kInfoHeader && info <= 124);
}

PictureHeader read_bmp_header(std::span<const std::byte> file) {
  const Header header = read_header(file);
  return {header.width, header.height};
}

Picture decode_bmp(std::span<const std::byte> file) {
  const Header header = read_header(file);
  const auto row_bytes = static_cast<uint64_t>(header.row_bytes());
  if (header.pixels > file.size() || (file.size() - header.pixels) / row_bytes < static_cast<uint64_t>(header.height))
    broken("it has fewer pixels than its header says");
  const auto palette = read_palette(file, header);
  const bool grey = !palette.empty() && std::all_of(palette.begin(), palette.end(), [](const auto& one) {
    return one[0] == one[1] && one[1] == one[2];
  });
  Picture picture{header.width, header.height, grey ? 1 : 3, {}};
  picture.pixels.resize(static_cast<size_t>(header.width * header.height * picture.channels));
  const auto bytes = static_cast<size_t>(header.bits) / 8;
  uint8_t* to = picture.pixels.data();
  for (int64_t y = 0; y < header.height; ++y) {
    const auto line = static_cast<size_t>(header.from_top ? y : header.height - 1 - y);
    const std::span<const std::byte> row = file.subspan(header.pixels + line * row_bytes, row_bytes);
    for (size_t x = 0; x < static_cast<size_t>(header.width); ++x) {
      if (palette.empty()) {
        const uint32_t pixel = little(row, x * bytes, bytes);
        const uint32_t alpha = header.masks[3].most == 0 ? 255 : header.masks[3].value(pixel);
        for (size_t c = 0; c < 3; ++c) *to++ = laid(header.masks[c].value(pixel), alpha);
        continue;
      }
      const size_t bit = x * static_cast<size_t>(header.bits);
      const auto byte = static_cast<uint32_t>(row[bit / 8]);
      const uint32_t index = byte >> (8 - static_cast<uint32_t>(header.bits) - bit % 8) & ((1U << header.bits) - 1);
      if (index >= palette.size())
        broken("a pixel has colour " + std::to_string(index) + " of " + std::to_string(palette.size()));
      for (int c = 0; c < picture.channels; ++c) *to++ = palette[index][static_cast<size_t>(c)];
    }
  }
  return picture;
}

}  // namespace tersor::samples
