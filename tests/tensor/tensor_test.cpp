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

TEST_CASE("a deferred tensor asks for its bytes once they are read, and holds them as long as it lives") {
  int asked = 0;
  const auto make = [&] {
    return Tensor::deferred(DType::kFloat32, {2}, [&asked] {
      ++asked;
      return Tensor::of<float>({2}, {3, 4});
    });
  };
  const Tensor tensor = make();
  REQUIRE(tensor.is_deferred());
  REQUIRE(tensor.byte_count() == 8);
  REQUIRE(tensor.reshaped({2, 1}).shape() == Shape{2, 1});
  REQUIRE(tensor == Tensor(tensor));
  REQUIRE(asked == 0);
  // aligned(), to_doubles() and comparing leave nothing behind.
  REQUIRE(tensor.aligned().data<float>()[1] == 4);
  REQUIRE(tensor.to_doubles() == std::vector<double>{3, 4});
  REQUIRE(tensor == Tensor::of<float>({2}, {3, 4}));
  REQUIRE(asked == 3);
  const float* held = tensor.data<float>().data();
  REQUIRE(asked == 4);
  REQUIRE(tensor.data<float>().data() == held);
  // Whoever asks while another holds them shares them.
  REQUIRE(tensor.unread().data<float>().data() == held);
  REQUIRE(tensor.reshaped({2, 1}).data<float>().data() == held);
  REQUIRE(asked == 4);
  const Tensor other = make();
  const Tensor kept = other.aligned();
  REQUIRE(other.data<float>().data() == kept.data<float>().data());
  REQUIRE(asked == 5);
}

TEST_CASE("what a deferred tensor's source throws comes out, and may work the next time") {
  bool there = false;
  const Tensor tensor = Tensor::deferred(DType::kFloat32, {1}, [&] {
    if (!there) throw Error(ErrorCode::kIo, "The file is gone.");
    return Tensor::of<float>({1}, {7});
  });
  REQUIRE_THROWS_AS(tensor.bytes(), Error);
  there = true;
  REQUIRE(tensor.data<float>()[0] == 7);
}
