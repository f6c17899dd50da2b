// SPDX-License-Identifier: Apache-2.0
// weights_second_moment_correction: deviations of output channels as the float model has them, by scales and biases.
#include "tests/catch.h"

#include "core/correct/keep_deviations.h"
#include "core/report/corrections.h"
#include "core/sweep/sweep_runner.h"
#include "tests/support/corrected.h"
#include "tests/support/run_sweep.h"

namespace second_moment_test {
using namespace tersor;
using test::NamedModel;
using Ints = std::vector<int64_t>;

namespace {

/// Convolutions after each other whose weights have a few large values each: of 4 bits the rest is coarse, or clipped.
Model deep(int layers = 6, bool bias = true) {
  NamedModel model;
  model.input("x", {1, 12, 6, 6});
  std::string at = "x";
  for (int k = 0; k < layers; ++k) {
    const std::string n = std::to_string(k);
    model.weight("w" + n, {12, 12, 3, 3}, -0.2f, 0.25f);
    if (bias) model.weight("b" + n, {12}, -0.2f, 0.2f);
    model.node("Conv", bias ? std::vector<std::string>{at, "w" + n, "b" + n} : std::vector<std::string>{at, "w" + n},
               {"c" + n}, {{"pads", Ints{1, 1, 1, 1}}});
    at = "c" + n;
    if (k + 1 < layers) model.node("Relu", {at}, {"r" + n}), at = "r" + n;
  }
  Model built = model.output(at).build();
  for (const Node& node : built.graph.nodes()) {
    if (!node.is("Conv")) continue;
    const Tensor& weight = *built.graph.initializer(node.inputs[1]);
    std::vector<float> w(weight.data<float>().begin(), weight.data<float>().end());
    for (size_t i = 0; i < w.size(); i += 37) w[i] *= 3;
    built.graph.set_initializer(node.inputs[1], Tensor::of<float>(weight.shape(), w));
  }
  return built;
}

config::QuantizationConfig four_bits(bool keeps) {
  config::QuantizationConfig config = test::plain_config();
  config.weights_bias_correction_method = config::BiasCorrectionMethod::kMeasured;
  config.weights_n_bits = 4;
  config.weights_threshold_method = quant::ThresholdSelectionMethod::kMse;
  config.weights_second_moment_correction = keeps;
  config.effort = 0;
  return config;
}

/// The statistics with what the sweep measures, its samples in `parts` parts that take turns.
calibrate::Statistics measured(const Job& job, calibrate::Statistics statistics, size_t parts = 1) {
  test::run_sweep(
      job, statistics, [&](size_t k) { return test::sample(job, k); }, parts);
  return statistics;
}

QuantizeResult quantized(const Job& job) {
  return quantize(job, measured(job, test::statistics_of(job)));
}

double sqnr(const Job& job, const Model& made) {
  run::Runner exact(run::Program::compile(job.opened->model, ops::standard()));
  run::Runner simulated(simulate::compile(made, simulate::Profile::kX64));
  double signal = 0, noise = 0;
  for (uint64_t k = 1000; k < 1010; ++k) {
    const Tensor a = exact.run(test::sample(job, k))[0], b = simulated.run(test::sample(job, k))[0];
    for (size_t i = 0; i < a.data<float>().size(); ++i) {
      signal += std::pow(a.data<float>()[i], 2);
      noise += std::pow(a.data<float>()[i] - b.data<float>()[i], 2);
    }
  }
  return 10 * std::log10(signal / noise);
}

std::vector<report::Correction> corrections(const Job& job, const QuantizeResult& result) {
  return report::corrections_of(job.passes, result.draft.rewrites, result.plan);
}

const report::Correction* find(const std::vector<report::Correction>& list) {
  for (const report::Correction& one : list)
    if (one.name == "weights_second_moment_correction") return &one;
  return nullptr;
}

constexpr const char* kTarget = "imx500";

}  // namespace

TEST_CASE("clipped weights of 4 bits lose less where deviations are put back") {
  const auto plain = test::job_of(deep(), kTarget, four_bits(false)),
             job = test::job_of(deep(), kTarget, four_bits(true));
  const QuantizeResult without = quantized(*plain), result = quantized(*job);
  const double before = sqnr(*plain, without.model), after = sqnr(*job, result.model);
  INFO(before << " dB without, " << after << " dB with it");
  REQUIRE(after > before + 1.5);
  REQUIRE(find(corrections(*plain, without)) == nullptr);
  REQUIRE(find(corrections(*job, result))->places == 6);
}

TEST_CASE("the integers of the weights stay, their scales and biases move") {
  const auto plain = test::job_of(deep(), kTarget, four_bits(false)),
             job = test::job_of(deep(), kTarget, four_bits(true));
  const QuantizeResult without = quantized(*plain), result = quantized(*job);
  REQUIRE(without.draft.digest != result.draft.digest);
  for (size_t k = 0; k < result.plan.kernels.size(); ++k) {
    const ptq::KernelPlan& kernel = result.plan.kernels[k];
    REQUIRE(kernel.keeps_deviation);
    REQUIRE(kernel.rounding() == without.plan.kernels[k].weight);
    REQUIRE(kernel.weight.scale != without.plan.kernels[k].weight.scale);
    REQUIRE(kernel.least_gain <= 1);
    REQUIRE(kernel.largest_gain > 1);
    const auto codes = [&](const Model& model) {
      for (const auto& [id, tensor] : model.graph.initializers())
        if (model.graph.name_of(id) == "w" + std::to_string(k) + "_quantized") return tensor;
      return Tensor();
    };
    REQUIRE(codes(result.model).elements() == 12 * 12 * 9);
    REQUIRE(codes(result.model).bytes().size() == codes(without.model).bytes().size());
    REQUIRE(std::equal(codes(result.model).bytes().begin(), codes(result.model).bytes().end(),
                       codes(without.model).bytes().begin()));
  }
}

TEST_CASE("after every kernel the deviations of the samples are the float model's") {
  const auto job = test::job_of(deep(3), kTarget, four_bits(true));
  calibrate::Statistics statistics = test::statistics_of(*job);
  statistics = measured(*job, statistics);
  QuantizeResult result = quantize(*job, statistics);
  // Measured again in the corrected graph there is nothing left to do, but for the rounding of biases and scales.
  for (ptq::KernelPlan& kernel : result.plan.kernels) {
    kernel.codes.clear();
    REQUIRE(kernel.keeps_deviation);
  }
  ptq::Sweep again(result.draft.model, result.plan, result.draft.statistics, {});
  ptq::SweepStart start(again, again.float_program());
  std::vector<ptq::SweepState> states;
  for (uint64_t k = 0; k < 40; ++k) states.push_back(start(test::sample(*job, k)));
  ptq::SweepOutcome none;
  for (size_t step = 0; step < again.steps(); ++step) {
    ptq::SweepRunner runner(again, step, again.program(step));
    for (size_t k = 0; k < states.size(); ++k) runner.advance(k, states[k]);
    const std::vector<double> found = again.outcome(step, runner.sums()).shifts;
    REQUIRE(found.size() == 24);
    for (size_t c = 12; c < 24; ++c) REQUIRE(std::fabs(found[c] - 1) < 2e-3);
    none.shifts.assign(24, 0.0);
    std::fill_n(none.shifts.begin() + 12, 12, 1.0);
    again.take(step, none);
  }
}

TEST_CASE("any parts of the samples measure the same, and a file of statistics keeps it") {
  const auto job = test::job_of(deep(2), kTarget, four_bits(true));
  calibrate::Statistics statistics = test::statistics_of(*job);
  const calibrate::Statistics once = measured(*job, statistics, 1);
  REQUIRE(once == measured(*job, statistics, 3));
  REQUIRE_THROWS_AS(quantize(*job, statistics, draft(*job, statistics)), Error);
  statistics = once;
  const calibrate::Statistics kept = calibrate::read(calibrate::write(statistics));
  REQUIRE(kept == statistics);
  REQUIRE(sweep(*job, draft(*job, kept)) == nullptr);
  REQUIRE(quantize(*job, kept).bytes == quantize(*job, statistics).bytes);
}

TEST_CASE("without bias correction the sweep goes over these kernels alone, and says what it needs") {
  for (const bool of_biases : {false, true}) {
    config::QuantizationConfig config = four_bits(true);
    config.weights_bias_correction = of_biases;
    const auto job = test::job_of(deep(2), kTarget, config);
    calibrate::Statistics statistics = test::statistics_of(*job);
    try {
      quantize(*job, statistics, draft(*job, statistics));
      FAIL("quantized without samples");
    } catch (const Error& error) {
      REQUIRE(error.place ==
              (of_biases ? "config.weights_bias_correction_method" : "config.weights_second_moment_correction"));
    }
    statistics = measured(*job, statistics);
    REQUIRE(find(corrections(*job, quantize(*job, statistics)))->places == 2);
    // What was measured for one does not do for the other.
    config.weights_bias_correction = !of_biases;
    const auto other = test::job_of(deep(2), kTarget, config);
    REQUIRE(sweep(*other, draft(*other, statistics)) != nullptr);
  }
}

TEST_CASE("weights in powers of two and weights of one scale are left alone, and the report says so") {
  for (const bool power : {true, false}) {
    config::QuantizationConfig config = test::plain_config();
    if (power)
      config.weights_quantization_method = quant::QuantizationMethod::kPowerOfTwo;
    else
      config.weights_per_channel_threshold = false;
    const auto plain = test::job_of(deep(2), "ort-cpu", config);
    config.weights_second_moment_correction = true;
    const auto job = test::job_of(deep(2), "ort-cpu", config);
    const QuantizeResult result = quantized(*job), without = quantized(*plain);
    REQUIRE(find(corrections(*job, result))->places == 0);
    REQUIRE(find(corrections(*job, result))->gained.find("Nothing was changed") == 0);
    for (const ptq::KernelPlan& kernel : result.plan.kernels) REQUIRE_FALSE(kernel.rounded_by);
    REQUIRE(result.draft.digest == without.draft.digest);
  }
}

TEST_CASE("a channel that hardly varies and one that its weights lost keep a gain that is finite") {
  const std::vector<ptq::ChannelMoments> in_float{{1, 2}, {3, 9}, {0, 1}, {0.5, 0.25 + 1e-9}};
  const std::vector<ptq::ChannelMoments> quantized{{1, 1.25}, {3, 9}, {0, 0}, {0.5, 0.25 + 4e-9}};
  const std::vector<ptq::ChannelMap> maps = ptq::keeping_maps(in_float, quantized);
  REQUIRE(std::fabs(maps[0].gain - 2) < 1e-4);
  REQUIRE(std::fabs(maps[0].shift + 1) < 1e-4);
  REQUIRE(maps[1].gain == 1);
  REQUIRE(maps[1].shift == 0);
  REQUIRE(std::isfinite(maps[2].gain));
  REQUIRE(std::fabs(maps[3].gain - 1) < 1e-3);
  REQUIRE(ptq::keeping_maps(std::vector<ptq::ChannelMoments>(2), std::vector<ptq::ChannelMoments>(2))[0].gain == 1);
}

}  // namespace second_moment_test
