// SPDX-License-Identifier: Apache-2.0
#include "core/trainable/soft_rounding.h"

#include <cmath>
#include <limits>
#include <random>

#include "core/base/error.h"
#include "core/trainable/quantizers/quantizers.h"
#include "tests/catch.h"

using namespace tersor;
using namespace tersor::trainable;
using Values = std::vector<double>;
using Floats = std::vector<float>;

namespace {

/// Steps of 0.25 from -2 to 1.75.
TrainableQuantizerWeightsConfig four_bits() {
  TrainableQuantizerWeightsConfig config;
  config.weights_n_bits = 4;
  config.weights_quantization_params.threshold = 2;
  config.weights_per_channel_threshold = false;
  return config;
}

Floats some_weights() {
  std::mt19937 random(5);
  std::uniform_real_distribution<float> within(-2, 1.75);
  Floats weights;
  for (int k = 0; k < 100; ++k) weights.push_back(within(random));
  return weights;
}

struct Started {
  SoftRoundingWeightGPTQQuantizer quantizer;
  Floats weights;

  explicit Started(Floats given, const TrainableQuantizerWeightsConfig& config = four_bits())
      : quantizer(config), weights(std::move(given)) {
    const int64_t count = static_cast<int64_t>(weights.size());
    quantizer.initialize_quantization(weights, {&count, 1}, "w");
  }
  Floats output(bool training) {
    Floats y(weights.size());
    quantizer.call(weights, y, training);
    return y;
  }
};

}  // namespace

TEST_CASE("training starts at the weights themselves, as far as the grid reaches") {
  Floats weights = some_weights();
  for (const float w : {0.0f, 0.25f, -2.0f, 1.75f}) weights.push_back(w);
  const Floats start = Started(weights).output(true);
  for (size_t k = 0; k < weights.size(); ++k) REQUIRE(start[k] == Approx(weights[k]).margin(1e-6));
  const Floats beyond = Started({5, -5, 1.9f}).output(true);
  REQUIRE(beyond == Floats{1.75f, -2, 1.75f});
}

TEST_CASE("the hard output at the start is the nearest value, and follows alpha after that") {
  Started started(some_weights());
  const Floats hard = started.output(false);
  for (size_t k = 0; k < hard.size(); ++k)
    REQUIRE(hard[k] == Approx(std::floor(started.weights[k] / 0.25 + 0.5) * 0.25).margin(1e-6));
  for (float& alpha : started.quantizer.alpha().value) alpha = -9;
  for (size_t k = 0; k < hard.size(); ++k) REQUIRE(started.output(false)[k] <= started.weights[k]);
  REQUIRE(started.output(true) == started.output(false));  // h is 0
}

TEST_CASE("the hard output is what the inferable quantizer makes of it") {
  for (const auto method : {quant::QuantizationMethod::kPowerOfTwo, quant::QuantizationMethod::kSymmetric,
                            quant::QuantizationMethod::kUniform})
    for (const bool per_channel : {false, true}) {
      TrainableQuantizerWeightsConfig config;
      config.weights_quantization_method = method;
      config.weights_n_bits = 3;
      config.weights_per_channel_threshold = per_channel;
      config.weights_channels_axis = -1;
      SoftRoundingWeightGPTQQuantizer quantizer(config);
      const Floats w = some_weights();
      const int64_t shape[] = {25, 4};
      quantizer.initialize_quantization(w, shape, "w");
      std::mt19937 random(6);
      for (float& alpha : quantizer.alpha().value) alpha += static_cast<float>(random() % 9) - 4;
      Floats hard(w.size()), again(w.size());
      quantizer.call(w, hard, false);
      quantizer.convert2inferable()->call(hard, Shape{25, 4}, again);
      REQUIRE(again == hard);
    }
}

TEST_CASE("training may start at another rounding than the nearest") {
  const Floats weights{0.1f, -0.6f, 1.7f, 5, 0.26f}, rounded{0.5f, -0.75f, 1.75f, 1.75f, 0.25f};
  Started started(weights);
  started.quantizer.start_at(weights, rounded);
  REQUIRE(started.output(false) == rounded);
  const Floats soft = started.output(true);
  const Floats wanted{0.5f - 0.45f * 0.25f, -0.75f + 0.45f * 0.25f, 1.7f, 1.75f, 0.26f};
  for (size_t k = 0; k < soft.size(); ++k) REQUIRE(soft[k] == Approx(wanted[k]).margin(1e-6));
  REQUIRE_THROWS_AS(started.quantizer.start_at(weights, Floats{1}), Error);
}

TEST_CASE("a zero point moves the range of soft rounding") {
  TrainableQuantizerWeightsConfig config = four_bits();
  config.weights_quantization_method = quant::QuantizationMethod::kUniform;
  config.weights_quantization_params = {};
  config.weights_quantization_params.range_min = -0.75;
  config.weights_quantization_params.range_max = 3;
  const Floats output = Started({-5, 5, 0.1f}, config).output(true);
  REQUIRE(output[0] == -0.75f);
  REQUIRE(output[1] == 3);
  REQUIRE(output[2] == Approx(0.1));
}

TEST_CASE("the gradient is that of the training output") {
  Started started(some_weights());
  const Floats ones(started.weights.size(), 1.0f);
  Floats by_input(ones.size(), 7.0f);
  started.quantizer.gradient(started.weights, ones, by_input);
  const Floats gradient = started.quantizer.alpha().gradient;
  REQUIRE(by_input == Floats(ones.size(), 0.0f));  // the weights are not trained
  constexpr double kSmall = 1e-6;
  for (size_t k = 0; k < ones.size(); ++k) {
    const double alpha = started.quantizer.alpha().value[k];
    const double rise = 0.25 * (soft_rounding(alpha + kSmall) - soft_rounding(alpha - kSmall)) / (2 * kSmall);
    REQUIRE(gradient[k] == Approx(rise).epsilon(1e-4).margin(1e-6));
  }
  started.quantizer.gradient(started.weights, ones, {});
  REQUIRE(started.quantizer.alpha().gradient[3] == 2 * gradient[3]);  // added
}

TEST_CASE("a weight on the grid still learns, and one whose rounding is decided no more") {
  Started started({0.25f});
  const Floats one{1};
  started.quantizer.gradient(started.weights, one, {});
  REQUIRE(started.quantizer.alpha().gradient[0] > 0);
  started.quantizer.alpha().gradient[0] = 0;
  started.quantizer.alpha().value[0] = 20;
  started.quantizer.gradient(started.weights, one, {});
  REQUIRE(started.quantizer.alpha().gradient[0] == 0);
}

TEST_CASE("the regularizer is 0 where all is decided, and its gradient that of its values") {
  REQUIRE(rounding_regularizer(Values{0, 1, 1, 0}, 20) == 0);
  REQUIRE(rounding_regularizer(Values{0.5}, 2) == 1);
  constexpr double kSmall = 1e-6;
  for (const double beta : {20.0, 5.5, 2.0})
    for (const double h : {0.05, 0.3, 0.5, 0.8, 0.999}) {
      const double rise =
          (rounding_regularizer(Values{h + kSmall}, beta) - rounding_regularizer(Values{h - kSmall}, beta)) /
          (2 * kSmall);
      REQUIRE(rounding_regularizer_gradient(Values{h}, beta)[0] == Approx(rise).epsilon(1e-5).margin(1e-8));
    }
}

TEST_CASE("a quantizer adds the regularizer's gradient to alpha") {
  Started started(some_weights());
  for (const double beta : {20.0, 5.5, 2.0}) {
    Variable& alpha = started.quantizer.alpha();
    std::fill(alpha.gradient.begin(), alpha.gradient.end(), 0.0f);
    const double sum = started.quantizer.regularize(beta, 0.5);
    Values h;
    for (const float one : started.quantizer.h()) h.push_back(one);
    REQUIRE(sum == Approx(rounding_regularizer(h, beta)).epsilon(1e-5));
    const Values by_h = rounding_regularizer_gradient(h, beta);
    for (size_t k = 0; k < h.size(); ++k)
      REQUIRE(alpha.gradient[k] ==
              Approx(0.5 * by_h[k] * soft_rounding_slope(alpha.value[k])).epsilon(1e-3).margin(1e-5));
  }
  REQUIRE_THROWS_AS(started.quantizer.regularize(0, 1), Error);
}

TEST_CASE("alpha learned by its gradients rounds for the sum of products rather than for each weight") {
  // Five weights of 0.1, whose nearest values are all 0; their sum of products with ones is 0.5.
  Started started({0.1f, 0.1f, 0.1f, 0.1f, 0.1f});
  Variable& alpha = started.quantizer.alpha();
  for (int step = 0; step < 2000; ++step) {
    std::fill(alpha.gradient.begin(), alpha.gradient.end(), 0.0f);
    double error = -0.5;
    for (const float y : started.output(true)) error += y;
    // without unlike starts all five would go the same way
    for (size_t k = 0; step == 0 && k < 5; ++k) alpha.value[k] += 0.01f * static_cast<float>(k);
    started.quantizer.gradient(started.weights, Floats(5, static_cast<float>(2 * error)), {});
    started.quantizer.regularize(2, 0.01);
    for (size_t k = 0; k < 5; ++k) alpha.value[k] -= 0.5f * alpha.gradient[k];
  }
  double sum = 0;
  for (const float y : started.output(false)) sum += y;
  REQUIRE(sum == 0.5);
}

TEST_CASE("layers count in parts of the largest weight") {
  REQUIRE(weighted_regularizer(Values{4, 6}, Values{1, 2}) == 8);
  REQUIRE(weighted_regularizer(Values{4, 6}, Values{0, 0}) == 0);
}

TEST_CASE("what cannot be trained is refused") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  REQUIRE_THROWS_AS(Started({std::numeric_limits<float>::quiet_NaN()}), Error);
  REQUIRE(Started({}).output(true).empty());
  REQUIRE_THROWS_AS(rounding_regularizer(Values{1.5}, 2), Error);
  REQUIRE_THROWS_AS(rounding_regularizer(Values{nan}, 2), Error);
  REQUIRE_THROWS_AS(rounding_regularizer(Values{0.5}, 0), Error);
  REQUIRE_THROWS_AS(weighted_regularizer({}, {}), Error);
  REQUIRE_THROWS_AS(weighted_regularizer(Values{1}, Values{1, 2}), Error);
  REQUIRE_THROWS_AS(weighted_regularizer(Values{1}, Values{-1}), Error);
}
