// SPDX-License-Identifier: Apache-2.0
// Measured bias correction: which samples it compares, and what it compares after a clamp.
#include "core/sweep/sweep_runner.h"

#include "tests/catch.h"
#include "tests/support/corrected.h"
#include "tests/support/run_sweep.h"

namespace sweep_test {
using namespace tersor;
using test::NamedModel;
using Ints = std::vector<int64_t>;

namespace {

constexpr uint64_t kSamples = 12;

/// Conv, Relu or another, Conv; the first Conv's channels lie below 0 but for a part that differs.
Model model_of(float bias, const char* type = "Relu") {
  NamedModel model(3);
  model.input("x", {1, 4, 12, 12}).weight("w1", {6, 4, 3, 3}).weight("b1", {6}, bias - 1, bias);
  model.weight("w2", {3, 6, 3, 3});
  model.node("Conv", {"x", "w1", "b1"}, {"c"}, {{"pads", Ints{1, 1, 1, 1}}}).node(type, {"c"}, {"r"});
  return model.node("Conv", {"r", "w2"}, {"y"}).output("y").build();
}

/// Positive, each sample louder than the one before.
std::vector<Tensor> louder(const Job& job, uint64_t k) {
  std::vector<Tensor> inputs = test::sample(job, k);
  for (float& x : inputs[0].mutable_data<float>()) x = std::fabs(x) * static_cast<float>(k + 1);
  return inputs;
}

struct Made {
  std::shared_ptr<const Job> job;
  calibrate::Statistics statistics;
  Draft decided;

  explicit Made(const Model& model) : job(test::job_of(model, "ort-cpu", test::plain_config())) {
    calibrate::Calibrator calibrator = calibrator_of(*job, kSamples);
    for (uint64_t k = 0; k < kSamples; ++k)
      calibrator.add({k, samples::sample_digest(louder(*job, k))}, "", louder(*job, k));
    statistics = calibrator.statistics();
    decided = draft(*job, statistics);
  }
};

/// The shifts of each step.
std::vector<std::vector<double>> swept(const Made& made, int64_t memory, size_t taking_part) {
  ptq::SweepOptions options;
  options.memory = memory;
  ptq::Sweep sweep(made.decided.model, made.decided.plan, made.decided.statistics, options);
  REQUIRE(sweep.places().size() == taking_part);
  ptq::SweepStart start(sweep, sweep.float_program());
  std::vector<ptq::SweepState> states;
  for (const size_t place : sweep.places()) states.push_back(start(louder(*made.job, place)));
  std::vector<std::vector<double>> shifts;
  for (size_t step = 0; step < sweep.steps(); ++step) {
    ptq::SweepRunner runner(sweep, step, sweep.program(step));
    for (size_t k = 0; k < states.size(); ++k) runner.advance(k, states[k]);
    const ptq::SweepOutcome outcome = sweep.outcome(step, runner.sums());
    shifts.push_back(outcome.shifts);
    sweep.take(step, outcome);
  }
  return shifts;
}

double largest(const std::vector<double>& numbers) {
  double most = 0;
  for (const double x : numbers) most = std::max(most, std::fabs(x));
  return most;
}

}  // namespace

TEST_CASE("with some of the samples left out the means of the float model are those of the rest") {
  const Made made(model_of(1));
  const auto all = swept(made, int64_t{1} << 30, kSamples), first = swept(made, 1, 1);
  REQUIRE(all.size() == 2);
  REQUIRE(first.size() == 2);
  // The means of one sample are several times those of another; rounding moves them by little.
  for (size_t step = 0; step < 2; ++step) REQUIRE(largest(first[step]) < 8 * largest(all[step]) + 0.05);
}

TEST_CASE("after a function its own means are compared, and channels that it forgets are left") {
  for (const char* type : {"Relu", "HardSwish", "Softplus"}) {
    INFO(type);
    const Made open(model_of(1, type)), shut(model_of(-500, type));
    REQUIRE(largest(swept(open, int64_t{1} << 30, kSamples)[0]) > 0);
    REQUIRE(largest(swept(shut, int64_t{1} << 30, kSamples)[0]) == 0);
  }
}

TEST_CASE("kernels with the very same weight have one in the file, rounded once") {
  NamedModel model(5);
  model.input("x", {6, 32}).weight("w", {32, 32});
  std::string value = "x";
  for (int step = 0; step < 4; ++step) {
    const std::string next = "h" + std::to_string(step);
    model.node("MatMul", {value, "w"}, {next + "m"}).node("Tanh", {next + "m"}, {next});
    value = next;
  }
  const Model built = model.output(value).build();
  for (const int effort : {0, 1}) {
    INFO(effort);
    config::QuantizationConfig config = test::plain_config();
    config.effort = effort;
    config.weights_bias_correction_method = config::BiasCorrectionMethod::kMeasured;
    const auto job = test::job_of(built, "ort-cpu", config);
    calibrate::Statistics statistics = test::statistics_of(*job);
    test::run_sweep(*job, statistics, [&](uint64_t k) { return test::sample(*job, k); });
    const Model made = quantize(*job, statistics).model;
    int weights = 0;
    for (const auto& [id, tensor] : made.graph.initializers()) weights += tensor.elements() == 32 * 32 ? 1 : 0;
    REQUIRE(weights == 1);
    REQUIRE(test::sqnr(*job, made) > 25);
  }
}

TEST_CASE("where memory is small a sweep holds integers of its samples, computes outputs again, and finds the same") {
  NamedModel model(7);
  model.input("x", {1, 8, 16, 16});
  std::string value = "x";
  for (int k = 0; k < 4; ++k) {
    const std::string at = std::to_string(k);
    model.weight("w" + at, {8, 8, 3, 3}).weight("b" + at, {8});
    model.node("Conv", {value, "w" + at, "b" + at}, {"c" + at}, {{"pads", Ints{1, 1, 1, 1}}});
    value = "r" + at;
    model.node("Relu", {"c" + at}, {value});
  }
  const Model built = model.output(value).build();
  const auto job = test::job_of(built, "ort-cpu", test::plain_config());
  const calibrate::Statistics statistics = test::statistics_of(*job);
  const Draft decided = draft(*job, statistics);
  constexpr size_t kElements = 8 * 16 * 16;
  const size_t samples = statistics.samples.size();
  const auto swept_with = [&](int64_t memory, std::vector<ptq::SweepOutcome>& outcomes) {
    ptq::SweepOptions options;
    options.effort = 1;
    options.memory = memory;
    ptq::Sweep sweep(decided.model, decided.plan, decided.statistics, options);
    REQUIRE(sweep.steps() == 8);
    REQUIRE(sweep.places().size() == samples);
    ptq::SweepStart start(sweep, sweep.float_program());
    std::vector<ptq::SweepState> states;
    for (size_t k = 0; k < samples; ++k) states.push_back(start(test::sample(*job, k)));
    size_t most = 0;  // bytes of the first sample's state
    for (size_t step = 0; step < sweep.steps(); ++step) {
      ptq::SweepRunner runner(sweep, step, sweep.program(step));
      for (size_t k = 0; k < samples; ++k) runner.advance(k, states[k]);
      outcomes.push_back(sweep.outcome(step, runner.sums()));
      sweep.take(step, outcomes.back());
      size_t bytes = 0;
      for (const auto& [id, laid] : states[0].values) bytes += laid.tensor.bytes().size();
      most = std::max(most, bytes);
    }
    return most;
  };
  std::vector<ptq::SweepOutcome> small, large;
  REQUIRE(swept_with(static_cast<int64_t>(6 * kElements * samples), small) <= 2 * kElements);
  REQUIRE(swept_with(int64_t{1} << 29, large) > 2 * kElements);
  for (size_t step = 0; step < small.size(); ++step) {
    INFO(step);
    REQUIRE(small[step].shifts == large[step].shifts);
    REQUIRE(small[step].weight.has_value() == large[step].weight.has_value());
    if (small[step].weight) REQUIRE(small[step].weight->codes == large[step].weight->codes);
  }
}

}  // namespace sweep_test
