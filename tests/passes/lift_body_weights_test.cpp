// SPDX-License-Identifier: Apache-2.0
#include "core/graph/uses.h"
#include "core/passes/passes.h"
#include "core/run/program.h"
#include "tests/catch.h"
#include "tests/support/named_model.h"

namespace lift_body_weights_test {
using namespace tersor;
using test::NamedModel;

namespace {

std::shared_ptr<const Graph> branch(uint32_t seed, const char* function) {
  NamedModel body(seed);
  body.weight("w", {16, 20}).weight("small", {20});
  body.node("MatMul", {"x", "w"}, {"m"}).node("Add", {"m", "small"}, {"a"}).node(function, {"a"}, {"z"});
  return std::make_shared<const Graph>(body.output("z").build().graph);
}

/// `seeds`: of the weights of the two branches.
Model with_branches(uint32_t then_seed, uint32_t else_seed) {
  NamedModel model;
  model.input("x", {2, 16}).input("condition", {});
  model.node("If", {"condition"}, {"y"},
             {{"then_branch", branch(then_seed, "Relu")}, {"else_branch", branch(else_seed, "Neg")}});
  Model built = model.output("y").build();
  built.graph.value(built.graph.inputs[1]).dtype = DType::kBool;
  return built;
}

std::vector<Tensor> results_of(const Model& model, bool condition) {
  Tensor given = Tensor::make(DType::kBool, Shape{});
  given.mutable_bytes()[0] = std::byte{condition};
  Tensor x = Tensor::make(DType::kFloat32, Shape{2, 16});
  for (size_t k = 0; k < 32; ++k) x.mutable_data<float>()[k] = static_cast<float>(k % 7) / 7 - 0.4f;
  std::vector<Tensor> inputs{x, given};
  return run::Runner(run::Program::compile(model, ops::standard())).run(inputs);
}

}  // namespace

TEST_CASE("weights of bodies move out under a name of their own, and results stay") {
  const Model before = with_branches(1, 2);
  Model after = before;
  REQUIRE(passes::lift_body_weights(after) == 2);
  REQUIRE(after.graph.initializers().size() == 2);
  for (const bool condition : {false, true}) REQUIRE(results_of(before, condition) == results_of(after, condition));
  const auto& body = *after.graph.nodes()[0].attribute<std::shared_ptr<const Graph>>("else_branch");
  REQUIRE(body->initializers().size() == 1);  // the small one
  REQUIRE(captures(*body) == std::vector<std::string>{"w_of_body", "x"});
  REQUIRE(passes::lift_body_weights(after) == 0);
}

TEST_CASE("what two bodies have is there once") {
  const Model before = with_branches(1, 1);
  Model after = before;
  REQUIRE(passes::lift_body_weights(after) == 2);
  REQUIRE(after.graph.initializers().size() == 1);
  for (const bool condition : {false, true}) REQUIRE(results_of(before, condition) == results_of(after, condition));
}

}  // namespace lift_body_weights_test
