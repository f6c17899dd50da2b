// SPDX-License-Identifier: Apache-2.0
#include "core/tensor/tensor.h"

#include <cmath>

#include "core/base/error.h"
#include "core/tensor/float16.h"
#include "tests/catch.h"

using namespace tersor;

TEST_CASE("shapes multiply without overflow and refuse what cannot be") {
  REQUIRE(Shape{2, 3, 4}.elements() == 24);
  REQUIRE(Shape{}.elements() == 1);
  REQUIRE(Shape({int64_t{1} << 40, 0, int64_t{1} << 40}).elements() == 0);
  REQUIRE_THROWS_AS(Shape({int64_t{1} << 40, int64_t{1} << 40}), Error);
  REQUIRE_THROWS_AS(Shape({2, -1}), Error);
}

TEST_CASE("shapes broadcast by numpy's rule") {
  REQUIRE(broadcast(Shape{2, 1, 4}, Shape{3, 1}) == Shape{2, 3, 4});
  REQUIRE(broadcast(Shape{}, Shape{5}) == Shape{5});
  REQUIRE(broadcast(Shape{0, 1}, Shape{1, 4}) == Shape{0, 4});
  REQUIRE_THROWS_AS(broadcast(Shape{2}, Shape{3}), Error);
}

TEST_CASE("tensors share bytes and refuse a wrong count or type") {
  const Tensor a = Tensor::of<float>({2, 2}, {1, 2, 3, 4});
  const Tensor b = a.reshaped({4});
  REQUIRE(b.data<float>().data() == a.data<float>().data());
  REQUIRE_THROWS_AS(a.data<int64_t>(), Error);
  REQUIRE_THROWS_AS(a.reshaped({3}), Error);
  const std::byte bytes[7] = {};
  REQUIRE_THROWS_AS(Tensor::alias(DType::kFloat32, {2}, bytes, nullptr), Error);
}

TEST_CASE("sub-byte types pack without gaps") {
  REQUIRE(bytes_for(DType::kInt4, 3) == 2);
  REQUIRE(bytes_for(DType::kUint2, 5) == 2);
  REQUIRE(bytes_for(DType::kFloat64, 3) == 24);
}

TEST_CASE("half precision converts exactly") {
  REQUIRE(float_from_half(0x3c00) == 1.0f);
  REQUIRE(float_from_half(0xc000) == -2.0f);
  REQUIRE(float_from_half(0x0001) == 5.9604644775390625e-08f);
  REQUIRE(float_from_half(0x7bff) == 65504.0f);
  REQUIRE(std::isinf(float_from_half(0x7c00)));
  REQUIRE(std::isnan(float_from_half(0x7e00)));
}

TEST_CASE("an unaligned alias is copied by aligned()") {
  alignas(8) std::byte raw[12] = {};
  const Tensor odd = Tensor::alias(DType::kFloat32, {2}, std::span<const std::byte>(raw + 1, 8), nullptr);
  REQUIRE(reinterpret_cast<uintptr_t>(odd.aligned().bytes().data()) % 4 == 0);
  REQUIRE(odd.aligned() == odd);
}
