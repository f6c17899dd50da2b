// SPDX-License-Identifier: Apache-2.0
#include "core/base/visible.h"

#include "tests/catch.h"

using tersor::visible;

TEST_CASE("control characters are shown, all else stays") {
  REQUIRE(visible("a\x1b[31mb\x7f\r") == "a\\x1b[31mb\\x7f\\x0d");
  REQUIRE(visible("one\n\ttwo \xc3\xa9") == "one\n\ttwo \xc3\xa9");
}
