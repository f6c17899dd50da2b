// SPDX-License-Identifier: Apache-2.0
#include "core/base/error.h"

#include "tests/catch.h"

using tersor::Error;
using tersor::ErrorCode;

TEST_CASE("an error says place, message and hint in that order") {
  const Error error(ErrorCode::kInvalidModel, "It is broken.", "graph.node[1]", "Mend it.");
  REQUIRE(std::string(error.what()) == "graph.node[1]: It is broken. Mend it.");
}

TEST_CASE("an outer place goes before it and the rest stays") {
  const Error error = Error(ErrorCode::kIo, "No.", "kernel", "Try.").within("graph.node[3]").within("model");
  REQUIRE(error.place == "model.graph.node[3].kernel");
  REQUIRE(error.hint == "Try.");
  REQUIRE(error.code == ErrorCode::kIo);
  REQUIRE(Error(ErrorCode::kIo, "No.", "[2]").within("samples").place == "samples[2]");
}

TEST_CASE("a failed check is an internal error with a path inside the project") {
  try {
    TERSOR_CHECK(1 + 1 == 3);
    FAIL("no exception");
  } catch (const Error& error) {
    REQUIRE(error.code == ErrorCode::kInternal);
    REQUIRE(error.message.find("1 + 1 == 3") != std::string::npos);
  }
}

TEST_CASE("control characters of names are shown, lines stay lines") {
  const Error error(ErrorCode::kInvalidModel, "The node \"a\x1b[31mb\" is odd.\nIt is.", "graph.node[0] \"\x07\"");
  REQUIRE(error.message == "The node \"a\\x1b[31mb\" is odd.\nIt is.");
  REQUIRE(error.place == "graph.node[0] \"\\x07\"");
}
