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
