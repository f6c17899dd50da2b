// SPDX-License-Identifier: Apache-2.0
#include "core/report/idle_remarks.h"

#include "tests/catch.h"

using namespace tersor;

namespace {

std::vector<std::string> places(const config::QuantizationConfig& config, const std::vector<ptq::Rewrite>& rewrites,
                                bool quantizes_activations) {
  ptq::QuantizationPlan plan;
  if (quantizes_activations) plan.activations.emplace_back();
  std::vector<std::string> places;
  for (const Diagnostic& one : report::idle_remarks(config, rewrites, plan)) places.push_back(one.place);
  return places;
}

}  // namespace

TEST_CASE("a correction that was asked for and found no place says why") {
  config::QuantizationConfig config;
  config.input_scaling = config.relu_unbound_correction = true;
  const std::vector<ptq::Rewrite> rewrites = {{"input_scaling", 0, "Nothing was changed: no input."},
                                              {"relu_unbound_correction", 2, "Two were bounded."}};
  REQUIRE(places(config, rewrites, true) == std::vector<std::string>{"config.input_scaling"});
  ptq::QuantizationPlan plan;
  plan.activations.emplace_back();
  REQUIRE(report::idle_remarks(config, rewrites, plan)[0].message == "Nothing was changed: no input.");
  REQUIRE(places({}, rewrites, true).empty());
}

TEST_CASE("accuracy_level is for platforms that write MatMulNBits") {
  config::QuantizationConfig config;
  config.accuracy_level = 4;
  ptq::QuantizationPlan plan;
  REQUIRE(report::idle_remarks(config, {}, plan)[0].place == "config.accuracy_level");
  plan.float_weights = tpc::FloatWeights::kMatMulNBits;
  REQUIRE(report::idle_remarks(config, {}, plan).empty());
}

TEST_CASE("what concerns activations is said to do nothing where none is quantized, unless nobody asked for it") {
  config::QuantizationConfig config;
  config.activation_n_bits = 16;
  config.weights_n_bits = 4;
  config.input_scaling = true;
  const std::vector<ptq::Rewrite> rewrites = {{"input_scaling", 0, "Nothing was changed: no input."}};
  REQUIRE(places(config, rewrites, false) ==
          std::vector<std::string>{"config.activation_n_bits", "config.input_scaling"});
  REQUIRE(places({}, {}, false).empty());
  REQUIRE(places(config::requirement_defaults(), {}, false).empty());
}

TEST_CASE(
    "a value that the documents' preset has as well is what somebody asked for where the rest is not the preset") {
  config::QuantizationConfig config;
  config.activation_threshold_method = quant::ThresholdSelectionMethod::kMse;
  REQUIRE(places(config, {}, false) == std::vector<std::string>{"config.activation_threshold_method"});
}

TEST_CASE("a threshold method for weights is said to do nothing where every weight has a table") {
  config::QuantizationConfig config;
  config.weights_threshold_method = quant::ThresholdSelectionMethod::kMae;
  ptq::QuantizationPlan plan;
  plan.kernels.resize(2);
  plan.kernels[0].table.emplace();
  REQUIRE(report::idle_remarks(config, {}, plan).empty());
  plan.kernels[1].table.emplace();
  const auto remarks = report::idle_remarks(config, {}, plan);
  REQUIRE(remarks.size() == 1);
  REQUIRE(remarks[0].place == "config.weights_threshold_method");
  REQUIRE(report::idle_remarks({}, {}, plan).empty());
}
