// SPDX-License-Identifier: Apache-2.0
#include "core/tflite/write.h"

#include <cstring>

#include "tests/catch.h"

using namespace tersor;
using namespace tersor::tflite;

namespace {

uint32_t word_at(const std::vector<std::byte>& file, size_t at) {
  uint32_t word = 0;
  REQUIRE(at + 4 <= file.size());
  std::memcpy(&word, file.data() + at, sizeof word);
  return word;
}

/// Where the slot of a table refers to, by the format's own rules; 0 where the slot is not there.
size_t follow(const std::vector<std::byte>& file, size_t table, int slot) {
  const size_t vtable = table - static_cast<size_t>(static_cast<int32_t>(word_at(file, table)));
  uint16_t size = 0, offset = 0;
  std::memcpy(&size, file.data() + vtable, 2);
  if (static_cast<size_t>(slot) * 2 + 4 >= size) return 0;
  std::memcpy(&offset, file.data() + vtable + 4 + 2 * static_cast<size_t>(slot), 2);
  return offset == 0 ? 0 : table + offset + word_at(file, table + offset);
}

Network constants(std::vector<std::vector<int8_t>> values) {
  Network network;
  for (const auto& one : values) {
    NetworkTensor tensor{"c", {static_cast<int32_t>(one.size())}};
    tensor.data = Tensor::of<int8_t>(Shape{static_cast<int64_t>(one.size())}, std::span<const int8_t>(one));
    network.tensors.push_back(std::move(tensor));
  }
  return network;
}

}  // namespace

TEST_CASE("a file has its identifier, its version and its constants at multiples of 16") {
  const auto file = write(constants({{1, 2, 3}, {4}, {5, 6, 7, 8, 9}}));
  REQUIRE(std::memcmp(file.data() + 4, "TFL3", 4) == 0);
  REQUIRE(file.size() % 4 == 0);
  const size_t model = word_at(file, 0);
  const size_t buffers = follow(file, model, 4);
  REQUIRE(word_at(file, buffers) == 4);  // the first is the empty one
  for (const auto& [k, count, first] : {std::tuple{1, 3, 1}, {2, 1, 4}, {3, 5, 5}}) {
    const size_t entry = buffers + 4 + 4 * static_cast<size_t>(k);
    const size_t data = follow(file, entry + word_at(file, entry), 0);
    CHECK(word_at(file, data) == static_cast<uint32_t>(count));
    CHECK((data + 4) % 16 == 0);
    CHECK(file[data + 4] == static_cast<std::byte>(first));
  }
}

TEST_CASE("equal constants are stored once, and equal networks give equal bytes") {
  const auto once = write(constants({{1, 2, 3}})), twice = write(constants({{1, 2, 3}, {1, 2, 3}}));
  CHECK(word_at(once, follow(once, word_at(once, 0), 4)) == 2);
  CHECK(word_at(twice, follow(twice, word_at(twice, 0), 4)) == 2);
  CHECK(once == write(constants({{1, 2, 3}})));
}

TEST_CASE("an operator above 127 is written in both of its fields") {
  Network network;
  network.tensors = {{"x", {1}}, {"y", {1}}};
  network.operators = {{Code::kHardSwish, {0}, {1}}};
  const auto file = write(network);
  const size_t codes = follow(file, word_at(file, 0), 1);
  const size_t code = codes + 4 + word_at(file, codes + 4);
  const size_t vtable = code - static_cast<size_t>(static_cast<int32_t>(word_at(file, code)));
  uint16_t old_place = 0, new_place = 0;
  std::memcpy(&old_place, file.data() + vtable + 4, 2);
  std::memcpy(&new_place, file.data() + vtable + 4 + 6, 2);
  CHECK(file[code + old_place] == static_cast<std::byte>(117));
  CHECK(word_at(file, code + new_place) == 117);
}
