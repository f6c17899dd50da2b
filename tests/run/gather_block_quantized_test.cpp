// SPDX-License-Identifier: Apache-2.0
// com.microsoft GatherBlockQuantized gives what ONNX Runtime 1.32 gave for the same bytes.
#include "core/base/error.h"
#include "core/run/program.h"
#include "tests/catch.h"
#include "tests/support/model_builder.h"

namespace gather_block_quantized_test {
using namespace tersor;

namespace {

Tensor bytes_of(DType type, Shape shape, const std::vector<int>& bytes) {
  Tensor tensor = Tensor::make(type, std::move(shape));
  for (size_t k = 0; k < bytes.size(); ++k) tensor.mutable_bytes()[k] = static_cast<std::byte>(bytes[k]);
  return tensor;
}

Tensor gathered(const Tensor& data, const Tensor& indices, const Tensor& scales, const Tensor& zeros,
                const test::ModelBuilder::Attributes& attributes) {
  test::ModelBuilder builder;
  const ValueId ids = builder.input("ids", indices.shape().dims(), DType::kInt64);
  builder.output(builder.node(
      "com.microsoft::GatherBlockQuantized",
      {builder.model.graph.add_initializer("data", data), ids, builder.model.graph.add_initializer("scales", scales),
       builder.model.graph.add_initializer("zeros", zeros)},
      attributes));
  return run::Runner(run::Program::compile(builder.model, ops::standard())).run(std::vector{indices})[0];
}

void require_floats(const Tensor& got, const Shape& shape, const std::vector<float>& expected) {
  REQUIRE(got.shape() == shape);
  REQUIRE(std::vector<float>(got.data<float>().begin(), got.data<float>().end()) == expected);
}

}  // namespace

TEST_CASE("int4 is gathered along any axis, with blocks along another") {
  std::vector<int> codes;
  for (int k = 0; k < 26; ++k) codes.push_back((37 * k + 11) % 256);
  const Tensor got =
      gathered(bytes_of(DType::kInt4, {17, 3}, codes), Tensor::of<int64_t>({2}, {-1, 0}),
               Tensor::of<float>({2, 3}, {.5f, -1, 2, 4, .25f, 8}), bytes_of(DType::kInt4, {2, 3}, {0x3f, 0x82, 0x07}),
               {{"gather_axis", int64_t{1}}, {"quantize_axis", int64_t{0}}, {"block_size", int64_t{16}}});
  require_floats(got, {17, 2},
                 {-4, -2, 6,    2,   -6,   -2.5f, -12, -3,  -8, -3, 2,     .5f, -10,  -3.5f, -16, 4,   -12,
                  4,  -2, -.5f, -14, 3.5f, -20,   3,   -16, 3,  -8, -1.5f, -18, 2.5f, 6,     2,   -64, 44});
}

TEST_CASE("uint8 holds four codes of 2 bits, and zero points begin a byte in each row") {
  const Tensor data = bytes_of(DType::kUint8, {2, 5}, {7, 60, 113, 166, 219, 29, 120, 211, 302 % 256, 393 % 256});
  const Tensor scales = Tensor::of<float>({2, 2}, {.5f, 3, -2, .125f});
  const Tensor zeros = bytes_of(DType::kUint8, {2, 1}, {0x07, 0x0e});
  const test::ModelBuilder::Attributes attributes = {{"bits", int64_t{2}}, {"block_size", int64_t{16}}};
  require_floats(
      gathered(data, Tensor::of<int64_t>({1, 2}, {1, -2}), scales, zeros, attributes), {1, 2, 20},
      {2, -2, 2,     4,     4,     0, -2, 2,     -2, 4,     2, -2, 0,    -2, 0,    4,    -.25f, -.125f, -.375f, -.125f,
       0, -1, -1.5f, -1.5f, -1.5f, 0, 0,  -1.5f, -1, -1.5f, 0, -1, -.5f, -1, -.5f, -.5f, 6,     3,      0,      6});
  // ONNX Runtime gives zeros for a word that is not in the table.
  REQUIRE_THROWS_AS(gathered(data, Tensor::of<int64_t>({1}, {2}), scales, zeros, attributes), Error);
}

}  // namespace gather_block_quantized_test
