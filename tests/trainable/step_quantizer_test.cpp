// SPDX-License-Identifier: Apache-2.0
#include "core/trainable/step_quantizer.h"

#include <cmath>
#include <limits>
#include <random>
#include <string>

#include "core/base/error.h"
#include "core/quant/quantizer.h"
#include "core/trainable/step_slopes.h"
#include "core/trainable/trainable_quantizers.h"
#include "tests/catch.h"

using namespace tersor;
using namespace tersor::trainable;
using quant::QuantizationMethod;
using Floats = std::vector<float>;
using enum QuantizationMethod;

namespace {

const QuantizationMethod kMethods[] = {kPowerOfTwo, kSymmetric, kUniform};

TrainableQuantizerWeightsConfig weights(QuantizationMethod method, int n_bits, bool per_channel = false, int axis = 0) {
  TrainableQuantizerWeightsConfig config;
  config.weights_quantization_method = method;
  config.weights_n_bits = n_bits;
  config.weights_per_channel_threshold = per_channel;
  config.weights_channels_axis = axis;
  return config;
}

TrainableQuantizerActivationConfig activation(QuantizationMethod method, int n_bits) {
  TrainableQuantizerActivationConfig config;
  config.activation_quantization_method = method;
  config.activation_n_bits = n_bits;
  return config;
}

Floats noise(size_t count, unsigned seed, float reach = 1) {
  std::mt19937 random(seed);
  Floats values;
  for (size_t k = 0; k < count; ++k) values.push_back((static_cast<float>(random() % 20001) / 10000 - 1) * reach);
  return values;
}

std::unique_ptr<BaseTrainableQuantizer> started(const TrainableQuantizerConfig& config, const std::string& identifier,
                                                const Floats& values, const std::vector<int64_t>& shape) {
  auto quantizer = TrainableQuantizers().make(config, identifier);
  quantizer->initialize_quantization(values, shape, "x");
  return quantizer;
}

Floats called(BaseTrainableQuantizer& quantizer, const Floats& x) {
  Floats y(x.size());
  quantizer.call(x, y, true);
  return y;
}

}  // namespace

TEST_CASE("what is trained on is what inference computes, bit for bit") {
  const std::vector<int64_t> shape{4, 6, 7};
  const Floats x = noise(4 * 6 * 7, 1, 3);
  for (const char* identifier : {"STE", "LSQ"})
    for (const QuantizationMethod method : kMethods)
      for (const int n_bits : {2, 4, 8, 16}) {
        for (const int axis : {-3, 0, 1, 2}) {
          const auto quantizer = started(weights(method, n_bits, axis >= 0, axis), identifier, x, shape);
          const auto inferable = quantizer->convert2inferable();
          const Tensor wanted = quant::dequantize(
              quant::quantize(Tensor::of<float>(Shape(shape), x), *inferable->params(3)), *inferable->params(3));
          const Floats y = called(*quantizer, x);
          REQUIRE(y == Floats(wanted.data<float>().begin(), wanted.data<float>().end()));
        }
        const auto quantizer = started(activation(method, n_bits), identifier, x, shape);
        const auto inferable = quantizer->convert2inferable();
        Floats wanted(x.size());
        inferable->call(x, wanted);
        REQUIRE(called(*quantizer, x) == wanted);
      }
}

TEST_CASE("a quantizer starts where its params say, or else at the extremes of each channel") {
  const Floats x{-1, 2, 0.5f, 0.25f};
  auto config = weights(kSymmetric, 8, true, 0);
  auto quantizer = started(config, "LSQ", x, {2, 2});
  REQUIRE(quantizer->variables()[0].value == Floats{2, 0.5f});
  REQUIRE(quantizer->variables()[0].name == "x/threshold");
  config.weights_quantization_params.threshold = 2.0;  // the documents' example: one number for every channel
  REQUIRE(started(config, "LSQ", x, {2, 2})->variables()[0].value == Floats{2, 2});
  config.weights_quantization_params.threshold = std::vector<double>{1, 3};
  REQUIRE(started(config, "LSQ", x, {2, 2})->variables()[0].value == Floats{1, 3});
  config.weights_quantization_params.threshold = std::vector<double>{1, 3, 4};
  REQUIRE_THROWS_AS(started(config, "LSQ", x, {2, 2}), Error);

  auto of_activation = activation(kUniform, 8);
  of_activation.activation_quantization_params.threshold = 2.0;  // the documents' example: UNIFORM with a threshold
  quantizer = started(of_activation, "STE", {}, {1, 4});
  REQUIRE(quantizer->variables()[0].value == Floats{-2});
  REQUIRE(quantizer->variables()[1].value == Floats{2});
  quantizer = started(of_activation, "STE", {0, 1}, {1, 2});  // no value below 0
  REQUIRE(quantizer->variables()[0].value == Floats{0});
  REQUIRE_THROWS_AS(started(activation(kUniform, 8), "STE", {}, {1, 4}), Error);
}

TEST_CASE("straight through: every gradient reaches the weights, whose thresholds stay") {
  const Floats x{0.37f, 9, -9}, by_output{2, -1, 3};
  auto config = weights(kSymmetric, 3);
  config.weights_quantization_params.threshold = 1;
  const auto quantizer = started(config, "STE", x, {3});
  Floats by_input(3);
  quantizer->gradient(x, by_output, by_input);
  REQUIRE(by_input == by_output);
  REQUIRE(quantizer->get_trainable_variables(VariableGroup::QPARAMS).empty());
  REQUIRE(quantizer->get_trainable_variables(VariableGroup::WEIGHTS).empty());
}

TEST_CASE("LSQ: the range stops gradients, and the gradient scale is the paper's") {
  const Floats x{0.37f, 9, -9}, by_output{2, -1, 3};
  auto config = weights(kSymmetric, 3);
  config.weights_quantization_params.threshold = 1;
  const auto quantizer = started(config, "LSQ", x, {3});
  Floats by_input(3);
  quantizer->gradient(x, by_output, by_input);
  REQUIRE(by_input == Floats{2, 0, 0});
  const auto variables = quantizer->get_trainable_variables(VariableGroup::QPARAMS);
  REQUIRE(variables.size() == 1);
  const double by_scale = 2 * (1 - 0.37 / 0.25) - 1 * 3 + 3 * -4;
  REQUIRE(variables[0]->gradient[0] == Approx(by_scale / 4 / std::sqrt(3.0 * 3)));
  REQUIRE(lsq_gradient_scale({3, true, false}, 12) == Approx(1.0 / 6));
  REQUIRE_THROWS_AS(lsq_gradient_scale({3, true, false}, 0), Error);
}

TEST_CASE("gradients of ranges are those of the output whose rounding is held") {
  // y = scale * (x / scale + what rounding added there) within the range, and its end beyond: central differences in
  // double of that.
  const size_t channels = 3, inner = 300;
  const Floats x = noise(channels * inner, 2, 1.5f), by_output = noise(channels * inner, 3);
  const std::vector<int64_t> shapes[] = {{3, 300}, {300, 3}};
  for (int along = 0; along < 2; ++along)
    for (const QuantizationMethod method : kMethods)
      for (const bool of_weights : {true, false}) {
        const bool is_uniform = method == kUniform;
        auto config = weights(method, 4, true, along);
        auto other = activation(method, 4);
        const std::vector<double> lows{-0.8, -1.3, -0.2}, highs{1, 0.7, 0.4};
        if (is_uniform) {
          config.weights_quantization_params.range_min = lows;
          config.weights_quantization_params.range_max = highs;
          other.activation_quantization_params.range_min = -0.8;
          other.activation_quantization_params.range_max = 1;
        } else {
          config.weights_quantization_params.threshold = highs;
          other.activation_quantization_params.threshold = 1;
        }
        const auto quantizer =
            of_weights ? started(config, "LSQ", x, shapes[along]) : started(other, "LSQ", x, {1, 900});
        quantizer->gradient(x, by_output, {});
        const auto& last = quantizer->variables().back();
        const size_t count = of_weights ? channels : 1;
        REQUIRE(last.value.size() == count);
        const double g = lsq_gradient_scale({4, !is_uniform, false}, of_weights ? 300 : 900);
        for (size_t c = 0; c < count; ++c) {
          const double first_low = is_uniform ? quantizer->variables()[0].value[c] : -1, first_high = last.value[c];
          const auto loss = [&](double low, double high) {
            double sum = 0;
            for (size_t i = 0; i < x.size(); ++i) {
              if (of_weights && (along == 0 ? i / inner : i % channels) != c) continue;
              // rounded with the scale as it is now, and moved with the one that is tried
              const quant::IntegerGrid grid{4, !is_uniform, false};
              const auto& record = quant::quantizer_of(method);
              const auto covered = record.cover(is_uniform ? first_low : -first_high, first_high, grid, 1e-6);
              const quant::Step step = record.step_of(covered, grid);
              const double lowest = grid.q_min() - step.zero_point, highest = grid.q_max() - step.zero_point;
              const double n = x[i] / static_cast<float>(step.scale), rounded = std::nearbyint(n);
              const double scale = is_uniform ? (high - low) / 15 : step.scale * high / first_high;
              double y = x[i] + scale * (rounded - n);
              if (is_uniform) {
                if (rounded < lowest) y = low;
                if (rounded > highest) y = high;
              } else if (rounded < lowest || rounded > highest) {
                y = scale * std::clamp(rounded, lowest, highest);
              }
              sum += by_output[i] * y;
            }
            return sum;
          };
          constexpr double kSmall = 1e-5;
          const double by_high =
              (loss(first_low, first_high + kSmall) - loss(first_low, first_high - kSmall)) / (2 * kSmall);
          REQUIRE(last.gradient[c] == Approx(g * by_high).epsilon(1e-4).margin(1e-5));
          if (!is_uniform) continue;
          const double by_low =
              (loss(first_low + kSmall, first_high) - loss(first_low - kSmall, first_high)) / (2 * kSmall);
          REQUIRE(quantizer->variables()[0].gradient[c] == Approx(g * by_low).epsilon(1e-4).margin(1e-5));
        }
      }
}

TEST_CASE("slopes by the step are those of the output, and NaN lies below") {
  for (const double x : {0.37, -0.9, 1.3, -1.3, 9.0}) {
    const auto at = step_slopes(x, 0.25, -4.0, 3.0);
    REQUIRE(at.within + at.below + at.above == 1);
    if (at.within == 0) REQUIRE(at.by_scale(-4, 3) == (x < 0 ? -4 : 3));
  }
  REQUIRE(step_slopes(std::numeric_limits<float>::quiet_NaN(), 0.25f, -4.0f, 3.0f).below == 1);
}

TEST_CASE("a threshold learned by its gradient comes to where the error is least") {
  // Values spread evenly to 1, of which a range wider by half makes more error.
  Floats x;
  for (int k = -500; k <= 500; ++k) x.push_back(0.002f * static_cast<float>(k));
  for (const QuantizationMethod method : {kSymmetric, kUniform})
    for (const char* identifier : {"STE", "LSQ"}) {
      auto config = activation(method, 4);
      config.activation_quantization_params.threshold = 1.5;
      const auto quantizer = started(config, identifier, x, {1, static_cast<int64_t>(x.size())});
      const auto variables = quantizer->get_trainable_variables(VariableGroup::QPARAMS);
      const auto error = [&] {
        double sum = 0;
        const Floats y = called(*quantizer, x);
        for (size_t k = 0; k < x.size(); ++k) sum += (y[k] - x[k]) * (y[k] - x[k]);
        return sum;
      };
      const double before = error();
      const float rate = identifier[0] == 'L' ? 0.5f : 0.01f;
      for (int step = 0; step < 400; ++step) {
        Floats by_output = called(*quantizer, x);
        for (size_t k = 0; k < x.size(); ++k) by_output[k] = 2 * (by_output[k] - x[k]);
        for (Variable* one : variables) one->gradient[0] = 0;
        quantizer->gradient(x, by_output, {});
        for (Variable* one : variables) one->value[0] -= rate * one->gradient[0];
      }
      INFO(identifier << " " << enum_word(method) << " " << before << " " << error());
      REQUIRE(error() < 0.6 * before);
    }
}

TEST_CASE("a range that has left its limits is led back and no further") {
  auto config = activation(kUniform, 4);
  config.activation_quantization_params.range_min = -1;
  config.activation_quantization_params.range_max = 1;
  const Floats x{0.4f, -0.4f, 3};
  const auto quantizer = started(config, "LSQ", x, {1, 3});
  auto& variables = quantizer->variables();
  variables[0].value[0] = 0.5f;  // the lower end above 0: the range is 0 to -0.5, which is none
  variables[1].value[0] = -0.5f;
  for (const float y : called(*quantizer, x)) REQUIRE(std::isfinite(y));
  for (const float sign : {1.0f, -1.0f}) {
    variables[0].gradient[0] = variables[1].gradient[0] = 0;
    quantizer->gradient(x, Floats{sign, sign, sign}, {});
    REQUIRE(variables[0].gradient[0] >= 0);  // a step against it goes down
    REQUIRE(variables[1].gradient[0] <= 0);
  }
  auto symmetric = activation(kSymmetric, 4);
  symmetric.activation_quantization_params.threshold = 1;
  const auto other = started(symmetric, "LSQ", x, {1, 3});
  other->variables()[0].value[0] = -3;
  for (const float y : called(*other, x)) REQUIRE(std::isfinite(y));
  other->gradient(x, Floats{1, 1, 1}, {});
  REQUIRE(other->variables()[0].gradient[0] <= 0);
}

TEST_CASE("outputs may be inputs, and derivatives by inputs those by outputs") {
  const Floats x = noise(1000, 4, 2), g = noise(1000, 5);
  auto config = activation(kSymmetric, 5);
  config.activation_quantization_params.threshold = 1;
  for (const char* identifier : {"STE", "LSQ"}) {
    const auto apart = started(config, identifier, x, {1, 1000}), in_place = started(config, identifier, x, {1, 1000});
    Floats y = x, by_input(1000), by_both = g;
    in_place->call(y, y, true);
    REQUIRE(y == called(*apart, x));
    apart->gradient(x, g, by_input);
    in_place->gradient(x, by_both, by_both);
    REQUIRE(by_both == by_input);
    REQUIRE(apart->variables()[0].gradient == in_place->variables()[0].gradient);
  }
}
