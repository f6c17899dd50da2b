// SPDX-License-Identifier: Apache-2.0
// A trainable quantizer of one's own: PACT (Choi et al. 2018) learns where activations are clipped.
#include <cmath>
#include <iostream>

#include <nlohmann/json.hpp>

#include "core/quant/even_steps.h"
#include "core/trainable/trainable_quantizers.h"

using namespace tersor;
using namespace tersor::trainable;

/// y = x within 0 and alpha, on a grid of 2^n_bits values. dy/dx is 1 within, dy/dalpha is 1 above.
class PactQuantizer : public BaseTrainableQuantizer {
 public:
  static inline const QuantizerMark kMark{
      "PactQuantizer", QuantizationTarget::kActivation, {quant::QuantizationMethod::kUniform}, "PACT"};
  explicit PactQuantizer(TrainableQuantizerActivationConfig config, bool freeze_quant_params = false)
      : BaseTrainableQuantizer(kMark, std::move(config), freeze_quant_params) {}

 protected:
  void initialize(std::span<const float> values, const Shape&) override {
    float most = static_cast<float>(settings().min_threshold);
    for (const float x : values) most = std::max(most, x);
    alpha_ = &add_variable("alpha", VariableGroup::QPARAMS, {most}, !freeze_quant_params());
    steps_.resize(1);
  }
  void quantize(std::span<const float> x, std::span<float> y, bool) override {
    steps_.set(0, quant::quantizer_of(settings().method), {0, alpha_->value[0]}, {settings().n_bits, false, false});
    quant::fake_quantize(x, {1, 1, x.size()}, steps_, y);
  }
  void differentiate(std::span<const float> x, std::span<const float> by_y, std::span<float> by_x) override {
    const float alpha = alpha_->value[0];
    double by_alpha = 0;
    for (size_t k = 0; k < x.size(); ++k) {
      if (x[k] >= alpha) by_alpha += by_y[k];
      if (!by_x.empty()) by_x[k] = x[k] > 0 && x[k] < alpha ? by_y[k] : 0;
    }
    alpha_->gradient[0] += static_cast<float>(by_alpha);
  }
  std::unique_ptr<InferableQuantizer> to_inferable() const override {
    InferableQuantizerArguments arguments;
    arguments.num_bits = settings().n_bits;
    arguments.min_range = 0;
    arguments.max_range = alpha_->value[0];
    return std::make_unique<ActivationUniformInferableQuantizer>(std::move(arguments));
  }

 private:
  Variable* alpha_ = nullptr;
  quant::EvenSteps steps_;
};

int main() try {
  TrainableQuantizers quantizers;
  quantizers.add<PactQuantizer>();  // the one line
  TrainableQuantizerActivationConfig config;
  config.activation_n_bits = 2;
  const auto quantizer = quantizers.make(config, "PACT");

  std::vector<float> x, y(4096), by_y(4096);  // values of a Relu, a few of them far out
  for (int k = 0; k < 4096; ++k) x.push_back(std::fabs(std::sin(0.7f * static_cast<float>(k))) * (k % 64 == 0 ? 4 : 1));
  const std::vector<int64_t> shape{1, 4096};
  quantizer->initialize_quantization(x, shape, "relu_1");
  for (int step = 0; step <= 200; ++step) {
    quantizer->call(x, y, true);
    double loss = 0;
    for (size_t k = 0; k < x.size(); ++k) loss += (y[k] - x[k]) * (y[k] - x[k]), by_y[k] = 2 * (y[k] - x[k]);
    quantizer->gradient(x, by_y, {});
    for (Variable* variable : quantizer->get_trainable_variables(VariableGroup::QPARAMS)) {
      variable->gradient[0] += 32 * variable->value[0];  // PACT's weight decay of alpha
      if (step % 200 == 0) std::cout << variable->name << " " << variable->value[0] << ", loss " << loss << "\n";
      variable->value[0] -= 1e-3f * variable->gradient[0];
      variable->gradient[0] = 0;
    }
  }
  std::cout << to_json(*quantizer->convert2inferable()) << "\n";
} catch (const Error& error) {
  std::cerr << error.place << ": " << error.message << " " << error.hint << "\n";
  return 1;
}
