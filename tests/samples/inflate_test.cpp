// SPDX-License-Identifier: Apache-2.0
#include "core/samples/inflate.h"

#include <algorithm>

#include "tests/catch.h"
#include "tests/samples/make_files.h"
#include "tests/samples/material.h"

using namespace tersor;
using namespace tersor::samples;
using tersor::test::bytes_of;

namespace {

const std::string kText = test::material::kDeflated;

std::string inflated(std::span<const uint8_t> packed, size_t room) {
  std::vector<std::byte> out(room);
  const Inflated result = inflate(std::as_bytes(packed), out);
  return std::string(reinterpret_cast<const char*>(out.data()), result.written) + (result.complete ? "" : "...");
}

}  // namespace

TEST_CASE("stored, fixed and dynamic blocks inflate to what was deflated") {
  REQUIRE(inflated(test::material::kDeflateUnpacked, kText.size()) == kText);
  REQUIRE(inflated(test::material::kDeflateFixed, kText.size()) == kText);
  REQUIRE(inflated(test::material::kDeflateDynamic, kText.size()) == kText);
}

TEST_CASE("a full output ends the inflation with what fits") {
  for (size_t room : {size_t{0}, size_t{1}, size_t{57}, kText.size() - 1}) {
    REQUIRE(inflated(test::material::kDeflateUnpacked, room) == kText.substr(0, room) + "...");
    REQUIRE(inflated(test::material::kDeflateFixed, room) == kText.substr(0, room) + "...");
    REQUIRE(inflated(test::material::kDeflateDynamic, room) == kText.substr(0, room) + "...");
  }
}

TEST_CASE("every prefix of a deflate stream is refused") {
  for (std::span<const uint8_t> packed : {std::span<const uint8_t>(test::material::kDeflateUnpacked),
                                          std::span<const uint8_t>(test::material::kDeflateFixed),
                                          std::span<const uint8_t>(test::material::kDeflateDynamic)})
    for (size_t length = 0; length < packed.size(); ++length)
      REQUIRE_THROWS_AS(inflated(packed.first(length), kText.size()), Error);
}

TEST_CASE("a deflate stream with any byte changed ends, and stays in bounds") {
  std::vector<uint8_t> packed(std::begin(test::material::kDeflateDynamic), std::end(test::material::kDeflateDynamic));
  int refused = 0;
  size_t longest = 0;
  for (size_t at = 0; at < packed.size(); ++at)
    for (uint8_t flip : {0x01, 0x10, 0xff}) {
      packed[at] ^= flip;
      try {
        longest = std::max(longest, inflated(packed, kText.size()).size());
      } catch (const Error&) {
        ++refused;
      }
      packed[at] ^= flip;
    }
  REQUIRE(refused > 0);
  REQUIRE(longest <= kText.size() + 3);
}

TEST_CASE("the checksum is that of zip and PNG") {
  REQUIRE(crc32(bytes_of("123456789")) == 0xcbf43926u);
  REQUIRE(crc32(bytes_of("6789"), crc32(bytes_of("12345"))) == 0xcbf43926u);
  REQUIRE(crc32({}) == 0u);
}
