// SPDX-License-Identifier: Apache-2.0
// Weights that no convolution has: the error names the one thing that is wrong.
#include "core/base/error.h"
#include "core/ops/registry.h"
#include "core/run/program.h"
#include "tests/catch.h"
#include "tests/support/model_builder.h"

using namespace tersor;
using test::ModelBuilder;

namespace {

std::string refusal(const Shape& weights, const ModelBuilder::Attributes& attributes) {
  ModelBuilder builder;
  const ValueId x = builder.input("x", {1, 3, 8, 8});
  const std::vector<float> values(static_cast<size_t>(weights.elements()));
  builder.output(builder.node("Conv", {x, builder.floats(weights, values)}, attributes));
  try {
    run::Program::compile(builder.model, ops::standard());
  } catch (const Error& error) {
    return error.message;
  }
  return "";
}

}  // namespace

TEST_CASE("weights that fit no convolution are refused for what is wrong with them") {
  using Catch::Matchers::Contains;
  REQUIRE(refusal({8, 3, 3, 3}, {}).empty());
  REQUIRE_THAT(refusal({8, 3, 0, 3}, {}), Contains("8x3x0x3, which holds no numbers"));
  REQUIRE_THAT(refusal({8, 1, 3, 3}, {{"group", int64_t{3}}}),
               Contains("whose 8 output channels cannot be divided into 3 groups"));
  REQUIRE_THAT(refusal({8, 3, 3, 3}, {{"kernel_shape", std::vector<int64_t>{5, 5}}}),
               Contains("does not fit the kernel_shape [5, 5]"));
}
