// SPDX-License-Identifier: Apache-2.0
#include "core/config/recipe.h"

#include "core/base/json.h"
#include "tests/catch.h"

namespace recipe_test {
using namespace tersor;
using namespace tersor::config;

namespace {

Recipe example() {
  Recipe recipe;
  recipe.tool_version = "0.1.0";
  recipe.model_digest = "aa";
  recipe.platform = {"ort-cpu", 1, "bb"};
  recipe.quantization_config.weights_n_bits = 8;
  recipe.overrides.push_back({"conv1", "", "", R"({"activation_n_bits":8})"});
  recipe.overrides.push_back({"", "Conv", R"({"layer":"Conv"})", R"({"weights_n_bits":8})"});
  recipe.preprocessing = R"({"crop":"none"})";
  recipe.data_set.samples = 32;
  recipe.data_set.of = 100;
  recipe.data_set.digest = "cc";
  recipe.seeds["gptq"] = 7;
  return recipe;
}

Error error_of(const std::string& text) {
  try {
    read_recipe(text);
  } catch (const Error& error) {
    return error;
  }
  return Error(ErrorCode::kInternal, "no error");
}

}  // namespace

TEST_CASE("a recipe survives the way through its file, and equal recipes have equal bytes") {
  const Recipe recipe = example();
  REQUIRE(read_recipe(write_recipe(recipe)) == recipe);
  REQUIRE(write_recipe(read_recipe(write_recipe(recipe))) == write_recipe(recipe));
  REQUIRE(read_recipe(write_recipe(Recipe())) == Recipe());
}

TEST_CASE("a recipe writes every field of the configuration") {
  const Json json = parse_json(write_recipe(example()), "recipe");
  REQUIRE(json["format"] == "tersor-recipe");
  REQUIRE(json["format_version"] == 1);
  REQUIRE(json["quantization_config"].size() == describe_quantization_config().size());
  REQUIRE(json["quantization_config"]["weights_bias_correction"] == true);
}

TEST_CASE("what is no recipe, or a newer one, is refused with what to do") {
  REQUIRE(error_of("{}").message.find("not a recipe") != std::string::npos);
  REQUIRE(error_of("[]").message.find("not a recipe") != std::string::npos);
  REQUIRE(error_of("<html>").message.find("not valid JSON") != std::string::npos);
  REQUIRE(error_of(R"({"format": "tersor-recipe", "format_version": 2})").place == "recipe.format_version");
}

TEST_CASE("a recipe of fewer than no samples is refused") {
  const Error error =
      error_of(R"({"format": "tersor-recipe", "format_version": 1, "data_set": {"samples": -1, "of": 8}})");
  REQUIRE(error.place == "recipe.data_set.samples");
  REQUIRE(error.message.find("Found -1 where a whole number from 0") == 0);
}

TEST_CASE("all faults of a recipe are told at once") {
  const Error error = error_of(R"({"format": "tersor-recipe", "format_version": 1, "model": "x", "seeds": 3,
      "quantization_config": {"weights_n_bits": 99}, "overrides": [{"config": {"bits": 3}}], "preprocessing": 1})");
  INFO(error.message);
  REQUIRE(error.message.find("The recipe has 5 faults") == 0);
  REQUIRE(error.message.find("recipe.overrides[0].config") != std::string::npos);
  REQUIRE(error.message.find("recipe.quantization_config.weights_n_bits") != std::string::npos);
}

TEST_CASE("overrides are one or a list, choose nodes, and hold what can differ from node to node") {
  REQUIRE(parse_overrides(R"({"name": "a", "config": {"weights_n_bits": 4}})", "o").size() == 1);
  REQUIRE(parse_overrides("[]", "o").empty());
  const auto message = [](const char* text) {
    try {
      parse_overrides(text, "o");
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  REQUIRE(message(R"([{"config": {}}])").find("o[0]: An override that chooses no node") == 0);
  REQUIRE(message(R"([{"name": "a", "bits": 4}])").find("o[0]: There is no field \"bits\"") == 0);
  REQUIRE(message(R"({"name": "a", "config": {"weights_bias_correction": false}})")
              .find("o.config.weights_bias_correction: weights_bias_correction concerns the whole model") == 0);
  REQUIRE(message("7").find("o: Found 7") == 0);
  const auto list =
      parse_overrides(R"([{"type": "Conv", "filter": {"layer": "Conv"}, "config": {"weights_n_bits": 4}}])", "o");
  REQUIRE(read_overrides(to_json(list), "o") == list);
}

}  // namespace recipe_test
