// SPDX-License-Identifier: Apache-2.0
// Netpbm pictures: bitmaps (.pbm), grey (.pgm) and colour (.ppm), as text or as bytes, of up to 16 bits.
#include <string>

#include "core/base/error.h"
#include "core/samples/picture.h"

namespace tersor::samples {

namespace {

[[noreturn]] void broken(const std::string& what) {
  throw Error(ErrorCode::kInvalidSamples, "The Netpbm picture is damaged: " + what + ".", {},
              "Save the picture again, or leave it out.");
}

bool is_blank(std::byte one) {
  const auto c = static_cast<char>(one);
  return c == ' ' || (c >= '\t' && c <= '\r');
}

bool is_digit(std::byte one) {
  return one >= std::byte{'0'} && one <= std::byte{'9'};
}

/// Numbers as text, with blanks and comments between them.
class Words {
 public:
  Words(std::span<const std::byte> file, size_t at) : file_(file), at_(at) {}

  /// At most `most`.
  uint32_t number(uint32_t most, const char* what) {
    skip();
    if (at_ == file_.size()) broken(std::string("it ends before its ") + what);
    if (!is_digit(file_[at_])) broken(std::string("its ") + what + " is no number");
    uint64_t value = 0;
    while (at_ < file_.size() && is_digit(file_[at_])) {
      value = value * 10 + static_cast<uint64_t>(file_[at_++]) - '0';
      if (value > most) broken(std::string("its ") + what + " is larger than " + std::to_string(most));
    }
    return static_cast<uint32_t>(value);
  }
  /// One digit, 0 or 1; they may stand without blanks.
  uint32_t bit() {
    skip();
    if (at_ == file_.size()) broken("it has fewer pixels than its header says");
    const auto c = static_cast<char>(file_[at_++]);
    if (c != '0' && c != '1') broken("a pixel is neither 0 nor 1");
    return static_cast<uint32_t>(c - '0');
  }
  /// After the one blank that ends a header.
  size_t end() const {
    if (at_ == file_.size() || !is_blank(file_[at_])) broken("its header does not end in a blank");
    return at_ + 1;
  }
  size_t at() const { return at_; }

 private:
  void skip() {
    for (; at_ < file_.size(); ++at_) {
      if (file_[at_] == std::byte{'#'})
        while (at_ < file_.size() && file_[at_] != std::byte{'\n'}) ++at_;
      if (at_ == file_.size() || !is_blank(file_[at_])) return;
    }
  }

  std::span<const std::byte> file_;
  size_t at_;
};

struct Header {
  int64_t width = 0, height = 0;
  int channels = 1;
  bool is_bitmap = false, is_text = false;
  uint32_t most = 1;  // the value of white
  size_t pixels = 0;  // where they begin
};

Header read_header(std::span<const std::byte> file) {
  constexpr size_t kKind = 1, kAfterKind = 2;
  constexpr uint32_t kMostSide = 2'000'000'000, kMostValue = 65535;
  const auto kind = static_cast<char>(file[kKind]);
  Header header;
  header.is_bitmap = kind == '1' || kind == '4';
  header.is_text = kind <= '3';
  header.channels = kind == '3' || kind == '6' ? 3 : 1;
  Words words(file, kAfterKind);
  header.width = words.number(kMostSide, "width");
  header.height = words.number(kMostSide, "height");
  check_picture_size(header.width, header.height);
  if (!header.is_bitmap) header.most = words.number(kMostValue, "largest value");
  if (header.most == 0) broken("its largest value is 0");
  header.pixels = header.is_text ? words.at() : words.end();
  return header;
}

}  // namespace

bool is_netpbm(std::span<const std::byte> head) {
  return head.size() > 2 && head[0] == std::byte{'P'} && head[1] >= std::byte{'1'} && head[1] <= std::byte{'6'} &&
         (is_blank(head[2]) || head[2] == std::byte{'#'});
}

PictureHeader read_netpbm_header(std::span<const std::byte> file) {
  const Header header = read_header(file);
  return {header.width, header.height};
}

Picture decode_netpbm(std::span<const std::byte> file) {
  const Header header = read_header(file);
  const auto count = static_cast<size_t>(header.width * header.height * header.channels);
  const size_t value_bytes = header.most > 255 ? 2 : 1;
  const auto row_bits = static_cast<size_t>(header.width + 7) / 8;
  // What the header promises is there before anything is allocated for it: each value takes a byte at least.
  const size_t least = header.is_bitmap && !header.is_text ? row_bits * static_cast<size_t>(header.height)
                       : header.is_text                    ? count
                                                           : count * value_bytes;
  if (least > file.size() - header.pixels) broken("it has fewer pixels than its header says");
  Picture picture{header.width, header.height, header.channels, {}};
  picture.pixels.resize(count);
  Words words(file, header.pixels);
  for (size_t i = 0; i < count; ++i) {
    if (header.is_bitmap) {
      const size_t x = i % static_cast<size_t>(header.width), y = i / static_cast<size_t>(header.width);
      const uint32_t black =
          header.is_text ? words.bit()
                         : static_cast<uint32_t>(file[header.pixels + y * row_bits + x / 8]) >> (7 - x % 8) & 1U;
      picture.pixels[i] = black != 0 ? 0 : 255;
      continue;
    }
    uint32_t value = 0;
    if (header.is_text) {
      value = words.number(header.most, "pixel");
    } else {
      for (size_t b = 0; b < value_bytes; ++b)
        value = value << 8 | static_cast<uint32_t>(file[header.pixels + i * value_bytes + b]);
      if (value > header.most) broken("a pixel is larger than its largest value");
    }
    picture.pixels[i] = static_cast<uint8_t>((value * 255 + header.most / 2) / header.most);
  }
  return picture;
}

}  // namespace tersor::samples
