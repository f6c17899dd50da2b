// SPDX-License-Identifier: Apache-2.0
#include "core/samples/given_arrays.h"

#include <limits>

#include "core/base/error.h"
#include "tests/catch.h"

namespace tersor::samples {

namespace {

GivenArray floats(std::string name, std::optional<Shape> shape, const std::vector<float>& values) {
  const auto held = std::make_shared<const std::vector<float>>(values);
  return {std::move(name), DType::kFloat32, std::move(shape), {std::as_bytes(std::span(*held)), held}};
}

InputSpec input(std::string name, const std::vector<int64_t>& dims) {
  std::vector<Dim> shape;
  for (int64_t dim : dims) shape.push_back({dim, {}});
  return {std::move(name), DType::kFloat32, std::move(shape)};
}

std::string refusal(const std::vector<GivenArray>& arrays, const std::vector<InputSpec>& inputs) {
  try {
    arrange(arrays, inputs, "samples[3]");
  } catch (const Error& error) {
    CHECK(error.code == ErrorCode::kInvalidSamples);
    CHECK(error.place.rfind("samples[3]", 0) == 0);
    return error.message;
  }
  return "accepted";
}

}  // namespace

TEST_CASE("arrays without a shape take the input's where it leaves no choice") {
  const std::vector<InputSpec> inputs{input("x", {-1, 2, 3}), input("y", {1, -1})};
  const auto tensors =
      arrange(std::vector{floats("y", std::nullopt, {1, 2, 3, 4}), floats("x", std::nullopt, {1, 2, 3, 4, 5, 6})},
              inputs, "samples[0]")
          .inputs;
  REQUIRE(tensors.size() == 2);
  CHECK(tensors[0].shape() == Shape{1, 2, 3});
  CHECK(tensors[0].data<float>()[5] == 6);
  CHECK(tensors[1].shape() == Shape{1, 4});
}

TEST_CASE("arrays may leave out the batch axis and have another type") {
  const std::vector<uint8_t> bytes{0, 128, 255};
  const auto held = std::make_shared<const std::vector<uint8_t>>(bytes);
  const GivenArray array{"x", DType::kUint8, Shape{3}, {std::as_bytes(std::span(*held)), held}};
  const auto tensors = arrange(std::span(&array, 1), {input("x", {-1, 3})}, "samples[0]").inputs;
  CHECK(tensors[0].shape() == Shape{1, 3});
  CHECK(tensors[0].data<float>()[2] == 255);
}

TEST_CASE("the past of a decoder is empty where the sample has none") {
  std::vector<InputSpec> inputs{input("x", {-1, 2}), input("past.key", {-1, 2, -1, 4})};
  const std::vector<GivenArray> given{floats("x", Shape{1, 2}, {1, 2})};
  CHECK(refusal(given, inputs) == "The sample has no values for the input \"past.key\".");
  inputs[1].next = 1;
  CHECK(arrange(given, inputs, "samples[0]").inputs[1].shape() == Shape{1, 2, 0, 4});
}

TEST_CASE("an array of one row fills a fixed batch, one of the whole batch stays") {
  const std::vector<InputSpec> inputs{input("x", {2, 3})};
  const GivenSample row = arrange(std::vector{floats("x", Shape{1, 3}, {1, 2, 3})}, inputs, "samples[0]");
  CHECK(row.batch == 2);
  CHECK(row.inputs[0].to_doubles() == std::vector<double>{1, 2, 3, 1, 2, 3});
  CHECK(arrange(std::vector{floats("x", std::nullopt, {1, 2, 3})}, inputs, "samples[0]").batch == 2);
  const GivenSample whole = arrange(std::vector{floats("x", Shape{2, 3}, {1, 2, 3, 4, 5, 6})}, inputs, "samples[0]");
  CHECK(whole.batch == 1);
  CHECK(whole.inputs[0].to_doubles() == std::vector<double>{1, 2, 3, 4, 5, 6});
  CHECK(refusal({floats("x", Shape{1, 4}, {1, 2, 3, 4})}, inputs).find("2x3") != std::string::npos);
}

TEST_CASE("arrays that do not fit are refused with both sides named") {
  const std::vector<InputSpec> inputs{input("x", {-1, 2, 2})};
  CHECK(refusal({floats("z", std::nullopt, {1})}, inputs) == "The model has no input \"z\".");
  CHECK(refusal({}, inputs) == "The sample has no values for the input \"x\".");
  CHECK(refusal({floats("x", std::nullopt, {1, 2, 3})}, inputs) ==
        "An array of 3 values does not say its shape; the input \"x\" takes ?x2x2.");
  CHECK(refusal({floats("x", Shape{2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8})}, inputs) ==
        "The array of shape 2x2x2 holds 2 samples.");
  CHECK(refusal({floats("x", Shape{2, 3}, {1, 2, 3, 4})}, inputs) == "The shape 2x3 does not fit 4 values.");
  CHECK(refusal({floats("x", Shape{2, 2}, {1, 2, std::numeric_limits<float>::quiet_NaN(), 4})}, inputs) != "accepted");
}

}  // namespace tersor::samples
