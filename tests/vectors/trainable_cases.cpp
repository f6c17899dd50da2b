// SPDX-License-Identifier: Apache-2.0
// Numbered cases of quantizers that are trained.
#include <map>

#include "core/quant/quantizer.h"
#include "core/trainable/annealing.h"
#include "core/trainable/batch_range.h"
#include "core/trainable/fake_quantization.h"
#include "core/trainable/layer_weights.h"
#include "core/trainable/lsq.h"
#include "core/trainable/soft_rounding.h"
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
  const SoftRoundingQuantizer quantizer(numbers(one.input["w"]), step, grid);
  const auto same = [&](const char* name, const std::vector<double>& got) {
    return compared(numbers(one.output[name]), got, one.tolerance);
  };
  std::vector<double> starts;
  for (const double rest : numbers(one.output["rest"])) starts.push_back(soft_rounding_start(rest));
  Verdict found = both(same("delta", {step.scale}), same("alpha", starts));
  found = both(found, both(same("alpha", quantizer.alpha()), same("h", quantizer.h())));
  return both(found, both(same("train", quantizer.training_output()), same("hard", quantizer.hard_output())));
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
  const double scale = lsq_gradient_scale(grid, one.input["num_thresholds_or_channels"].get<int64_t>());
  const LsqQuantizer quantizer(number(one.input["threshold"]), grid, scale);
  const double x = number(one.input["x"]), high = number(one.input["x_clipped_high"]);
  const LsqQuantizer::Slopes inside = quantizer.slopes(x), clipped = quantizer.slopes(high);
  std::vector<double> expected;
  for (const char* name : {"delta", "y", "grad_scale", "dy_ddelta_inside", "dy_ddelta_high", "y_high",
                           "dy_dthreshold_inside", "dy_dthreshold_high"})
    expected.push_back(number(one.output[name]));
  return compared(expected,
                  {quantizer.delta(), quantizer(x), scale, inside.by_delta, clipped.by_delta, quantizer(high),
                   inside.by_threshold, clipped.by_threshold},
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
    BatchRange range(quantizer, {0, 0});
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
