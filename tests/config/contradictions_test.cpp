// SPDX-License-Identifier: Apache-2.0
#include "core/config/contradictions.h"

#include "core/base/json.h"
#include "tests/catch.h"

using namespace tersor;
using namespace tersor::config;

namespace {

QuantizationConfig read(const std::string& fields, QuantizationConfig start = {}) {
  return read_quantization_config(std::string_view(fields), "config", std::move(start));
}

Error error_of(const std::string& fields, const char* overrides = "[]") {
  try {
    check_settings(read(fields), parse_overrides(overrides, "overrides"));
  } catch (const Error& error) {
    return error;
  }
  return Error(ErrorCode::kInternal, "no error");
}

std::vector<std::string> remarks_of(const QuantizationConfig& config, const char* overrides = "[]") {
  std::vector<std::string> messages;
  for (const Diagnostic& one : idle_settings(config, parse_overrides(overrides, "overrides"))) {
    REQUIRE(one.code == "no_effect");
    messages.push_back(one.message);
  }
  return messages;
}

Error override_error(const char* text) {
  try {
    parse_overrides(text, "overrides");
  } catch (const Error& error) {
    return error;
  }
  return Error(ErrorCode::kInternal, "no error");
}

}  // namespace

TEST_CASE("percentile is for Percentile") {
  QuantizationConfig config = read(R"({"percentile": 99})");
  REQUIRE(remarks_of(config).size() == 1);
  config.activation_threshold_method = quant::ThresholdSelectionMethod::kPercentile;
  REQUIRE(remarks_of(config).empty());
}

TEST_CASE("what is asked of weights or activations contradicts leaving them in float") {
  const Error one = error_of(R"({"enable_weights_quantization": false, "weights_n_bits": 4})");
  REQUIRE(one.code == ErrorCode::kInvalidConfig);
  REQUIRE(one.message == "weights_n_bits = 4 contradicts enable_weights_quantization = false.");
  REQUIRE(one.place == "config.weights_n_bits");
  REQUIRE(one.hint == "Leave weights_n_bits out, or change enable_weights_quantization.");
  const std::string all = error_of(R"({"enable_weights_quantization": false, "weights_n_bits": 4,
      "weights_quantization_method": "SYMMETRIC", "weights_per_channel_threshold": false,
      "enable_activation_quantization": false, "activation_n_bits": 16, "activation_quantization_method": "UNIFORM",
      "weights_threshold_method": "Entropy"})")
                              .message;
  INFO(all);
  REQUIRE(all.find("has 6 faults") != std::string::npos);
  for (const char* part : {"weights_n_bits = 4 contradicts", "weights_quantization_method = SYMMETRIC contradicts",
                           "weights_per_channel_threshold = false contradicts", "activation_n_bits = 16 contradicts",
                           "activation_quantization_method = UNIFORM contradicts", "Entropy, which does not act"})
    REQUIRE(all.find(part) != std::string::npos);
}

TEST_CASE("contradictions are told beside faults of form") {
  try {
    read(R"({"enable_weights_quantization": false, "weights_n_bits": 4, "speed": 1})");
    FAIL("no error");
  } catch (const Error& error) {
    REQUIRE(error.message.find("2 faults") != std::string::npos);
    REQUIRE(error.message.find("config.weights_n_bits: weights_n_bits = 4 contradicts") != std::string::npos);
  }
}

TEST_CASE("what nobody asked for contradicts nothing") {
  for (const char* field : {"enable_weights_quantization", "enable_activation_quantization"}) {
    const std::string off = std::string("{\"") + field + "\": false}";
    for (const QuantizationConfig& start : {QuantizationConfig(), requirement_defaults()}) {
      const QuantizationConfig config = read(off, start);
      REQUIRE_NOTHROW(check_settings(config));
      // As a recipe has it: every field written out.
      REQUIRE_NOTHROW(check_settings(read_quantization_config(to_json(config), "recipe")));
    }
  }
  REQUIRE(remarks_of(QuantizationConfig()).empty());
  REQUIRE(remarks_of(requirement_defaults()).empty());
  // A preset's fields do nothing then, and that is said.
  REQUIRE(remarks_of(read(R"({"enable_weights_quantization": false})", requirement_defaults())) ==
          std::vector<std::string>{"weights_quantization_method = POWER_OF_TWO, weights_n_bits = 8, "
                                   "weights_per_channel_threshold = true have no effect with "
                                   "enable_weights_quantization = false."});
}

TEST_CASE("an override may bring back for single nodes what holds for all others") {
  const char* off = R"({"enable_weights_quantization": false, "weights_n_bits": 4})";
  REQUIRE(error_of(off, R"([{"type": "Conv", "config": {"enable_weights_quantization": true}}])").message ==
          "no error");
  REQUIRE(error_of(off, R"([{"type": "Conv", "config": {"enable_activation_quantization": true}}])").message !=
          "no error");
  REQUIRE(remarks_of(read(R"({"activation_quantization_method": "UNIFORM", "input_scaling": true})"),
                     R"([{"type": "Conv", "config": {"activation_quantization_method": "SYMMETRIC"}}])")
              .empty());
}

TEST_CASE("a setting that has no effect beside the others is remarked upon") {
  struct Row {
    const char* fields;
    const char* remark;
  };
  for (const Row& row : std::initializer_list<Row>{
           {R"({"shift_negative_ratio": 0.5, "shift_negative_threshold_recalculation": true})",
            "shift_negative_ratio = 0.5, shift_negative_threshold_recalculation = true have no effect with "
            "shift_negative_activation_correction = false."},
           {R"({"shift_negative_activation_correction": true, "shift_negative_params_search": true, )"
            R"("shift_negative_threshold_recalculation": true})",
            "shift_negative_threshold_recalculation = true has no effect with shift_negative_params_search = true."},
           {R"({"activation_bias_correction_threshold": 5})",
            "activation_bias_correction_threshold = 5.0 has no effect with activation_bias_correction = false."},
           {R"({"weights_bias_correction": false, "effort": 2})",
            "effort = 2 has no effect with weights_bias_correction = false."},
           {R"({"weights_bias_correction": false, "weights_bias_correction_method": "ANALYTIC"})",
            "weights_bias_correction_method = ANALYTIC has no effect with weights_bias_correction = false."},
           {R"({"weights_bias_correction_method": "ANALYTIC", "effort": 2})",
            "effort = 2 has no effect with weights_bias_correction_method = ANALYTIC."},
           {R"({"activation_threshold_method": "MAE", "l_p_value": 4})",
            "l_p_value = 4 has no effect with activation_threshold_method = MAE, weights_threshold_method = "
            "NOCLIPPING."},
           {R"({"enable_weights_quantization": false, "weights_second_moment_correction": true})",
            "weights_second_moment_correction = true has no effect with enable_weights_quantization = false."},
           {R"({"enable_activation_quantization": false, "z_threshold": 4})",
            "z_threshold = 4.0 has no effect with enable_activation_quantization = false."},
           {R"({"activation_quantization_method": "UNIFORM", "input_scaling": true})",
            "input_scaling = true has no effect with activation_quantization_method = UNIFORM."},
           {R"({"activation_quantization_method": "SYMMETRIC", "relu_unbound_correction": true})",
            "relu_unbound_correction = true has no effect with activation_quantization_method = SYMMETRIC."}}) {
    INFO(row.fields);
    REQUIRE_NOTHROW(check_settings(read(row.fields)));
    REQUIRE(remarks_of(read(row.fields)) == std::vector<std::string>{row.remark});
  }
  REQUIRE(remarks_of(read(R"({"shift_negative_activation_correction": true, "shift_negative_ratio": 0.5})")).empty());
  REQUIRE(remarks_of(read(R"({"weights_threshold_method": "Lp", "l_p_value": 4})")).empty());
}

TEST_CASE("one field under two of its names must say one thing") {
  REQUIRE_NOTHROW(read(R"({"activation_error_method": "MAE", "activation_threshold_method": "MAE"})"));
  REQUIRE_THROWS_WITH(read(R"({"activation_threshold_method": "MAE", "activation_error_method": "MSE"})"),
                      Catch::Contains("activation_threshold_method and activation_error_method are one field") &&
                          Catch::Contains("\"MAE\" and \"MSE\""));
  REQUIRE_THROWS_WITH(read(R"({"weights_n_bits": 4, "weights_n_bits": 8})"),
                      Catch::Contains("config.weights_n_bits: The field \"weights_n_bits\" is there twice."));
}

TEST_CASE("an override that changes nothing is a fault") {
  for (const char* nothing :
       {R"([{"name": "a"}])", R"([{"name": "a", "config": {}}])", R"([{"name": "a", "annotate": false}])"}) {
    INFO(nothing);
    REQUIRE(error_of("{}", nothing).message.find("An override that changes nothing") == 0);
    REQUIRE(error_of("{}", nothing).place == "overrides[0]");
  }
  REQUIRE(error_of("{}", R"([{"name": "a", "annotate": true}, {"name": "b", "config": {"weights_n_bits": null}}])")
              .message == "no error");
}

TEST_CASE("all faults of a list of overrides are told, also that one contradicts itself") {
  const Error error = override_error(R"([{"name": 3, "speed": 1, "config": {"weights_n_bits": 99, "effort": 2}},
      {"config": {}}, {"type": "Conv", "config": {"enable_weights_quantization": false, "weights_n_bits": 8}}, 7])");
  INFO(error.message);
  REQUIRE(error.message.find("The list of overrides has 7 faults:") == 0);
  for (const char* part :
       {"overrides[0].name: Found 3", "overrides[0]: There is no field \"speed\"",
        "overrides[0].config.weights_n_bits: Found 99", "overrides[0].config.effort: effort concerns the whole model",
        "overrides[1]: An override that chooses no node",
        "overrides[2].config.weights_n_bits: weights_n_bits = 8 contradicts enable_weights_quantization = false.",
        "overrides[3]: Found 7"})
    REQUIRE(error.message.find(part) != std::string::npos);
}
