// SPDX-License-Identifier: Apache-2.0
#include "core/tflite/read.h"

#include <cstring>

#include "core/base/error.h"
#include "core/tflite/write.h"
#include "tests/catch.h"

using namespace tersor;
using namespace tersor::tflite;

namespace {

std::vector<std::byte> small_file() {
  Network network;
  network.name = "main";
  network.description = "made by hand";
  network.tensors = {{"x", {1, 4, 4, 2}, DType::kInt8, {{0.5F}, {-3}, 0}},
                     {"w", {3, 1, 1, 2}, DType::kInt8, {{0.1F, 0.2F, 0.3F}, {0, 0, 0}, 0}},
                     {"b", {3}, DType::kInt32, {{0.05F, 0.1F, 0.15F}, {0, 0, 0}, 0}},
                     {"y", {1, 4, 4, 3}, DType::kInt8, {{0.25F}, {7}, 0}},
                     {"z", {1, 4, 4, 3}, DType::kInt8, {{0.125F}, {-128}, 0}}};
  network.tensors[1].data = Tensor::of<int8_t>(Shape{3, 1, 1, 2}, {1, -2, 3, -4, 5, -6});
  network.tensors[2].data = Tensor::of<int32_t>(Shape{3}, {100, -200, 300});
  Options options;
  options.stride_h = options.stride_w = 1;
  options.dilation_w = 2;
  options.activation = kRelu6Activation;
  Options slope;
  slope.alpha = 0.3F;
  network.operators = {{Code::kConv2d, {0, 1, 2}, {3}, options}, {Code::kLeakyRelu, {3}, {4}, slope}};
  network.inputs = {0};
  network.outputs = {4};
  return write(network);
}

Network read_bytes(const std::vector<std::byte>& bytes) {
  return read(bytes, nullptr);
}

}  // namespace

TEST_CASE("a file is read as it was written") {
  const auto file = small_file();
  const Network network = read_bytes(file);
  REQUIRE(network.tensors.size() == 5);
  CHECK(network.description == "made by hand");
  CHECK(network.tensors[1].quantization == Quantization{{0.1F, 0.2F, 0.3F}, {0, 0, 0}, 0});
  CHECK(*network.tensors[2].data == Tensor::of<int32_t>(Shape{3}, {100, -200, 300}));
  REQUIRE(network.operators.size() == 2);
  CHECK(network.operators[0].inputs == std::vector<int32_t>{0, 1, 2});
  CHECK(network.operators[0].options.dilation_w == 2);
  CHECK(network.operators[0].options.activation == kRelu6Activation);
  CHECK(network.operators[1].options.alpha == 0.3F);
  CHECK(write(network) == file);
}

TEST_CASE("a file that is cut short or changed in a byte is refused or read, and nothing else happens") {
  const auto file = small_file();
  for (size_t length = 0; length + 4 < file.size(); ++length)
    CHECK_THROWS_AS(read_bytes({file.begin(), file.begin() + static_cast<std::ptrdiff_t>(length)}), Error);
  int refused = 0;
  for (size_t at = 0; at < file.size(); ++at)
    for (const int value : {0, 1, 127, 128, 255}) {
      auto changed = file;
      changed[at] = static_cast<std::byte>(value);
      try {
        read_bytes(changed);
      } catch (const Error& error) {
        REQUIRE((error.code == ErrorCode::kInvalidModel || error.code == ErrorCode::kUnsupportedModel));
        ++refused;
      }
    }
  CHECK(refused > 500);
}

TEST_CASE("an operator that the old field alone names is found") {
  auto file = small_file();
  // The newer field of CONV_2D, code 3: a converter of 2021 left it 0.
  const auto word = [&](size_t at) {
    uint32_t value = 0;
    std::memcpy(&value, file.data() + at, 4);
    return value;
  };
  const size_t model = word(0), vtable = model - word(model);
  uint16_t offset = 0;
  std::memcpy(&offset, file.data() + vtable + 6, 2);
  const size_t codes = model + offset + word(model + offset), code = codes + 4 + word(codes + 4);
  std::memcpy(&offset, file.data() + code - word(code) + 4 + 6, 2);
  REQUIRE(word(code + offset) == 3);
  std::memset(file.data() + code + offset, 0, 4);
  CHECK(read_bytes(file).operators[0].code == Code::kConv2d);
}
