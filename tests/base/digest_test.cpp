// SPDX-License-Identifier: Apache-2.0
#include "core/base/digest.h"

#include "tests/catch.h"

namespace {
std::string digest(std::string_view text) {
  tersor::Sha256 sha;
  sha.update(text);
  return sha.hex();
}
}  // namespace

// FIPS 180-4 example values.
TEST_CASE("SHA-256 gives the published digests") {
  REQUIRE(digest("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  REQUIRE(digest("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  REQUIRE(digest("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
          "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

TEST_CASE("SHA-256 does not depend on how the bytes arrive") {
  const std::string text(1000, 'x');
  for (size_t cut : {1u, 55u, 56u, 63u, 64u, 65u, 127u, 999u}) {
    tersor::Sha256 sha;
    sha.update(std::string_view(text).substr(0, cut));
    sha.update(std::string_view(text).substr(cut));
    REQUIRE(sha.hex() == digest(text));
  }
}

TEST_CASE("two digests taken at once are those of each") {
  const std::string text(1000, 'x'), other(1300, 'y');
  for (size_t begun : {0u, 1u, 63u, 64u})
    for (size_t length : {0u, 1u, 63u, 64u, 65u, 500u, 900u}) {
      tersor::Sha256 a, b;
      a.update(std::string_view(text).substr(0, begun));
      const auto bytes = [](std::string_view part) { return std::as_bytes(std::span(part.data(), part.size())); };
      const std::string_view rest = std::string_view(text).substr(begun, length);
      tersor::Sha256::update(a, bytes(rest), b, bytes(other));
      b.update("z");
      REQUIRE(a.hex() == digest(text.substr(0, begun + rest.size())));
      REQUIRE(b.hex() == digest(other + "z"));
    }
}
