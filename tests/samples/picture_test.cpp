// SPDX-License-Identifier: Apache-2.0
#include "core/samples/picture.h"

#include "core/base/digest.h"
#include "core/base/error.h"
#include "core/samples/format.h"
#include "tests/catch.h"
#include "tests/samples/make_files.h"
#include "tests/samples/material.h"

using namespace tersor;
using namespace tersor::samples;
using namespace tersor::test;
using Catch::Matchers::Contains;

namespace {

FileBytes raw(std::initializer_list<int> values) {
  FileBytes out;
  for (int value : values) out.push_back(static_cast<std::byte>(value));
  return out;
}

std::vector<int> pixels(const PngParts& parts) {
  const Picture picture = decode_png(png_of(parts));
  return {picture.pixels.begin(), picture.pixels.end()};
}

}  // namespace

TEST_CASE("pictures decode to the very pixels that Pillow reads") {
  for (const material::PictureCase& one : material::kPictures) {
    INFO(one.name);
    const Picture picture = decode_picture(std::as_bytes(std::span(one.data, one.size)));
    CHECK(picture.width == one.width);
    CHECK(picture.height == one.height);
    CHECK(sha256_hex(std::as_bytes(std::span(picture.pixels))) == one.pixels);
  }
}

TEST_CASE("PNG pixels of every depth come out in 8 bits") {
  REQUIRE(pixels({3, 1, 1, 0, 0, {}, raw({0, 0b10100000})}) == std::vector<int>{255, 0, 255});
  REQUIRE(pixels({3, 1, 2, 0, 0, {}, raw({0, 0b00011100})}) == std::vector<int>{0, 85, 255});
  REQUIRE(pixels({2, 1, 4, 0, 0, {}, raw({0, 0x3f})}) == std::vector<int>{51, 255});
  // 16 bits are rounded, not cut: 0x0180 is 1.494 steps, 0x0182 is 1.502, 0x7fff and 0x8000 lie at 127.498 and 127.502.
  REQUIRE(pixels({4, 1, 16, 0, 0, {}, raw({0, 0x01, 0x80, 0x01, 0x82, 0x7f, 0xff, 0x80, 0x00})}) ==
          std::vector<int>{1, 2, 127, 128});
}

TEST_CASE("transparency is laid over white") {
  REQUIRE(pixels({3, 1, 8, 4, 0, {}, raw({0, 0, 0, 0, 128, 100, 255})}) == std::vector<int>{255, 127, 100});
  REQUIRE(pixels({1, 1, 8, 6, 0, {}, raw({0, 10, 20, 30, 51})}) == std::vector<int>{206, 208, 210});
  REQUIRE(pixels({1, 1, 16, 4, 0, {}, raw({0, 0, 0, 0x80, 0x00})}) == std::vector<int>{127});
  // A key colour, and alpha for palette entries.
  REQUIRE(pixels({2, 1, 8, 0, 0, {{"tRNS", raw({0, 7})}}, raw({0, 7, 8})}) == std::vector<int>{255, 8});
  REQUIRE(pixels({2, 1, 8, 3, 0, {{"PLTE", raw({1, 2, 3, 4, 5, 6})}, {"tRNS", raw({0})}}, raw({0, 0, 1})}) ==
          std::vector<int>{255, 255, 255, 4, 5, 6});
}

TEST_CASE("PNG row filters are undone") {
  // Rows: left 1, above 2, average 3, Paeth 4; each stores what makes 10, 20, 30.
  const FileBytes rows = raw({1, 10, 10, 10, 2, 0, 0, 0, 3, 5, 5, 5, 4, 0, 0, 0});
  REQUIRE(pixels({3, 4, 8, 0, 0, {}, rows}) == std::vector<int>{10, 20, 30, 10, 20, 30, 10, 20, 30, 10, 20, 30});
  REQUIRE_THAT(error_of([] { pixels({1, 1, 8, 0, 0, {}, raw({5, 1})}); }), Contains("unknown filter 5"));
}

TEST_CASE("an interlaced PNG gives the same picture") {
  // 5 x 5 grey, pixel = 10 * y + x; the seven passes in order.
  FileBytes rows;
  const int passes[7][4] = {{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4},
                            {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}};
  for (const auto& [x0, y0, dx, dy] : passes)
    for (int y = y0; y < 5; y += dy) {
      if (x0 < 5) rows.push_back(std::byte{0});
      for (int x = x0; x < 5; x += dx) rows.push_back(static_cast<std::byte>(10 * y + x));
    }
  std::vector<int> wanted;
  for (int y = 0; y < 5; ++y)
    for (int x = 0; x < 5; ++x) wanted.push_back(10 * y + x);
  REQUIRE(pixels({5, 5, 8, 0, 1, {}, rows}) == wanted);
}

TEST_CASE("an EXIF orientation turns the picture") {
  Picture stored{3, 2, 1, {1, 2, 3, 4, 5, 6}};
  const auto turned = [&](int orientation) {
    const Picture picture = oriented(stored, orientation);
    std::vector<int> flat = {static_cast<int>(picture.width)};
    flat.insert(flat.end(), picture.pixels.begin(), picture.pixels.end());
    return flat;
  };
  REQUIRE(turned(1) == std::vector<int>{3, 1, 2, 3, 4, 5, 6});
  REQUIRE(turned(2) == std::vector<int>{3, 3, 2, 1, 6, 5, 4});
  REQUIRE(turned(3) == std::vector<int>{3, 6, 5, 4, 3, 2, 1});
  REQUIRE(turned(4) == std::vector<int>{3, 4, 5, 6, 1, 2, 3});
  REQUIRE(turned(5) == std::vector<int>{2, 1, 4, 2, 5, 3, 6});
  REQUIRE(turned(6) == std::vector<int>{2, 4, 1, 5, 2, 6, 3});
  REQUIRE(turned(7) == std::vector<int>{2, 6, 3, 5, 2, 4, 1});
  REQUIRE(turned(8) == std::vector<int>{2, 3, 6, 2, 5, 1, 4});
}

TEST_CASE("an EXIF block is read in both byte orders, and a broken one asks for nothing") {
  const FileBytes little = raw({'I', 'I', 42, 0, 8, 0, 0, 0, 1, 0, 0x12, 0x01, 3, 0, 1, 0, 0, 0, 6, 0, 0, 0});
  const FileBytes big = raw({'M', 'M', 0, 42, 0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, 8, 0, 0});
  REQUIRE(exif_orientation(little) == 6);
  REQUIRE(exif_orientation(big) == 8);
  for (size_t length = 0; length < 20; ++length) REQUIRE(exif_orientation(std::span(little).first(length)) == 1);
  FileBytes far = little;
  far[4] = far[5] = far[6] = far[7] = std::byte{0xff};
  REQUIRE(exif_orientation(far) == 1);
}

TEST_CASE("enormous and impossible pictures are refused by their header") {
  const auto header_error = [](uint32_t width, uint32_t height) {
    return error_of([&] { decode_picture(png_of({width, height, 8, 2, 0, {}, raw({0})})); });
  };
  REQUIRE_THAT(header_error(100000, 100000), Contains("100000 x 100000 pixels, at most 100 million are read"));
  REQUIRE_THAT(header_error(0xffffffff, 0xffffffff), Contains("at most 100 million"));
  REQUIRE_THAT(header_error(0, 5), Contains("0 x 5 pixels"));
  // 10000 x 10000 is allowed, but six bytes of data cannot hold that: refused before anything is allocated.
  REQUIRE_THAT(header_error(10000, 10000), Contains("fewer pixels than its header says"));
  FileBytes jpeg = bytes_of(std::span<const uint8_t>(material::kJpegGrey));
  for (size_t i = 0; i + 9 < jpeg.size(); ++i)
    if (jpeg[i] == std::byte{0xff} && jpeg[i + 1] == std::byte{0xc0}) {
      jpeg[i + 5] = jpeg[i + 7] = std::byte{0x26};
      REQUIRE_THAT(error_of([&] { decode_picture(jpeg); }), Contains("fewer pixels than its header says"));
      jpeg[i + 5] = jpeg[i + 7] = std::byte{0xff};
      REQUIRE_THAT(error_of([&] { decode_picture(jpeg); }), Contains("at most 100 million"));
      return;
    }
  FAIL("no frame header found");
}

TEST_CASE("kinds of pictures that are not read are named") {
  REQUIRE_THAT(error_of([] { decode_jpeg(std::as_bytes(std::span(material::kJpegCmyk))); }), Contains("CMYK"));
  FileBytes jpeg = bytes_of(std::span<const uint8_t>(material::kJpegGrey));
  for (size_t i = 0; i + 9 < jpeg.size(); ++i) {
    if (jpeg[i] != std::byte{0xff} || jpeg[i + 1] != std::byte{0xc0}) continue;
    jpeg[i + 4] = std::byte{12};
    REQUIRE_THAT(error_of([&] { decode_jpeg(jpeg); }), Contains("12 bits"));
    jpeg[i + 1] = std::byte{0xc9};
    REQUIRE_THAT(error_of([&] { decode_jpeg(jpeg); }), Contains("arithmetic coding"));
  }
  REQUIRE_THAT(error_of([] { decode_picture(bytes_of("GIF89a")); }),
               Contains("no picture of a format that is read, but a GIF picture"));
}

TEST_CASE("every prefix of a picture is refused") {
  for (const material::PictureCase& one : material::kPictures) {
    INFO(one.name);
    const auto file = std::as_bytes(std::span(one.data, one.size));
    // The last bytes of a PNG are its end mark, of a JPEG too: nothing may be missing.
    for (size_t length = 0; length < file.size(); ++length)
      REQUIRE_THROWS_AS(decode_picture(file.first(length)), Error);
  }
}

TEST_CASE("a picture with any byte changed decodes or is refused, never worse") {
  for (const material::PictureCase& one : material::kPictures) {
    INFO(one.name);
    FileBytes file = bytes_of(std::span(one.data, one.size));
    int decoded = 0, refused = 0;
    for (size_t at = 0; at < file.size(); ++at)
      for (int flip : {0x01, 0x40, 0xff}) {
        file[at] ^= static_cast<std::byte>(flip);
        try {
          decoded += decode_picture(file).pixels.empty() ? 0 : 1;
        } catch (const Error& error) {
          REQUIRE(error.code == ErrorCode::kInvalidSamples);
          ++refused;
        }
        file[at] ^= static_cast<std::byte>(flip);
      }
    CHECK(decoded + refused == static_cast<int>(file.size()) * 3);
    CHECK(refused > 0);
  }
}

TEST_CASE("grey is the usual mixture of red, green and blue") {
  const Picture grey = to_grey({3, 1, 3, {255, 0, 0, 0, 255, 0, 0, 0, 255}});
  REQUIRE(grey.pixels == std::vector<uint8_t>{76, 150, 29});
}
