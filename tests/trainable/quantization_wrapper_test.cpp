// SPDX-License-Identifier: Apache-2.0
#include "core/trainable/quantization_wrapper.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/quant/quantizer.h"
#include "tests/catch.h"

using namespace tersor;
using namespace tersor::trainable;
using Floats = std::vector<float>;
using enum quant::QuantizationMethod;

namespace {

/// Two Gemms that share a weight of 2 x 3, the first with a bias.
struct Shared {
  Graph graph;
  NodeId first, second;
  ValueId w;

  Shared() {
    const ValueId x = graph.add_value("x", DType::kFloat32);
    w = graph.add_initializer("w", Tensor::of<float>({2, 3}, {0.11f, -0.52f, 0.93f, 0.34f, 0.75f, -1}));
    const ValueId b = graph.add_initializer("b", Tensor::of<float>({2}, {0.3f, -0.1f}));
    const ValueId y = graph.add_value("y"), z = graph.add_value("z");
    first = graph.append(gemm("first", {x, w, b}, y));
    second = graph.append(gemm("second", {x, w}, z));
    graph.inputs = {x};
    graph.outputs = {y, z};
  }
  static Node gemm(const char* name, std::vector<ValueId> inputs, ValueId output) {
    Node node;
    node.name = name;
    node.op_type = "Gemm";
    node.inputs = std::move(inputs);
    node.outputs = {output};
    node.attributes["transB"] = int64_t{1};
    return node;
  }
};

std::unique_ptr<BaseTrainableQuantizer> of_weights(const char* identifier, int n_bits = 3) {
  TrainableQuantizerWeightsConfig config;
  config.weights_n_bits = n_bits;
  return TrainableQuantizers().make(config, identifier);
}

std::unique_ptr<BaseTrainableQuantizer> of_activations(const char* identifier) {
  return TrainableQuantizers().make(TrainableQuantizerActivationConfig{}, identifier);
}

QuantizationWrapper::Quantizers one(const WeightKey& key, std::unique_ptr<BaseTrainableQuantizer> quantizer) {
  QuantizationWrapper::Quantizers quantizers;
  quantizers.emplace_back(key, std::move(quantizer));
  return quantizers;
}

Floats initializer(const Graph& graph, ValueId id) {
  const auto values = graph.initializer(id)->data<float>();
  return {values.begin(), values.end()};
}

}  // namespace

TEST_CASE("a wrapper trains the weight of its node, converts it and puts it back on its grid") {
  for (const char* identifier : {"STE", "LSQ", "SOFT"}) {
    Shared shared;
    const Floats before = initializer(shared.graph, shared.w);
    QuantizationWrapper wrapper(shared.graph, shared.first, one("kernel", of_weights(identifier)));
    REQUIRE(wrapper.name() == "first");
    // The loss: that the sum of all weights is 1.
    const auto loss = [&](bool training) {
      wrapper.quantize_weights(training);
      double sum = -1;
      for (const float w : wrapper.weights()[0].quantized) sum += w;
      return sum;
    };
    const double at_first = loss(false);
    const auto weights = wrapper.get_trainable_variables(VariableGroup::WEIGHTS);
    REQUIRE(weights.size() == 1);  // the float weight, or alpha in its place
    for (int step = 0; step < 300; ++step) {
      const float slope = static_cast<float>(2 * loss(true));
      for (const VariableGroup group : {VariableGroup::WEIGHTS, VariableGroup::QPARAMS})
        for (Variable* variable : wrapper.get_trainable_variables(group))
          std::fill(variable->gradient.begin(), variable->gradient.end(), 0.0f);
      wrapper.gradient(0, Floats(6, slope));
      if (identifier[0] == 'S' && identifier[1] == 'O') wrapper.regularize(2, 0.01);
      for (Variable* variable : weights)
        for (size_t i = 0; i < 6; ++i)
          variable->value[i] -= 0.3f * variable->gradient[i] / (1 + static_cast<float>(step) / 9);
    }
    wrapper.convert_to_inferable_quantizers();
    INFO(identifier << " " << at_first << " " << loss(false));
    REQUIRE(std::fabs(loss(false)) <= std::fabs(at_first));
    const auto& weight = wrapper.weight("kernel");
    REQUIRE(weight.quantizer == nullptr);
    REQUIRE(wrapper.get_trainable_variables(VariableGroup::WEIGHTS).empty());
    const auto params = *weight.inferable->params(2);
    wrapper.apply(shared.graph);
    const Node& node = *shared.graph.find(shared.first);
    const Tensor& tensor = *shared.graph.initializer(node.inputs[1]);
    REQUIRE(quant::fake_quantize(tensor, params) == tensor);  // on its grid
    REQUIRE(node.inputs[1] != shared.w);                      // the other Gemm's weight stays
    REQUIRE(initializer(shared.graph, shared.w) == before);
    const Node& other = *shared.graph.find(shared.second);
    REQUIRE(other.inputs[1] == shared.w);
  }
}

TEST_CASE("weights go by name or by place, the lowest first") {
  Shared shared;
  QuantizationWrapper::Quantizers quantizers = one(2, of_weights("STE", 8));
  quantizers.emplace_back(1, of_weights("LSQ"));
  const QuantizationWrapper wrapper(shared.graph, shared.first, std::move(quantizers));
  REQUIRE(wrapper.weights()[0].key == WeightKey(1));
  REQUIRE(wrapper.weight(2).shape == Shape{2});
  const Json json = wrapper.get_config();
  const auto again = QuantizationWrapper::from_config(shared.graph, json, TrainableQuantizers(), "");
  REQUIRE(again.get_config() == json);
  REQUIRE(again.node() == shared.first);
  REQUIRE_THROWS_AS(wrapper.weight("kernel"), Error);

  QuantizationWrapper::Quantizers mixed = one(1, of_weights("STE"));
  mixed.emplace_back("bias", of_weights("STE"));
  REQUIRE_THROWS_AS(QuantizationWrapper(shared.graph, shared.first, std::move(mixed)), Error);
  QuantizationWrapper::Quantizers twice = one(1, of_weights("STE"));
  twice.emplace_back(1, of_weights("STE"));
  REQUIRE_THROWS_AS(QuantizationWrapper(shared.graph, shared.first, std::move(twice)), Error);
  REQUIRE_THROWS_AS(QuantizationWrapper(shared.graph, shared.first, {}), Error);
  REQUIRE_THROWS_AS(QuantizationWrapper(shared.graph, shared.first, one(0, of_weights("STE"))), Error);
  REQUIRE_THROWS_AS(QuantizationWrapper(shared.graph, shared.first, one("kernel", of_activations("STE"))), Error);
  REQUIRE_THROWS_AS(QuantizationWrapper(shared.graph, shared.first, one("kernel", nullptr)), Error);
  REQUIRE_THROWS_AS(QuantizationWrapper(shared.graph, shared.second, one("bias", of_weights("STE"))), Error);
}

TEST_CASE("a holder quantizes its value, and may be told to let it through") {
  Shared shared;
  const ValueId y = *shared.graph.find("y");
  const Floats x{-1, 0.5f, 2, 0.1f}, g{1, 2, 3, 4};
  const std::vector<int64_t> shape{2, 2};
  ActivationQuantizationHolder holder(shared.graph, y, of_activations("LSQ"));
  holder.initialize_quantization(x, shape);
  Floats trained(4), converted(4), by_input(4);
  holder.call(x, trained, true);
  holder.gradient(x, g, by_input);
  REQUIRE(holder.get_trainable_variables(VariableGroup::QPARAMS)[0]->name == "y/range_min");
  const Json json = holder.get_config();
  REQUIRE(ActivationQuantizationHolder::from_config(shared.graph, json, TrainableQuantizers(), "").get_config() ==
          json);
  holder.convert_to_inferable_quantizers();
  REQUIRE(holder.quantizer() == nullptr);
  REQUIRE(holder.inferable()->mark().class_name == "ActivationUniformInferableQuantizer");
  holder.call(x, converted, false);
  REQUIRE(converted == trained);
  REQUIRE_THROWS_AS(holder.gradient(x, g, by_input), Error);

  PreservingActivationQuantizationHolder preserving(shared.graph, y, of_activations("STE"), true);
  preserving.initialize_quantization(x, shape);
  preserving.call(x, trained, true);
  REQUIRE(trained == x);
  REQUIRE(preserving.get_trainable_variables(VariableGroup::QPARAMS).empty());
  FLNActivationQuantizationHolder fused(shared.graph, y, of_activations("STE"));
  REQUIRE(!fused.quantization_bypass());
  REQUIRE_THROWS_AS(ActivationQuantizationHolder(shared.graph, y, of_weights("STE")), Error);
  REQUIRE_THROWS_AS(ActivationQuantizationHolder(shared.graph, y, nullptr), Error);
}

TEST_CASE("a quantizer that starts at a plan's parameters has its values") {
  const Floats x{-1, 0.5f, 2, 0.1f, -0.3f, 0.77f};
  const Tensor tensor = Tensor::of<float>({2, 3}, x);
  for (const auto method : {kPowerOfTwo, kSymmetric, kUniform})
    for (const bool narrow : {false, true}) {
      if (narrow && method == kUniform) continue;
      const bool is_signed = method != kUniform;
      const std::vector<quant::Range> ranges{{-2, 2}, {-1, 1}};
      const auto params = quant::params_of_ranges(method, {4, is_signed, narrow && method == kSymmetric}, ranges, 0);
      const auto quantizer = TrainableQuantizers().make(weights_config_of(params), "LSQ");
      quantizer->initialize_quantization(x, std::vector<int64_t>{2, 3}, "w");
      Floats y(6);
      quantizer->call(x, y, true);
      const Tensor wanted = quant::fake_quantize(tensor, params);
      for (size_t i = 0; i < 6; ++i) REQUIRE(y[i] == Approx(wanted.data<float>()[i]).epsilon(1e-6));
    }
  // A signed symmetric activation that is stored in uint8 with the zero point 128.
  const auto stored = quant::with_sign(
      quant::params_of_ranges(kSymmetric, {8, true, false}, std::vector<quant::Range>{{-1.7, 1.7}}), false);
  const auto config = activation_config_of(stored);
  REQUIRE(config.activation_quantization_params.is_signed == true);
  const auto quantizer = TrainableQuantizers().make(config, "LSQ");
  quantizer->initialize_quantization({}, std::vector<int64_t>{1, 6}, "y");
  Floats y(6);
  quantizer->call(x, y, false);
  REQUIRE(Tensor::of<float>({2, 3}, y) == quant::fake_quantize(tensor, stored));
}
