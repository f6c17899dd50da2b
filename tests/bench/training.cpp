// SPDX-License-Identifier: Apache-2.0
// bench_training MODEL [BITS]: time of a training step for each sample, one thread, over that of our own float
// inference of the same samples. Random samples; weights of BITS bits (4) on the platform any.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iterator>
#include <random>
#include <utility>
#include <vector>

#include "core/job/tersor.h"
#include "core/run/program.h"
#include "core/samples/sample_digest.h"
#include "core/tpc/builtin.h"

using namespace tersor;

namespace {

constexpr size_t kSamples = 36;  // 28 of them are trained on
constexpr int64_t kSteps = 12;

/// Of the process, for others may run beside it.
double now() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

template <class Body>
double seconds_of(Body body) {
  const double begin = now();
  body();
  return now() - begin;
}

/// Uniform in -1 to 1; free dimensions are 1.
std::vector<Tensor> random_inputs(const Graph& graph, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<Tensor> inputs;
  for (const ValueId input : graph.inputs) {
    std::vector<int64_t> dims;
    for (const Dim& dim : *graph.value(input).shape) dims.push_back(dim.value < 1 ? 1 : dim.value);
    std::vector<float> values(static_cast<size_t>(Shape(dims).elements()));
    for (float& value : values) value = static_cast<float>(random() % 20001) / 10000.0f - 1;
    inputs.push_back(Tensor::of<float>(Shape(dims), values));
  }
  return inputs;
}

int measure(const char* path, int bits) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> letters((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const auto* first = reinterpret_cast<const std::byte*>(letters.data());
  const std::vector<std::byte> bytes(first, first + letters.size());
  config::QuantizationConfig config;
  config.weights_n_bits = bits;
  config.weights_bias_correction_method = config::BiasCorrectionMethod::kAnalytic;
  config.holdout = false;
  config.gradient_ptq_config.emplace();
  config.gradient_ptq_config->n_epochs = 40;
  const auto job = prepare(std::make_shared<const OpenedModel>(open_model(onnx::Source::of(bytes))),
                           {tpc::get_target_platform_capabilities("any"), config});
  std::vector<std::vector<Tensor>> samples;
  calibrate::Calibrator calibrator = calibrator_of(*job, kSamples);
  for (size_t k = 0; k < kSamples; ++k) {
    samples.push_back(random_inputs(job->model.graph, static_cast<uint32_t>(k + 1)));
    calibrator.add({k, samples::sample_digest(samples.back())}, "", samples.back());
  }
  const calibrate::Statistics statistics = calibrator.statistics();
  const Draft decided = draft(*job, statistics);
  const auto tuner = tuner_of(*job, decided, statistics);
  tune::TuneRunner runner(*tuner);
  const auto round = [&] {
    for (const tune::Lane& lane : tuner->lanes()) runner.run(lane, [&](size_t place) { return samples[place]; });
    tuner->take(runner.sums());
  };
  run::Runner inference(run::Program::compile(job->opened->model, ops::standard()));
  const auto infer = [&] {
    for (const auto& sample : samples) inference.run(sample);
  };
  while (tuner->progress().step < 2) round();
  infer();
  // The least of some, which work beside raises least: steps of the two halves of training, and inference.
  const auto in_turns = [&] {
    double step = 1e9, in_float = 1e9;
    for (int64_t time = 0; time < kSteps; ++time) {
      const int64_t before = tuner->progress().step;
      const double seconds = seconds_of(round);
      const double in_step = static_cast<double>(kSamples - 8) / static_cast<double>(tuner->steps_per_epoch());
      if (tuner->progress().step > before) step = std::min(step, seconds / in_step);  // else it was judged
      in_float = std::min(in_float, seconds_of(infer) / static_cast<double>(kSamples));
    }
    return std::pair(step, in_float);
  };
  const auto [scales, in_float] = in_turns();
  while (tuner->progress().step * 2 < tuner->progress().steps) round();
  const auto [roundings, again] = in_turns();
  const double least = std::min(in_float, again);
  std::printf(
      "%s: a sample takes %.2f ms in float, %.2f ms in a step of the first half of training (%.2f times) and %.2f ms "
      "in "
      "one of the second (%.2f times), in the mean %.2f times; %.0f MB\n",
      path, 1e3 * least, 1e3 * scales, scales / least, 1e3 * roundings, roundings / least,
      (scales + roundings) / 2 / least, static_cast<double>(tuner->bytes_per_runner()) / 1e6);
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) {
    std::fprintf(stderr, "bench_training MODEL [BITS]\n");
    return 2;
  }
  try {
    return measure(arguments[1], count > 2 ? std::atoi(arguments[2]) : 4);
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.message.c_str());
    return 1;
  }
}
