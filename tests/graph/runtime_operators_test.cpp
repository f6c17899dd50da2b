// SPDX-License-Identifier: Apache-2.0
#include "core/graph/runtime_operators.h"

#include "core/graph/operators.h"
#include "tests/catch.h"

namespace runtime_operators_test {
using namespace tersor;

namespace {

Node node_of(const std::string& type) {
  Node node;
  node.op_type = type;
  return node;
}

}  // namespace

TEST_CASE("what carries a quantizer over lets it through, and gives values of its input") {
  for (const std::string& name : operator_names()) {
    INFO(name);
    const Node node = node_of(name);
    if (!has_runtime_trait(node, RuntimeTrait::kCarriesUp | RuntimeTrait::kCarriesDown | RuntimeTrait::kCarriesOnce))
      continue;
    CHECK(has_runtime_trait(node, RuntimeTrait::kLetsThrough));
    CHECK((has_trait(node, kMoves) || node.is("MaxPool")));
  }
}

TEST_CASE("what takes several values fuses, and an operator that is not in the table has no trait") {
  REQUIRE(has_runtime_trait(node_of("Concat"), RuntimeTrait::kTakesSeveral));
  for (const std::string& name : operator_names())
    if (has_runtime_trait(node_of(name), RuntimeTrait::kTakesSeveral))
      CHECK(has_runtime_trait(node_of(name), RuntimeTrait::kFuses));
  REQUIRE(has_runtime_trait(node_of("QLinearAdd"), RuntimeTrait::kKeepsOrder));
  REQUIRE(!has_runtime_trait(node_of("Zap"), RuntimeTrait::kLetsThrough));
  REQUIRE(!has_runtime_trait(node_of("LSTM"), RuntimeTrait::kFuses));
}

}  // namespace runtime_operators_test
