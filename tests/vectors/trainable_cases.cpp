// SPDX-License-Identifier: Apache-2.0
// Numbered cases of quantizers that are trained.
#include <cmath>
#include <map>

#include "core/quant/quantizer.h"
#include "core/trainable/annealing.h"
#include "core/framework/batch_range.h"
#include "core/trainable/fake_quantization.h"
#include "core/trainable/layer_weights.h"
#include "core/trainable/quantizers/quantizers.h"
#include "core/trainable/soft_rounding.h"
#include "core/trainable/step_slopes.h"
#include "tests/vectors/case.h"

namespace tersor::vectors {

using namespace trainable;
using quant::IntegerGrid;
using quant::Range;

namespace {

Verdict soft_rounding_case(const Case& one) {
  const IntegerGrid grid{one.input["n_bits"].get<int>(), true, false};
  const double t = number(one.input["threshold"]);
  const quant::Step step = quant::quantizer_of(quant::QuantizationMethod::kSymmetric).step_of({-t, t}, grid);
  const double low = grid.q_min(), high = grid.q_max();
  const auto same = [&](const char* name, const std::vector<double>& got) {
    return compared(numbers(one.output[name]), got, one.tolerance);
  };
  std::vector<double> starts, h, soft, hard, floats;
  for (const double rest : numbers(one.output["rest"])) starts.push_back(soft_rounding_start(rest));
  std::vector<float> weights;
  for (const double w : numbers(one.input["w"])) {
    const double floor = std::floor(w / step.scale);
    h.push_back(soft_rounding(soft_rounding_start(w / step.scale - floor)));
    soft.push_back(soft_value(floor, h.back(), step.scale, low, high));
    hard.push_back(soft_value(floor, h.back() >= 0.5 ? 1.0 : 0.0, step.scale, low, high));
    weights.push_back(static_cast<float>(w));
  }
  Verdict found = both(same("delta", {step.scale}), both(same("alpha", starts), same("h", h)));
  found = both(found, both(same("train", soft), same("hard", hard)));
  // The class itself, in float.
  TrainableQuantizerWeightsConfig config;
  config.weights_n_bits = grid.n_bits;
  config.weights_quantization_params.threshold = t;
  SoftRoundingWeightGPTQQuantizer quantizer(config);
  const int64_t shape[] = {1, static_cast<int64_t>(weights.size())};
  quantizer.initialize_quantization(weights, shape, "w");
  const auto near_float = [&](const char* name, std::span<const float> got) {
    return compared(numbers(one.output[name]), {got.begin(), got.end()}, 1e-5);
  };
  found = both(found, both(near_float("alpha", quantizer.alpha().value), near_float("h", quantizer.h())));
  std::vector<float> output(weights.size());
  quantizer.call(weights, output, true);
  found = both(found, near_float("train", output));
  quantizer.call(weights, output, false);
  return both(found, near_float("hard", output));
}

Verdict regularizer(const Case& one) {
  std::vector<double> got;
  for (const double beta : numbers(one.input["beta"]))
    got.push_back(rounding_regularizer(numbers(one.input["h"]), beta));
  return compared(numbers(one.output["reg"]), got, one.tolerance);
}

Verdict annealing(const Case& one) {
  const int64_t total = one.input["total_steps"].get<int64_t>();
  std::vector<double> betas, fractions;
  for (const Json& step : one.input["steps"]) {
    betas.push_back(regularizer_beta(step.get<int64_t>(), total));
    fractions.push_back(quantized_fraction(step.get<int64_t>(), total));
  }
  return both(compared(numbers(one.output["beta"]), betas, one.tolerance),
              compared(numbers(one.output["fraction"]), fractions, one.tolerance));
}

Verdict learned_step(const Case& one) {
  const IntegerGrid grid{one.input["n_bits"].get<int>(), one.input["signed"].get<bool>(), false};
  const double t = number(one.input["threshold"]);
  const double g = lsq_gradient_scale(grid, one.input["num_thresholds_or_channels"].get<int64_t>());
  const double scale = quant::quantizer_of(quant::QuantizationMethod::kSymmetric).step_of({-t, t}, grid).scale;
  const double low = grid.q_min(), high = grid.q_max();
  const auto by_scale = [&](double x) { return step_slopes(x, scale, low, high).by_scale(low, high); };
  const double x = number(one.input["x"]), beyond = number(one.input["x_clipped_high"]);
  std::vector<double> expected;
  for (const char* name : {"delta", "y", "grad_scale", "dy_ddelta_inside", "dy_ddelta_high", "y_high",
                           "dy_dthreshold_inside", "dy_dthreshold_high"})
    expected.push_back(number(one.output[name]));
  const InferableQuantizer quantizer =
      WeightsSymmetricInferableQuantizer({.num_bits = grid.n_bits, .threshold = t, .per_channel = false});
  const std::vector<float> inputs{static_cast<float>(x), static_cast<float>(beyond)};
  std::vector<float> y(2);
  quantizer.call(inputs, y);
  return compared(expected,
                  {scale, y[0], g, by_scale(x), by_scale(beyond), y[1], g * by_scale(x) * (scale / t),
                   g * by_scale(beyond) * (scale / t)},
                  one.tolerance);
}

Verdict hessian_weights(const Case& one) {
  const std::vector<double> scores = numbers(one.input["mean_scores"]);
  return both(compared(numbers(one.output["offset_log"]), layer_weights(scores, LogScores::kOffset), one.tolerance),
              compared(numbers(one.output["scaled_log"]), layer_weights(scores, LogScores::kScaled), one.tolerance));
}

/// The lists of numbers in a text: "start 0/0, batches [-1,1] then [0,0]".
std::vector<std::vector<double>> lists_in(const std::string& text) {
  std::vector<std::vector<double>> lists;
  for (size_t at = text.find('['); at != std::string::npos; at = text.find('[', at + 1))
    lists.push_back(numbers(Json::parse(text.substr(at, text.find(']', at) + 1 - at))));
  return lists;
}

Verdict range_updates(const Case& one) {
  const auto after = [&](const framework::LayerQuantizer& quantizer, const std::vector<std::vector<double>>& batches) {
    framework::BatchRange range(quantizer, {0, 0});
    for (const auto& batch : batches) range.see(batch);
    return std::vector{range.range().low, range.range().high};
  };
  const auto text = [&](const char* name) { return lists_in(one.input[name].get<std::string>()); };
  const auto same = [&](const char* name, const std::vector<double>& got) {
    return compared(numbers(one.output[name]), got, one.tolerance);
  };
  std::vector<std::vector<double>> all;
  for (const Json& batch : one.input["AllValues"]) all.push_back(numbers(batch));
  using namespace framework;
  const Verdict averages =
      both(same("MovingAverage", after(MovingAverageQuantizer(), text("MovingAverage"))),
           same("MovingAverage_symmetric_wide",
                after(MovingAverageQuantizer(8, false, true, false), text("MovingAverage_symmetric_wide"))));
  const Verdict last = same("LastValue_symmetric_narrow", after(LastValueQuantizer(8, false, true, true),
                                                                {numbers(one.input["LastValue_symmetric_narrow"])}));
  return both(averages, both(last, same("AllValues", after(AllValuesQuantizer(), all))));
}

Verdict nudged(const Case& one) {
  Verdict found;
  for (const bool narrow : {false, true}) {
    const char* name = narrow ? "narrow" : "wide";
    const Json &range = one.input[name], &expected = one.output[name];
    const FakeQuantization quantizer({number(range["min"]), number(range["max"])}, 3, narrow);
    std::vector<double> y;
    for (const double x : numbers(one.input["x"])) y.push_back(quantizer(x));
    found = both(found, compared({number(expected["min"]), number(expected["max"]), number(expected["scale"])},
                                 {quantizer.nudged().low, quantizer.nudged().high, quantizer.scale()}, one.tolerance));
    found = both(found, compared(numbers(expected["y"]), y, one.tolerance));
  }
  return found;
}

using Rule = Verdict (*)(const Case&);
const std::map<std::string, Rule> kRules = {
    {"V57", soft_rounding_case}, {"V58", regularizer},   {"V59", annealing}, {"V60", learned_step},
    {"V61", hessian_weights},    {"V62", range_updates}, {"V63", nudged}};

}  // namespace

std::optional<Verdict> judge_trainable(const Case& one) {
  if (!one.function.empty()) return std::nullopt;
  const auto rule = kRules.find(one.id);
  return rule == kRules.end() ? std::nullopt : std::optional(rule->second(one));
}

}  // namespace tersor::vectors
