// SPDX-License-Identifier: Apache-2.0
#include "core/base/error.h"
#include "core/samples/format.h"
#include "tests/catch.h"
#include "tests/samples/make_files.h"

using namespace tersor;
using namespace tersor::samples;
using namespace tersor::test;
using Catch::Matchers::Contains;

namespace {

void put(FileBytes& file, uint32_t value, size_t count) {
  for (size_t i = 0; i < count; ++i, value >>= 8) file.push_back(static_cast<std::byte>(value & 255));
}

struct Bmp {
  int32_t width = 1, height = 1;
  uint32_t bits = 24;
  std::vector<uint32_t> pixels;     // bytes, as they lie in the file
  std::vector<uint32_t> palette{};  // 0xrrggbb
  std::vector<uint32_t> masks{};    // red, green, blue, alpha
};

FileBytes bytes_of(const Bmp& bmp) {
  const uint32_t compression = bmp.masks.empty() ? 0 : 3, info = bmp.masks.size() > 3 ? 56 : 40;
  const auto extra = static_cast<uint32_t>(4 * (bmp.palette.size() + bmp.masks.size()));
  FileBytes file{std::byte{'B'}, std::byte{'M'}};
  put(file, 0, 8);
  put(file, 54 + extra, 4);
  put(file, info, 4);
  put(file, static_cast<uint32_t>(bmp.width), 4);
  put(file, static_cast<uint32_t>(bmp.height), 4);
  put(file, 1, 2);
  put(file, bmp.bits, 2);
  put(file, compression, 4);
  put(file, 0, 12);
  put(file, static_cast<uint32_t>(bmp.palette.size()), 4);
  put(file, 0, 4);
  for (const uint32_t mask : bmp.masks) put(file, mask, 4);
  for (const uint32_t colour : bmp.palette) put(file, colour, 4);
  for (const uint32_t byte : bmp.pixels) put(file, byte, 1);
  return file;
}

std::vector<int> pixels(const Bmp& bmp) {
  const Picture picture = decode_picture(bytes_of(bmp));
  return {picture.pixels.begin(), picture.pixels.end()};
}

}  // namespace

TEST_CASE("BMP rows lie from the bottom up, or from the top down, and are filled up to four bytes") {
  const std::vector<uint32_t> rows{3, 2, 1, 6, 5, 4, 0, 0, 9, 8, 7, 12, 11, 10, 0, 0};
  REQUIRE(pixels({2, 2, 24, rows}) == std::vector<int>{7, 8, 9, 10, 11, 12, 1, 2, 3, 4, 5, 6});
  REQUIRE(pixels({2, -2, 24, rows}) == std::vector<int>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
}

TEST_CASE("BMP pixels of every depth come out in 8 bits, a grey palette as one channel") {
  REQUIRE(pixels({3, 1, 1, {0b10100000, 0, 0, 0}, {0x000000, 0xffffff}}) == std::vector<int>{255, 0, 255});
  REQUIRE(pixels({2, 1, 4, {0x12, 0, 0, 0}, {0x000000, 0x010203, 0x040506}}) == std::vector<int>{1, 2, 3, 4, 5, 6});
  REQUIRE(pixels({2, 1, 8, {1, 0, 0, 0}, {0x070707, 0x090909}}) == std::vector<int>{9, 7});
  REQUIRE(pixels({1, 1, 16, {0x1f, 0x7c, 0, 0}}) == std::vector<int>{255, 0, 255});
  REQUIRE(pixels({1, 1, 16, {0xe0, 0x07, 0, 0}, {}, {0xf800, 0x07e0, 0x001f}}) == std::vector<int>{0, 255, 0});
  REQUIRE(pixels({1, 1, 32, {3, 2, 1, 0}}) == std::vector<int>{1, 2, 3});
  // A mask of alpha lays the picture over white.
  REQUIRE(pixels({1, 1, 32, {30, 20, 10, 51}, {}, {0xff0000, 0xff00, 0xff, 0xff000000}}) ==
          std::vector<int>{206, 208, 210});
}

TEST_CASE("damaged and compressed BMP pictures are refused with a sentence") {
  const auto refusal = [](const FileBytes& file) { return error_of([&] { decode_bmp(file); }); };
  const FileBytes good = bytes_of(Bmp{2, 1, 8, {1, 0, 0, 0}, {0x070707, 0x090909}});
  for (size_t length = 2; length < good.size(); ++length)
    REQUIRE_THROWS_AS(decode_bmp(std::span(good).first(length)), Error);
  REQUIRE_THAT(refusal(bytes_of(Bmp{2, 1, 8, {2, 0, 0, 0}, {0x070707, 0x090909}})), Contains("colour 2 of 2"));
  REQUIRE_THAT(refusal(bytes_of(Bmp{1, 1, 32, {0, 0, 0, 0}, {}, {0xff00ff, 0xff00, 0xff}})), Contains("has gaps"));
  REQUIRE_THAT(refusal(bytes_of(Bmp{1, 1, 2, {0, 0, 0, 0}})), Contains("pixels of 2 bits"));
  REQUIRE_THAT(refusal(bytes_of(Bmp{100000, 100000, 24, {0}})), Contains("at most 100 million"));
  REQUIRE_THAT(refusal(bytes_of(Bmp{10000, 10000, 24, {0}})), Contains("fewer pixels than its header says"));
  FileBytes compressed = good;
  compressed[30] = std::byte{1};
  REQUIRE_THAT(refusal(compressed), Contains("is compressed"));
}

TEST_CASE("a BMP picture with any byte changed decodes or is refused, never worse") {
  FileBytes file = bytes_of(Bmp{3, 2, 4, {0x12, 0x10, 0, 0, 0x01, 0x20, 0, 0}, {1, 2, 3}});
  for (size_t at = 0; at < file.size(); ++at)
    for (const int flip : {0x01, 0x40, 0x80, 0xff}) {
      file[at] ^= static_cast<std::byte>(flip);
      try {
        decode_bmp(file);
      } catch (const Error& error) {
        REQUIRE(error.code == ErrorCode::kInvalidSamples);
      }
      file[at] ^= static_cast<std::byte>(flip);
    }
}
