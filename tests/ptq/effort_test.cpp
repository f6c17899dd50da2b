// SPDX-License-Identifier: Apache-2.0
// effort 1 and 2: Gram matrices of the kernels' inputs, and weights rounded by them.
#include <cmath>
#include <memory>

#include "core/onnx/write.h"
#include "core/ptq/round_weights.h"
#include "core/quant/quantizer.h"
#include "core/samples/sample_digest.h"
#include "core/tersor.h"
#include "core/tpc/builtin.h"
#include "tests/catch.h"
#include "tests/support/named_model.h"

using namespace tersor;
using test::NamedModel;
using Ints = std::vector<int64_t>;

namespace {

constexpr uint64_t kSamples = 24;

std::shared_ptr<const Job> job_of(const Model& model, int effort, bool corrects = true) {
  const std::vector<std::byte> bytes = onnx::write(model);
  config::QuantizationConfig config;
  config.effort = effort;
  config.weights_bias_correction = corrects;
  config.weights_per_channel_threshold = false;  // rough weights, where rounding matters
  return prepare(std::make_shared<const OpenedModel>(open_model(onnx::Source::of(bytes))),
                 {tpc::get_target_platform_capabilities(tpc::kDefaultPlatform), config});
}

/// Neighbouring columns of a smooth input rise and fall together.
std::vector<Tensor> sample(const Job& job, uint64_t k) {
  std::vector<Tensor> inputs = test::random_inputs(job.model, static_cast<uint32_t>(k + 1));
  float last = 0;
  for (float& x : inputs[0].mutable_data<float>()) x = last = 0.9f * last + 0.3f * x;
  return inputs;
}

calibrate::Statistics statistics_of(const Job& job, uint64_t samples = kSamples) {
  calibrate::Calibrator calibrator = calibrator_of(job, samples);
  for (uint64_t k = 0; k < samples; ++k)
    calibrator.add({k, samples::sample_digest(sample(job, k))}, "", sample(job, k));
  return calibrator.statistics();
}

void measure(const Job& job, calibrate::Statistics& statistics) {
  const Draft decided = draft(job, statistics);
  const auto sweep = bias_sweep(job, decided);
  if (!sweep) return;
  std::vector<ptq::SweepState> states;
  for (uint64_t k = 0; k < statistics.samples.size(); ++k) states.push_back(sweep->start(sample(job, k)));
  calibrate::MeasuredShifts measured{decided.digest, {}};
  std::vector<double> shifts;
  for (size_t step = 0; step < sweep->steps(); ++step) {
    run::Runner runner(sweep->program(step));
    ptq::ChannelSums sums;
    for (ptq::SweepState& state : states) sweep->advance(step, runner, state, shifts, sums);
    shifts = sweep->shifts(step, sums);
    measured.outputs.push_back({sweep->output(step), shifts});
  }
  statistics.measured = measured;
}

/// The Gram matrices of all samples, seen by `parts` counters that take turns.
ptq::GramSums sums_of(const Job& job, const ptq::GramPass& pass, size_t parts) {
  std::vector<ptq::GramCounter> counters;
  for (size_t k = 0; k < parts; ++k) counters.emplace_back(pass);
  for (uint64_t k = 0; k < kSamples; ++k) counters[k * 7 % parts].add(k, sample(job, k));
  ptq::GramSums sums = pass.empty();
  for (size_t k = parts; k-- > 0;) sums.add(counters[k].sums());
  return sums;
}

calibrate::Statistics rounded_statistics(const Job& job, size_t parts = 1) {
  calibrate::Statistics statistics = statistics_of(job);
  measure(job, statistics);
  const Draft decided = draft(job, statistics);
  const auto pass = gram_pass(job, decided);
  REQUIRE(pass);
  statistics.rounded = round_weights(job, decided, *pass, sums_of(job, *pass, parts));
  measure(job, statistics);
  return statistics;
}

double sqnr(const Job& job, const Model& quantized) {
  run::Runner exact(run::Program::compile(job.opened->model, ops::standard()));
  run::Runner rounded(run::Program::compile(quantized, ops::standard()));
  double signal = 0, noise = 0;
  for (uint64_t k = 1000; k < 1010; ++k) {
    const Tensor a = exact.run(sample(job, k))[0], b = rounded.run(sample(job, k))[0];
    for (size_t i = 0; i < a.data<float>().size(); ++i) {
      signal += std::pow(a.data<float>()[i], 2);
      noise += std::pow(a.data<float>()[i] - b.data<float>()[i], 2);
    }
  }
  return 10 * std::log10(signal / noise);
}

/// A strided Conv with padding, a depthwise one and a Gemm.
Model net() {
  NamedModel model;
  const Ints pads{1, 1, 1, 1};
  model.input("x", {1, 2, 12, 12}).weight("w1", {8, 2, 3, 3}).weight("b1", {8}).weight("w2", {8, 1, 3, 3});
  model.node("Conv", {"x", "w1", "b1"}, {"c1"}, {{"pads", pads}, {"strides", Ints{2, 2}}}).node("Relu", {"c1"}, {"r1"});
  model.node("Conv", {"r1", "w2"}, {"c2"}, {{"pads", pads}, {"group", int64_t{8}}}).node("Relu", {"c2"}, {"r2"});
  model.node("Flatten", {"r2"}, {"f"}).weight("w3", {288, 5}).weight("b3", {5});
  model.node("Gemm", {"f", "w3", "b3"}, {"y"}).output("y");
  // Quiet channels beside a loud one: a step that all share is wide for them.
  for (const char* name : {"w1", "b1", "w2"}) model.scale_along(name, 0, 0.5);
  model.scale_along("w3", 1, 0.3);
  return model.build();
}

}  // namespace

TEST_CASE("Gram matrices are those of the quantized inputs") {
  const auto job = job_of(net(), 1);
  calibrate::Statistics statistics = statistics_of(*job);
  measure(*job, statistics);
  const Draft decided = draft(*job, statistics);
  const auto pass = gram_pass(*job, decided);
  REQUIRE(pass->kernels().size() == 3);
  const ptq::GramSums sums = sums_of(*job, *pass, 1);
  // The first Conv by hand: its input is the quantized sample.
  const ptq::GramKernel& conv = pass->kernels()[0];
  const auto& params = decided.plan.find(job->model.graph.inputs[0])->params;
  std::vector<int64_t> expected[2] = {std::vector<int64_t>(18 * 18), std::vector<int64_t>(18 * 18)};
  for (uint64_t k = 0; k < kSamples; ++k) {
    const Tensor codes = quant::quantize(sample(*job, k)[0], params);
    const auto q = codes.data<uint8_t>();
    for (int64_t p = 0; p < 36; ++p) {
      int64_t row[18] = {};
      for (int64_t column = 0; column < 18; ++column) {
        const int64_t y = p / 6 * 2 - 1 + column % 9 / 3, x = p % 6 * 2 - 1 + column % 3;
        if (y >= 0 && y < 12 && x >= 0 && x < 12)
          row[column] = q[static_cast<size_t>(column / 9 * 144 + y * 12 + x)] - params.zero_point[0];
      }
      for (int64_t i = 0; i < 18; ++i)
        for (int64_t j = 0; j <= i; ++j) expected[k % 2][static_cast<size_t>(i * 18 + j)] += row[i] * row[j];
    }
  }
  for (int half = 0; half < 2; ++half) {
    const ptq::GramView view = pass->view(sums, half, conv, 0);
    REQUIRE(view.rows == 36 * kSamples / 2);
    for (size_t i = 0, at = 0; i < 18; ++i)
      for (size_t j = 0; j <= i; ++j, ++at) REQUIRE(view.products[at] == expected[half][i * 18 + j]);
  }
  REQUIRE(pass->kernels()[1].blocks.size() == 8);
  REQUIRE(pass->kernels()[2].columns() == 288);
}

TEST_CASE("rounding by what inputs have in common makes less noise, and more effort no more") {
  const auto plain = job_of(net(), 0);
  calibrate::Statistics statistics = statistics_of(*plain);
  measure(*plain, statistics);
  const double nearest = sqnr(*plain, quantize(*plain, statistics).model);
  for (const int effort : {1, 2}) {
    const auto job = job_of(net(), effort);
    const calibrate::Statistics own = rounded_statistics(*job);
    REQUIRE_FALSE(own.rounded.weights.empty());
    for (const calibrate::RoundedWeight& weight : own.rounded.weights) REQUIRE(weight.noise_ratio < 0.98);
    REQUIRE(sqnr(*job, quantize(*job, own).model) > nearest + 1.5);
  }
}

TEST_CASE("without bias correction the inputs' mean counts too") {
  const auto plain = job_of(net(), 0, false), job = job_of(net(), 1, false);
  const double nearest = sqnr(*plain, quantize(*plain, statistics_of(*plain)).model);
  REQUIRE(sqnr(*job, quantize(*job, rounded_statistics(*job)).model) > nearest + 1.5);
}

TEST_CASE("rounded weights do not depend on who saw which sample, and survive the file") {
  for (const int effort : {1, 2}) {
    const auto job = job_of(net(), effort);
    const calibrate::Statistics once = rounded_statistics(*job);
    REQUIRE(rounded_statistics(*job, 5) == once);
    const calibrate::Statistics read = calibrate::read(calibrate::write(once));
    REQUIRE(read == once);
    REQUIRE(gram_pass(*job, draft(*job, read)) == nullptr);
    REQUIRE(bias_sweep(*job, draft(*job, read)) == nullptr);
    REQUIRE(quantize(*job, read).bytes == quantize(*job, once).bytes);
  }
}

TEST_CASE("effort needs the samples, measured biases, and rounding of its own plan, and says so") {
  const auto job = job_of(net(), 1);
  calibrate::Statistics statistics = statistics_of(*job);
  measure(*job, statistics);
  REQUIRE_THROWS_WITH(quantize(*job, statistics), Catch::Matchers::Contains("effort"));
  REQUIRE_THROWS_WITH(quantize(*job_of(net(), 2), rounded_statistics(*job)), Catch::Matchers::Contains("effort"));
  config::QuantizationConfig config;
  config.effort = 1;
  config.weights_bias_correction_method = config::BiasCorrectionMethod::kAnalytic;
  const Settings settings{tpc::get_target_platform_capabilities(tpc::kDefaultPlatform), config};
  REQUIRE_THROWS_WITH(prepare(job->opened, settings), Catch::Matchers::Contains("MEASURED"));
}

TEST_CASE("one sample is no ground to round by") {
  const auto job = job_of(net(), 2);
  calibrate::Statistics statistics = statistics_of(*job, 1);
  measure(*job, statistics);
  const Draft decided = draft(*job, statistics);
  const auto pass = gram_pass(*job, decided);
  ptq::GramCounter counter(*pass);
  counter.add(0, sample(*job, 0));
  statistics.rounded = round_weights(*job, decided, *pass, counter.sums());
  REQUIRE(statistics.rounded.weights.empty());
  measure(*job, statistics);
  REQUIRE_NOTHROW(quantize(*job, statistics));
}
