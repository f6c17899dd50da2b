// SPDX-License-Identifier: Apache-2.0
#include "core/cli/platform_option.h"

#include <filesystem>
#include <fstream>

#include <unistd.h>

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/tpc/builtin.h"
#include "core/tpc/read.h"
#include "tests/catch.h"

using namespace tersor;

TEST_CASE("--platform takes a name, a name with version, or a file") {
  const auto builtin = tpc::get_target_platform_capabilities("ort-cpu", 1);
  REQUIRE(cli::open_platform("ort-cpu") == tpc::get_target_platform_capabilities("ort-cpu"));
  REQUIRE(cli::open_platform("ort-cpu@v1") == builtin);
  const auto path =
      std::filesystem::temp_directory_path() / ("tersor-platform-" + std::to_string(::getpid()) + ".json");
  std::ofstream(path) << to_text(tpc::to_json(builtin));
  const auto read = cli::open_platform(path.string());
  std::filesystem::remove(path);
  REQUIRE(tpc::digest(read) == tpc::digest(builtin));
}

TEST_CASE("a platform that is not there says what is, a file that is not there says its path") {
  REQUIRE_THROWS_WITH(cli::open_platform("tpu"), Catch::Contains("ort-cpu@v1"));
  REQUIRE_THROWS_WITH(cli::open_platform("./none.json"), Catch::Contains("none.json"));
}
