// SPDX-License-Identifier: Apache-2.0
#include "core/graph/operators.h"

#include <algorithm>

#include "tests/catch.h"

using namespace tersor;

TEST_CASE("operators are found by name, and their list is sorted") {
  const std::vector<std::string> names = operator_names();
  REQUIRE(std::is_sorted(names.begin(), names.end()));
  for (const std::string& name : names) REQUIRE(find_operator(name)->name == name);
  REQUIRE(find_operator("Zap") == nullptr);
  REQUIRE(is_known_operator("", "Conv"));
  REQUIRE(!is_known_operator("", "QGemm"));
  REQUIRE(is_known_operator("com.microsoft", "QGemm"));
  REQUIRE(!is_known_operator("my.domain", "Conv"));
}

TEST_CASE("an operator is in the operator sets from its first to the one before it was removed") {
  REQUIRE(!is_in_opset("Erf", 8));
  REQUIRE(is_in_opset("Erf", 9));
  REQUIRE(is_in_opset("Upsample", 9));
  REQUIRE(!is_in_opset("Upsample", 10));
}

TEST_CASE("traits are those of ONNX's own operators, and movers keep the element type") {
  for (const std::string& name : operator_names()) {
    INFO(name);
    const Operator& one = *find_operator(name);
    if (has_trait(name, kMoves)) CHECK((one.type == OutputType::kSameType || one.type == OutputType::kThenBool));
    if (has_trait(name, Trait::kActivation | Trait::kFunction)) CHECK(one.shape == OutputShape::kSameShape);
    if (has_trait(name, Trait::kArithmetic)) CHECK(one.shape == OutputShape::kBroadcast);
    if (has_trait(name, Trait::kClamp)) CHECK(has_trait(name, Trait::kActivation));
  }
  Node node;
  node.op_type = "Reshape";
  REQUIRE(has_trait(node, Trait::kView));
  REQUIRE(has_trait(node, kMoves));
  REQUIRE(!has_trait(node, Trait::kReorders));
  node.domain = "com.example";
  REQUIRE(!has_trait(node, Trait::kView));
  REQUIRE(!has_trait("Zap", kMoves));
}
