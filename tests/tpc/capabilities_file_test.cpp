// SPDX-License-Identifier: Apache-2.0
// Capabilities files of Sony's model compression toolkit, schema 1 and 2.
#include <algorithm>

#include "core/base/json.h"
#include "core/tpc/read.h"
#include "tests/catch.h"

using namespace tersor;
using namespace tersor::tpc;
using quant::QuantizationMethod;

namespace {

const char* const kOp = R"({
  "default_weight_attr_config": {"weights_quantization_method": 0, "weights_n_bits": 8, "weights_per_channel_threshold": false,
                                 "enable_weights_quantization": false, "lut_values_bitwidth": null},
  "attr_weights_configs_mapping": {"kernel_attr": {"weights_quantization_method": 2, "weights_n_bits": 4,
      "weights_per_channel_threshold": true, "enable_weights_quantization": true, "lut_values_bitwidth": null}},
  "activation_quantization_method": 3, "activation_n_bits": 8, "supported_input_activation_n_bits": [8, 16],
  "enable_activation_quantization": true, "quantization_preserving": false, "fixed_scale": null, "fixed_zero_point": null,
  "simd_size": 32, "signedness": 1})";

std::string options() {
  const std::string op = kOp;
  return R"({"quantization_configurations": [)" + op + R"(], "base_config": )" + op + "}";
}

std::string file(const std::string& schema, const std::string& extra_in_fusing = "", const std::string& more = "") {
  const std::string conv = R"({"name": "Conv", "qc_options": )" + options() + R"(, "type": "OperatorsSet"})",
                    relu = R"({"name": "ReLU", "qc_options": null, "type": "OperatorsSet"})",
                    expand = R"({"name": "Expend", "qc_options": null, "type": "OperatorsSet"})";
  return R"({"default_qco": )" + options() + R"(, "operator_set": [)" + conv + "," + relu + "," + expand +
         R"(], "fusing_patterns": [{"operator_groups": [)" + conv + R"(, {"operators_set": [)" + relu + "," + expand +
         R"(], "name": "a", "type": "OperatorSetGroup"}], "name": null)" + extra_in_fusing +
         R"(}], "tpc_minor_version": 4, "tpc_patch_version": 1, "tpc_platform_type": "imx500",
         "add_metadata": true, "name": "imx", "is_simd_padding": true, "SCHEMA_VERSION": )" +
         schema + more + "}";
}

std::string message_of(const std::string& text) {
  try {
    read_platform(text, "mct.json");
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("a capabilities file of schema 1 is read as a platform") {
  const auto platform = read_platform(file("1", R"(, "fuse_op_quantization_config": 3)"));
  REQUIRE(platform.name == "imx");
  REQUIRE(platform.title == "imx500 4.1");
  const TargetPlatformModel& model = platform.tp_model;
  REQUIRE(model.add_metadata);
  REQUIRE(model.is_simd_padding);
  REQUIRE(model.tpc_minor_version == 4);
  REQUIRE(model.operator_set.size() == 3);
  const OpQuantizationConfig& conv = model.options_of("Conv").base_config();
  REQUIRE(conv.activation_quantization_method == QuantizationMethod::kUniform);
  REQUIRE(conv.signedness == Signedness::kSigned);
  REQUIRE(conv.supported_input_activation_n_bits == std::vector<int>{8, 16});
  REQUIRE(conv.attribute_config(kKernelAttr).weights_quantization_method == QuantizationMethod::kSymmetric);
  REQUIRE(conv.attribute_config(kKernelAttr).weights_n_bits == 4);
  REQUIRE_FALSE(model.find("ReLU")->qc_options);
  REQUIRE(model.find("Expand") != nullptr);
  // Patterns of schema 1 leave what is inside float.
  REQUIRE(model.fusing_patterns[0].name == "Conv_ReLU_Expand");
  REQUIRE_FALSE(model.fusing_patterns[0].fuse_op_quantization_config);
  REQUIRE(to_text(to_json(read_platform(to_text(to_json(platform))))) == to_text(to_json(platform)));
}

TEST_CASE("schema 2 adds what happens inside of fused chains") {
  const std::string fused = std::string(R"(, "fuse_op_quantization_config": )") + kOp;
  const auto platform = read_platform(file("2", fused, R"(, "insert_preserving_quantizers": true)"));
  REQUIRE(platform.tp_model.insert_preserving_quantizers == true);
  REQUIRE(platform.tp_model.fusing_patterns[0].fuse_op_quantization_config->activation_n_bits == 8);
  REQUIRE(to_text(to_json(read_platform(to_text(to_json(platform))))) == to_text(to_json(platform)));
}

TEST_CASE("faults of a capabilities file are told with their path in it") {
  REQUIRE(message_of(file("3")).find("schema version 3; 1 and 2 can be read") != std::string::npos);
  std::string text = file("1");
  const auto change = [&text](const char* from, const char* to) {
    const size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    text.replace(at, std::string(from).size(), to);
  };
  change(R"("activation_quantization_method": 3)", R"("activation_quantization_method": 9)");
  change(R"("quantization_preserving": false)", R"("quantization_preserving": true)");
  change(R"("name": "ReLU")", R"("title": "ReLU")");
  const std::string message = message_of(text);
  INFO(message);
  REQUIRE(message.find("mct.json.default_qco.quantization_configurations[0].activation_quantization_method: Found 9") !=
          std::string::npos);
  REQUIRE(message.find("mct.json.operator_set[1]: There is no field \"title\"") != std::string::npos);
}
