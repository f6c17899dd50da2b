// SPDX-License-Identifier: Apache-2.0
// Whose settings the quantizer after a Relu or Clip takes, and ranges that operators decide by themselves.
#include "tests/catch.h"

#include "tests/support/corrected.h"

using namespace tersor;
using test::NamedModel;
using Ints = std::vector<int64_t>;

namespace {

/// Conv, `clamp`, Conv.
Model model_of(const char* clamp = "Relu") {
  NamedModel model;
  const Ints pads{1, 1, 1, 1};
  model.input("x", {1, 4, 6, 6}).weight("w1", {8, 4, 3, 3}).weight("w2", {3, 8, 3, 3});
  model.node("Conv", {"x", "w1"}, {"c"}, {{"pads", pads}}).node(clamp, {"c"}, {"r"});
  return model.node("Conv", {"r", "w2"}, {"y"}, {{"pads", pads}}).output("y").build();
}

using Overrides = std::vector<config::Override>;

config::Override override_of(const char* type, const char* config) {
  config::Override one;
  one.type = type;
  one.config = config;
  return one;
}

quant::QuantizationParams behind_clamp(const Overrides& overrides, const char* clamp = "Relu",
                                       const std::string& framework_info = {}) {
  const std::vector<std::byte> bytes = onnx::write(model_of(clamp));
  Settings settings{tpc::get_target_platform_capabilities("ort-cpu"), test::plain_config(), overrides};
  settings.framework_info = framework_info;
  const auto job = prepare(std::make_shared<const OpenedModel>(open_model(onnx::Source::of(bytes))), settings);
  const QuantizeResult result = quantize(*job, test::statistics_of(*job));
  return result.plan.find(*job->model.graph.find("r"))->params;
}

bool is_power_of_two(float scale) {
  return std::exp2(std::round(std::log2(scale))) == scale;
}

constexpr const char* kPowerOfTwo = R"({"activation_quantization_method": "POWER_OF_TWO"})";
constexpr const char* kUniform = R"({"activation_quantization_method": "UNIFORM"})";

}  // namespace

TEST_CASE("the quantizer after a clamp is the clamp's, and that of the kernel before it where only that is named") {
  REQUIRE_FALSE(is_power_of_two(behind_clamp({}).scale[0]));
  const Overrides of_clamp{override_of("Relu", kPowerOfTwo)}, of_kernel{override_of("Conv", kPowerOfTwo)};
  REQUIRE(is_power_of_two(behind_clamp(of_clamp).scale[0]));
  REQUIRE(is_power_of_two(behind_clamp(of_kernel).scale[0]));
  REQUIRE_FALSE(
      is_power_of_two(behind_clamp({override_of("Conv", kPowerOfTwo), override_of("Relu", kUniform)}).scale[0]));
}

TEST_CASE("what an operator gives is its range where both ends are known") {
  REQUIRE(behind_clamp({}, "Sigmoid").scale[0] == 1.0f / 255);
  const quant::QuantizationParams even = behind_clamp({override_of("Sigmoid", kPowerOfTwo)}, "Sigmoid");
  REQUIRE((even.scale[0] == 1.0f / 256 && even.zero_point[0] == 0));
  const quant::QuantizationParams named =
      behind_clamp({}, "Sigmoid", R"({"layer_min_max_mapping": {"Sigmoid": [0, 2]}})");
  REQUIRE(named.scale[0] == 2.0f / 255);
}
