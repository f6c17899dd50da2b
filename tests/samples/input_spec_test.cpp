// SPDX-License-Identifier: Apache-2.0
#include "core/samples/input_spec.h"

#include <limits>

#include "core/base/error.h"
#include "tests/catch.h"
#include "tests/samples/make_files.h"

using namespace tersor;
using namespace tersor::samples;
using namespace tersor::test;
using Catch::Matchers::Contains;

namespace {

std::string fit(const Shape& array, const InputSpec& spec) {
  try {
    const ArrayFit result = fit_array(array, spec);
    return std::to_string(result.count) + " of " + result.sample.text();
  } catch (const Error& error) {
    return error.message + " " + error.hint;
  }
}

template <class T>
RawArray raw(std::vector<T> values, DType dtype = dtype_of<T>()) {
  auto owner = std::make_shared<std::vector<T>>(std::move(values));
  return {dtype, false, Shape{static_cast<int64_t>(owner->size())}, {std::as_bytes(std::span<const T>(*owner)), owner}};
}

}  // namespace

TEST_CASE("an array of the input's shape is one sample, one that differs in axis 0 is N") {
  REQUIRE(fit({1, 3, 8, 8}, input({1, 3, 8, 8})) == "1 of 1x3x8x8");
  REQUIRE(fit({1, 3, 8, 8}, input({-1, 3, 8, 8})) == "1 of 1x3x8x8");
  REQUIRE(fit({5, 3, 8, 8}, input({1, 3, 8, 8})) == "5 of 1x3x8x8");
  REQUIRE(fit({5, 3, 8, 8}, input({-1, 3, -1, -1})) == "5 of 1x3x8x8");
}

TEST_CASE("a missing batch axis is put first, an additional axis counts samples") {
  REQUIRE(fit({3, 8, 8}, input({-1, 3, 8, 8})) == "1 of 1x3x8x8");
  REQUIRE(fit({640}, input({1, 640})) == "1 of 1x640");
  REQUIRE(fit({7, 1, 3, 8, 8}, input({1, 3, 8, 8})) == "7 of 1x3x8x8");
}

TEST_CASE("inputs without a batch axis take whole samples and stacks of them") {
  REQUIRE(fit({2, 1, 128}, input({2, 1, 128})) == "1 of 2x1x128");
  REQUIRE(fit({9, 2, 1, 128}, input({2, 1, 128})) == "9 of 2x1x128");
  REQUIRE(fit({}, input({})) == "1 of scalar");
  REQUIRE(fit({4}, input({})) == "4 of scalar");
  REQUIRE_THAT(fit({4, 1, 128}, input({2, 1, 128})), Contains("The shape is 4x1x128, the input \"x\" takes 2x1x128."));
  REQUIRE(fit({4, 5}, InputSpec{"x", DType::kFloat32, std::nullopt}) == "1 of 4x5");
}

TEST_CASE("an axis may be empty where the input leaves it free") {
  REQUIRE(fit({1, 2, 0, 4}, input({1, 2, -1, 4})) == "1 of 1x2x0x4");
  REQUIRE(fit({3, 0, 4}, input({-1, -1, 4})) == "3 of 1x0x4");
  REQUIRE(fit({0, 4}, input({-1, -1, 4})) == "1 of 1x0x4");
  REQUIRE(fit({2, 0, 4}, input({2, 0, 4})) == "1 of 2x0x4");
  REQUIRE_THAT(fit({1, 2, 0, 4}, input({1, 2, 3, 4})), Contains("The shape is 1x2x0x4"));
  REQUIRE_THAT(fit({0, 0, 4}, input({-1, -1, 4})), Contains("holds no values"));
  REQUIRE_THAT(fit({4, 0}, InputSpec{"x", DType::kFloat32, std::nullopt}), Contains("holds no values"));
}

TEST_CASE("a wrong shape is refused with both shapes and the likely fix") {
  REQUIRE_THAT(
      fit({1, 480, 640, 3}, input({-1, 3, 224, 224})),
      Contains("The shape is 1x480x640x3, the input \"x\" takes ?x3x224x224. Resize to 224x224 and transpose to "
               "channels first."));
  REQUIRE_THAT(fit({1, 3, 32, 32}, input({1, 32, 32, 3})), Contains("Transpose to channels last."));
  REQUIRE_THAT(fit({8, 28, 28, 3}, input({1, 28, 28, 1})), Contains("Convert to grey."));
  REQUIRE_THAT(fit({1, 4, 8, 8}, input({1, 3, 8, 8})), Contains("Drop the alpha channel."));
  REQUIRE_THAT(fit({10, 784}, input({1, 1, 28, 28})), Contains("10x1x28x28: reshape"));
  REQUIRE_THAT(fit({5, 41}, input({-1, 42})), Contains("Give each sample the shape of the input"));
  REQUIRE_THAT(fit({0, 3, 8, 8}, input({-1, 3, 8, 8})), Contains("holds no values"));
}

TEST_CASE("whole numbers keep their value, wider floats become float32") {
  REQUIRE(to_input_type(raw<uint8_t>({0, 255}), input({2})) == Tensor::of<float>({2}, {0, 255}));
  REQUIRE(to_input_type(raw<double>({0.1}), input({1})) == Tensor::of<float>({1}, {0.1f}));
  REQUIRE(to_input_type(raw<int64_t>({-3}), input({1}, DType::kInt32)) == Tensor::of<int32_t>({1}, {-3}));
  REQUIRE(to_input_type(raw<float>({0.5f}), input({1}, DType::kFloat64)) == Tensor::of<double>({1}, {0.5}));
  REQUIRE(to_input_type(raw<uint8_t>({0, 1}), input({2}, DType::kBool)).bytes()[1] == std::byte{1});
}

TEST_CASE("a value that the input's type cannot hold is refused by place and value") {
  REQUIRE_THAT(error_of([] {
                 to_input_type(raw<int32_t>({1, 256}), input({2}, DType::kUint8));
               }),
               Contains("The value 256 at [1] does not fit the uint8"));
  REQUIRE_THAT(error_of([] { to_input_type(raw<int8_t>({-1}), input({1}, DType::kUint64)); }),
               Contains("The value -1 at [0]"));
  REQUIRE_THAT(error_of([] { to_input_type(raw<uint64_t>({~uint64_t{0}}), input({1}, DType::kInt64)); }),
               Contains("18446744073709551615"));
  REQUIRE_THAT(error_of([] { to_input_type(raw<float>({1}), input({1}, DType::kInt64)); }),
               Contains("Save the samples as int64."));
  REQUIRE_THAT(error_of([] { to_input_type(raw<uint8_t>({2}), input({1}, DType::kBool)); }), Contains("The value 2"));
}

TEST_CASE("NaN and infinity are found and named by position") {
  const float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
  REQUIRE_THAT(error_of([&] {
                 check_finite(Tensor::of<float>({2, 2}, {0, 1, nan, 2}), input({2, 2}));
               }),
               Contains("The value at [1, 0] of the input \"x\" is not a number (NaN)."));
  REQUIRE_THAT(error_of([&] { check_finite(Tensor::of<float>({2}, {0, -infinity}), input({2})); }), Contains("[1]"));
  REQUIRE_NOTHROW(check_finite(Tensor::of<float>({2}, {0, 1}), input({2})));
}
