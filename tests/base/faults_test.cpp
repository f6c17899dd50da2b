// SPDX-License-Identifier: Apache-2.0
#include "core/base/faults.h"

#include <algorithm>

#include "tests/catch.h"

using namespace tersor;

namespace {

Error thrown_by(const Faults& faults) {
  try {
    faults.throw_if_any(ErrorCode::kInvalidConfig, "The form", "form");
  } catch (const Error& error) {
    return error;
  }
  return Error(ErrorCode::kInternal, "nothing thrown");
}

void fail(const std::string& message, const char* place) {
  throw Error(ErrorCode::kInvalidModel, message, place);
}

}  // namespace

TEST_CASE("no fault throws nothing, one is thrown as it is") {
  Faults faults;
  faults.attempt([] {});
  REQUIRE_NOTHROW(faults.throw_if_any(ErrorCode::kInvalidConfig, "The form", "form"));
  faults.attempt([] { fail("Too long.", "form.name"); });
  const Error error = thrown_by(faults);
  REQUIRE(error.code == ErrorCode::kInvalidConfig);
  REQUIRE(error.message == "Too long.");
  REQUIRE(error.place == "form.name");
}

TEST_CASE("several faults become one error that lists each with its place") {
  Faults faults;
  faults.attempt([] { fail("Too long.", "form.name"); });
  faults.attempt([] { fail("Too old.", "form.age"); });
  const Error error = thrown_by(faults);
  REQUIRE(error.message.find("The form has 2 faults:\n") == 0);
  REQUIRE(error.message.find("form.name: Too long.") != std::string::npos);
  REQUIRE(error.message.find("form.age: Too old.") != std::string::npos);
}

TEST_CASE("after more faults than anybody reads nothing more is tried") {
  Faults faults;
  int tried = 0;
  for (int i = 0; i < 1000; ++i)
    faults.attempt([&] {
      ++tried;
      fail("Too long: " + std::to_string(i), "form.name");
    });
  REQUIRE(tried == static_cast<int>(Faults::kMost) + 1);
  const Error error = thrown_by(faults);
  REQUIRE(error.message.find("The form has more than 50 faults, of which these are the first:\n") == 0);
  REQUIRE(std::count(error.message.begin(), error.message.end(), '\n') == 50);
}
