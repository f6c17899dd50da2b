// SPDX-License-Identifier: Apache-2.0
#include "core/samples/npy.h"

#include "core/base/error.h"
#include "tests/catch.h"
#include "tests/samples/make_files.h"

using namespace tersor;
using namespace tersor::samples;
using namespace tersor::test;
using Catch::Matchers::Contains;

namespace {

NpyArray array_in(const FileBytes& file) {
  auto owner = std::make_shared<FileBytes>(file);
  return NpyArray(
      [owner](uint64_t offset, uint64_t length) {
        REQUIRE(offset + length <= owner->size());
        return Bytes{std::span<const std::byte>(*owner).subspan(offset, length), owner};
      },
      file.size());
}

std::vector<float> floats(const FileBytes& file, int64_t index, const Shape& part) {
  NpyArray array = array_in(file);
  const Tensor tensor = to_input_type(array.part(index, part), input({}));
  return {tensor.data<float>().begin(), tensor.data<float>().end()};
}

}  // namespace

TEST_CASE("an array of each element type is read as float32 by value") {
  const std::vector<float> wanted = {0, 1, 100};
  REQUIRE(floats(npy<float>("<f4", "(3,)", {0, 1, 100}), 0, {3}) == wanted);
  REQUIRE(floats(npy<double>("<f8", "(3,)", {0, 1, 100}), 0, {3}) == wanted);
  REQUIRE(floats(npy<uint16_t>("<f2", "(3,)", {0, 0x3c00, 0x5640}), 0, {3}) == wanted);
  REQUIRE(floats(npy<uint8_t>("|u1", "(3,)", {0, 1, 100}), 0, {3}) == wanted);
  REQUIRE(floats(npy<int8_t>("|i1", "(3,)", {0, 1, 100}), 0, {3}) == wanted);
  REQUIRE(floats(npy<int16_t>("<i2", "(3,)", {0, 1, 100}), 0, {3}) == wanted);
  REQUIRE(floats(npy<uint16_t>("<u2", "(3,)", {0, 1, 100}), 0, {3}) == wanted);
  REQUIRE(floats(npy<int32_t>("<i4", "(3,)", {0, 1, 100}), 0, {3}) == wanted);
  REQUIRE(floats(npy<uint32_t>("<u4", "(3,)", {0, 1, 100}), 0, {3}) == wanted);
  REQUIRE(floats(npy<int64_t>("<i8", "(3,)", {0, 1, 100}), 0, {3}) == wanted);
  REQUIRE(floats(npy<uint64_t>("<u8", "(3,)", {0, 1, 100}), 0, {3}) == wanted);
  REQUIRE(floats(npy<uint8_t>("|b1", "(3,)", {0, 1, 1}), 0, {3}) == std::vector<float>{0, 1, 1});
}

TEST_CASE("big-endian elements are turned round") {
  REQUIRE(floats(npy<uint32_t>(">f4", "(2,)", {0x0000803f, 0x000000c0}), 0, {2}) == std::vector<float>{1, -2});
  REQUIRE(floats(npy<uint16_t>(">i2", "(2,)", {0x0100, 0xfeff}), 0, {2}) == std::vector<float>{1, -2});
}

TEST_CASE("a Fortran-order array gives its elements in row-major order") {
  // The array [[[0,1,2],[3,4,5]], [[6,7,8],[9,10,11]]] as Fortran stores it.
  const std::vector<float> stored = {0, 6, 3, 9, 1, 7, 4, 10, 2, 8, 5, 11};
  const FileBytes file = npy<float>("<f4", "(2, 2, 3)", stored, true);
  REQUIRE(floats(file, 0, {2, 2, 3}) == std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  REQUIRE(floats(file, 1, {2, 3}) == std::vector<float>{6, 7, 8, 9, 10, 11});
  REQUIRE(floats(file, 2, {3}) == std::vector<float>{6, 7, 8});
}

TEST_CASE("headers of versions 2 and 3, other orders and spacings are understood") {
  const FileBytes data = bytes_of(std::vector<float>{5, 6});
  for (int version : {1, 2, 3}) {
    const FileBytes file = npy_around("{\"shape\":(2,1),'fortran_order' : False,\n 'descr': \"<f4\"}", data, version);
    REQUIRE(array_in(file).shape() == Shape{2, 1});
    REQUIRE(floats(file, 1, {1}) == std::vector<float>{6});
  }
  REQUIRE(array_in(npy<float>("<f4", "()", {3})).shape() == Shape{});
}

TEST_CASE("what is no array of numbers is refused with a sentence") {
  const auto error = [](const FileBytes& file) { return error_of([&] { array_in(file); }); };
  REQUIRE_THAT(error(npy<float>("|O", "(1,)", {0})), Contains("'|O'"));
  REQUIRE_THAT(error(npy<float>("<U4", "(1,)", {0})), Contains("'<U4'"));
  REQUIRE_THAT(error(npy<double>("<c8", "(1,)", {0})), Contains("'<c8'"));
  REQUIRE_THAT(error(npy_around("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", bytes_of("abcd"))),
               Contains("structured"));
  REQUIRE_THAT(error(npy<float>("<f4", "(3,)", {0, 1})), Contains("needs 12 bytes and 8 are there"));
  REQUIRE_THAT(error(npy<float>("<f4", "(99999999999, 99999999999)", {0})), Contains("impossible"));
  REQUIRE_THAT(error(npy<float>("<f4", "(99999999999999999999999,)", {0})), Contains("impossibly large"));
  REQUIRE_THAT(error(npy_around("{'descr': '<f4', 'shape': (1,)}", bytes_of("abcd"))), Contains("incomplete"));
  REQUIRE_THAT(
      error(npy_around("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'more': 1}", bytes_of("abcd"))),
      Contains("\"more\""));
  REQUIRE_THAT(error(npy_around("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}", bytes_of("abcd"))),
               Contains("number"));
  REQUIRE_THAT(error(npy_around("{}", {}, 9)), Contains("version 9"));
}

TEST_CASE("every prefix of a .npy file is refused") {
  const FileBytes file = npy<float>("<f4", "(2, 3)", {0, 1, 2, 3, 4, 5});
  for (size_t length = 0; length < file.size(); ++length)
    REQUIRE_THROWS_AS(array_in(FileBytes(file.begin(), file.begin() + static_cast<ptrdiff_t>(length))), Error);
  REQUIRE_NOTHROW(array_in(file));
}

TEST_CASE("a .npy file with any byte changed is read or refused, never worse") {
  FileBytes file = npy<float>("<f4", "(2, 3)", {0, 1, 2, 3, 4, 5}, true);
  int read = 0, refused = 0;
  for (size_t at = 0; at < file.size(); ++at)
    for (int flip = 1; flip < 256; flip = flip * 2 + 1) {
      file[at] ^= static_cast<std::byte>(flip);
      try {
        NpyArray array = array_in(file);
        if (array.shape().elements() > 0) array.part(0, array.shape());
        ++read;
      } catch (const Error& error) {
        REQUIRE(error.code == ErrorCode::kInvalidSamples);
        ++refused;
      }
      file[at] ^= static_cast<std::byte>(flip);
    }
  REQUIRE(read > 0);
  REQUIRE(refused > 0);
}
