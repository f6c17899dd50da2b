// SPDX-License-Identifier: Apache-2.0
#include "core/job/given_settings.h"

#include "core/base/json.h"
#include "core/tpc/builtin.h"
#include "tests/catch.h"

using namespace tersor;

namespace {

config::Override on(const std::string& name, int bits) {
  config::Override one;
  one.name = name;
  one.config = "{\"activation_n_bits\":" + std::to_string(bits) + "}";
  return one;
}

std::string text_of(const config::Override& one) {
  return to_text(config::to_json(std::vector{one}), false);
}

/// A recipe with effort 0, bits 4 for "a" and no MatMul among the kernels.
config::Recipe recipe() {
  config::Recipe made;
  made.platform = {"tensorrt", 1, ""};
  made.quantization_config.effort = 0;
  made.quantization_config.weights_n_bits = 8;
  made.overrides = {on("a", 4)};
  made.framework_info = R"({"kernel_ops":["Conv","Gemm"]})";
  return made;
}

}  // namespace

TEST_CASE("without anything given the defaults hold") {
  const Settings settings = combine({});
  REQUIRE(settings.config == config::QuantizationConfig());
  REQUIRE(settings.overrides.empty());
  REQUIRE(settings.framework_info.empty());
  REQUIRE(settings.platform.name == "ort-cpu");
}

TEST_CASE("of recipe, preset, configuration and assignments the later one wins, field by field") {
  GivenSettings given;
  given.recipe = recipe();
  given.config = {R"({"z_threshold": 5, "l_p_value": 4})", "config"};
  given.sets = {"l_p_value=6"};
  const Settings settings = combine(given);
  REQUIRE(settings.config.effort == 0);
  REQUIRE(settings.config.z_threshold == 5.0);
  REQUIRE(settings.config.l_p_value == 6);
  REQUIRE(settings.platform.name == "tensorrt");

  given.preset = "requirements";
  config::QuantizationConfig preset = config::requirement_defaults();
  preset.z_threshold = 5.0;
  preset.l_p_value = 6;
  REQUIRE(combine(given).config == preset);
}

TEST_CASE("overrides come after those of the recipe, and of equal ones the later stays") {
  GivenSettings given;
  given.recipe = recipe();
  given.overrides = {{text_of(on("b", 4)), "one"}, {text_of(on("a", 8)), "two"}};
  REQUIRE(combine(given).overrides == std::vector{on("a", 4), on("b", 4), on("a", 8)});
  given.overrides.push_back({text_of(on("a", 4)), "three"});
  REQUIRE(combine(given).overrides == std::vector{on("b", 4), on("a", 8), on("a", 4)});
}

TEST_CASE("fields of FrameworkInfo go over those of the recipe") {
  GivenSettings given;
  given.recipe = recipe();
  given.framework_info = {R"({"no_quantization_ops": ["Exp"]})", "info"};
  REQUIRE(parse_json(combine(given).framework_info, "") ==
          parse_json(R"({"kernel_ops":["Conv","Gemm"],"no_quantization_ops":["Exp"]})", ""));
  given.framework_info = {R"({"kernel_ops": ["Gemm"]})", "info"};
  REQUIRE(combine(given).framework_info == R"({"kernel_ops":["Gemm"]})");
}

TEST_CASE("a platform that is given wins over the recipe's, under the same name its content must be the same") {
  GivenSettings given;
  given.recipe = recipe();
  given.platform = [](const config::QuantizationConfig& config) {
    REQUIRE(config.effort == 0);
    return tpc::get_target_platform_capabilities("ort-cpu");
  };
  REQUIRE(combine(given).platform.name == "ort-cpu");

  config::Recipe now = recipe();
  now.platform = {"ort-cpu", 1, "1"};
  REQUIRE(differences(recipe(), now, true).empty());
  REQUIRE(differences(recipe(), now, false).size() == 1);
  now.platform = {"tensorrt", 1, "1"};
  REQUIRE(differences(recipe(), now, true).size() == 1);
}

TEST_CASE("the faults of every source are told at once, each with its place") {
  GivenSettings given;
  given.recipe = recipe();
  given.recipe->framework_info = R"({"kernels":[]})";
  given.preset = "mine";
  given.config = {R"({"bits": 8})", "config.json"};
  given.sets = {"effort"};
  given.overrides = {{"[", "first.json"}, {R"({"config": {}})", "second.json"}};
  given.framework_info = {R"({"kernel_ops": 1})", "info.json"};
  try {
    combine(given);
    FAIL("nothing was thrown");
  } catch (const Error& error) {
    REQUIRE(error.code == ErrorCode::kInvalidConfig);
    for (const char* place : {"\npreset: ", "\nconfig.json: ", "\n--set: ", "\nfirst.json: ", "\nsecond.json: ",
                              "\nrecipe.framework_info: ", "\ninfo.json.kernel_ops: "})
      REQUIRE_THAT(error.message, Catch::Contains(place));
  }
}
