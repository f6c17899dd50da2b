// SPDX-License-Identifier: Apache-2.0
#include "core/trainable/inferable_quantizers.h"

#include <cmath>
#include <limits>
#include <string>

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/quant/quantizer.h"
#include "tests/catch.h"

using namespace tersor;
using namespace tersor::trainable;
using Floats = std::vector<float>;

namespace {

Json quantizer_json(const char* name, const char* config) {
  return Json{{"class_name", name}, {"config", parse_json(config, "")}};
}

std::string refused(const char* name, const char* config) {
  try {
    read_inferable_quantizer(quantizer_json(name, config), "q");
  } catch (const Error& error) {
    REQUIRE(error.code == ErrorCode::kInvalidConfig);
    return error.place;
  }
  FAIL(name << " took " << config);
  return {};
}

}  // namespace

TEST_CASE("values are those of core/quant, NaN and infinity included") {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  const Floats x{-2, -1, 0.125f, 0.375f, -0.0f, 5, 1e30f, -1e30f, kInf, -kInf, std::nanf(""), 0.1f};
  const WeightsSymmetricInferableQuantizer by_row(
      {.num_bits = 3, .threshold = std::vector<double>{1, 0.7, 3}, .per_channel = true, .channel_axis = -2});
  const Tensor tensor = Tensor::of<float>({3, 4}, x);
  const Tensor got = by_row(tensor),
               wanted = quant::dequantize(quant::quantize(tensor, *by_row.params(2)), *by_row.params(2));
  REQUIRE(got == wanted);
  const ActivationUniformInferableQuantizer uniform({.num_bits = 8, .min_range = -1.3, .max_range = 2.2});
  Floats y(x.size());
  uniform.call(x, y);
  const auto params = *uniform.params(1);
  REQUIRE(Tensor::of<float>({12}, y) == quant::dequantize(quant::quantize(Tensor::of<float>({12}, x), params), params));
  REQUIRE(quant::fake_quantize(tensor, *by_row.params(2)) == wanted);
}

TEST_CASE("a table's values are those of core/quant") {
  const WeightsLUTSymmetricInferableQuantizer table({.num_bits = 3,
                                                     .threshold = std::vector<double>{0.31, 1.7},
                                                     .lut_values = std::vector<int64_t>{21, -25, 13, 0, -9},
                                                     .per_channel = true,
                                                     .channel_axis = 0});
  const Tensor x = Tensor::of<float>({2, 3}, {-0.5f, 0.1f, 0.29f, -0.3f, 0.9f, 5});
  const auto params = *table.lut_params(2);
  REQUIRE(table(x) == quant::dequantize(quant::quantize(x, params), params));
  REQUIRE(!table.params(2));
  REQUIRE(table(x).data<float>()[0] == Approx(-25.0 / 128 * 0.31));
}

TEST_CASE("each class survives the way through JSON, and is found by target and method") {
  const std::pair<const char*, const char*> all[] = {
      {"WeightsPOTInferableQuantizer",
       R"({"num_bits": 4, "threshold": [2, 4], "per_channel": true, "channel_axis": 0})"},
      {"WeightsSymmetricInferableQuantizer", R"({"num_bits": 4, "threshold": 1.7, "per_channel": false})"},
      {"WeightsUniformInferableQuantizer", R"({"num_bits": 4, "min_range": -1, "max_range": 2, "per_channel": false})"},
      {"WeightsLUTPOTInferableQuantizer",
       R"({"num_bits": 2, "threshold": 2, "lut_values": [-5, 1], "per_channel": false, "lut_values_bitwidth": 4})"},
      {"WeightsLUTSymmetricInferableQuantizer",
       R"({"num_bits": 2, "threshold": 1.5, "lut_values": [-5, 1], "per_channel": false, "eps": 1e-08})"},
      {"ActivationPOTInferableQuantizer", R"({"num_bits": 8, "threshold": [4], "signed": true})"},
      {"ActivationSymmetricInferableQuantizer", R"({"num_bits": 8, "threshold": 3, "signed": false})"},
      {"ActivationUniformInferableQuantizer", R"({"num_bits": 8, "min_range": 0, "max_range": 3})"},
      {"ActivationLutPOTInferableQuantizer",
       R"({"num_bits": 3, "threshold": 4, "lut_values": [0, 200], "signed": false})"}};
  REQUIRE(inferable_quantizer_marks().size() == 9);
  for (const auto& [name, config] : all) {
    const auto quantizer = read_inferable_quantizer(quantizer_json(name, config), "");
    const Json json = to_json(*quantizer);
    REQUIRE(to_json(*read_inferable_quantizer(json, "")) == json);
    REQUIRE(quantizer->mark().identifier == "INFERABLE");
    REQUIRE(&get_inferable_quantizer_class(quantizer->mark().quantization_target, quantizer->method()) ==
            &quantizer->mark());
  }
}

TEST_CASE("arguments are checked") {
  REQUIRE(refused("WeightsPOTInferableQuantizer", R"({"num_bits": 4, "threshold": 3, "per_channel": false})") ==
          "q.config.threshold");
  REQUIRE(refused("WeightsSymmetricInferableQuantizer", R"({"num_bits": 4, "threshold": 3, "per_channel": true})") ==
          "q.config.channel_axis");
  REQUIRE(refused("WeightsSymmetricInferableQuantizer", R"({"threshold": [3, 4], "per_channel": false})") ==
          "q.config.threshold");
  REQUIRE(refused("WeightsSymmetricInferableQuantizer", R"({"threshold": 3})") == "q.config.per_channel");
  REQUIRE(refused("WeightsSymmetricInferableQuantizer", R"({"threshold": 3, "per_channel": false, "signed": true})") ==
          "q.config.signed");
  REQUIRE(refused("WeightsSymmetricInferableQuantizer", R"({"threshold": -3, "per_channel": false})") ==
          "q.config.threshold");
  REQUIRE(refused("WeightsSymmetricInferableQuantizer",
                  R"({"threshold": 3, "per_channel": true, "channel_axis": 4, "input_rank": 4})") ==
          "q.config.channel_axis");
  REQUIRE(refused("ActivationSymmetricInferableQuantizer", R"({"threshold": [3, 4], "signed": true})") ==
          "q.config.threshold");
  REQUIRE(refused("ActivationSymmetricInferableQuantizer", R"({"threshold": 3})") == "q.config.signed");
  REQUIRE(refused("ActivationUniformInferableQuantizer", R"({"min_range": 3, "max_range": 3})") ==
          "q.config.min_range");
  REQUIRE(refused("ActivationUniformInferableQuantizer", R"({"min_range": 3})") == "q.config.max_range");
  const char* table = "ActivationLutPOTInferableQuantizer";
  REQUIRE(refused(table, R"({"num_bits": 2, "threshold": 2, "signed": true, "lut_values": [1, 2, 3, 4, 5]})") ==
          "q.config.lut_values");
  REQUIRE(refused(table, R"({"num_bits": 2, "threshold": 2, "signed": true, "lut_values": [200]})") ==
          "q.config.lut_values");
  REQUIRE(refused(table, R"({"num_bits": 2, "threshold": 2, "signed": true, "lut_values": [1.5]})") ==
          "q.config.lut_values[0]");
  REQUIRE(refused(table, R"({"num_bits": 9, "threshold": 2, "signed": true, "lut_values": [1]})") ==
          "q.config.lut_values_bitwidth");
  REQUIRE(refused(table, R"({"num_bits": 2, "threshold": 2, "signed": true, "lut_values": [1], "eps": 0.1})") ==
          "q.config.eps");
  REQUIRE(refused("ActivationQuantizer", "{}") == "q.class_name");
  const WeightsSymmetricInferableQuantizer two(
      {.threshold = std::vector<double>{1, 2}, .per_channel = true, .channel_axis = 1});
  Floats y(6);
  REQUIRE_THROWS_AS(two.call(Floats(6), Shape{2, 3}, y), Error);
  REQUIRE_THROWS_AS(two.call(Floats(6), Shape{6}, y), Error);
  REQUIRE_THROWS_AS(two.call(Floats(5), Shape{3, 2}, y), Error);
}
