// SPDX-License-Identifier: Apache-2.0
#include "core/mixed/hessian_scores.h"

#include "tests/catch.h"
#include "tests/support/named_model.h"

using namespace tersor;
using tersor::test::NamedModel;

TEST_CASE("a point's score is the square of what the outputs' change by it is") {
  NamedModel named;
  named.input("x", {1, 4}).weight("a", {4, 3}).constant("three", Tensor::scalar(3.0f)).weight("w", {3, 1});
  named.node("MatMul", {"x", "a"}, {"p"}).node("Mul", {"p", "three"}, {"q"}).node("MatMul", {"q", "w"}, {"y"});
  named.node("CumSum", {"x", "axis"}, {"s"}).constant("axis", Tensor::scalar<int64_t>(1)).output("y");
  const Model model = named.build();
  const auto value = [&](const char* name) { return *model.graph.find(name); };
  mixed::HessianScores scores(model, {value("p"), value("q"), value("s")}, {value("y")}, {Shape{1, 4}});
  for (const uint32_t seed : {1u, 2u}) {
    const std::vector<double> found = scores.of(test::random_inputs(model, seed));
    REQUIRE(found.size() == 3);
    CHECK(found[0] == Approx(0.9).epsilon(1e-6));  // 3 squared to 1
    CHECK(found[1] == Approx(0.1).epsilon(1e-6));
    CHECK(found[2] == 0);
  }
}
