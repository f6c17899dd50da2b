// SPDX-License-Identifier: Apache-2.0
// Where the parameters of elementwise functions come from; their values are those of ONNX's own cases.
#include <limits>

#include "core/run/program.h"
#include "tests/catch.h"
#include "tests/support/model_builder.h"

using namespace tersor;

namespace {

std::vector<double> given_by(const char* type, const test::ModelBuilder::Attributes& attributes,
                             const std::vector<float>& values) {
  test::ModelBuilder builder;
  const auto count = static_cast<int64_t>(values.size());
  builder.output(builder.node(type, {builder.input("x", {count})}, attributes));
  run::Runner runner(run::Program::compile(builder.model, ops::standard()));
  return runner.run(std::vector<Tensor>{Tensor::of<float>(Shape{count}, values)})[0].to_doubles();
}

}  // namespace

TEST_CASE("a parameter may be written as an integer, and an absent one has ONNX's default") {
  CHECK(given_by("LeakyRelu", {{"alpha", int64_t{2}}}, {-1, 3}) == std::vector<double>{-2, 3});
  CHECK(given_by("LeakyRelu", {}, {-1, 3}) == std::vector<double>{static_cast<double>(-0.01f), 3});
  const float infinity = std::numeric_limits<float>::infinity();
  CHECK(given_by("IsInf", {}, {-infinity, infinity}) == std::vector<double>{1, 1});
  CHECK(given_by("IsInf", {{"detect_negative", int64_t{0}}}, {-infinity, infinity}) == std::vector<double>{0, 1});
}
