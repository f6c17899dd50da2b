// SPDX-License-Identifier: Apache-2.0
// The line on a small model with random samples, for the tests of corrections.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "core/correct/equalize_channels.h"
#include "core/job/tersor.h"
#include "core/onnx/write.h"
#include "core/samples/sample_digest.h"
#include "core/simulate/program.h"
#include "core/tpc/builtin.h"
#include "tests/support/named_model.h"
#include "tests/support/rewrites.h"

namespace tersor::test {

/// Nodes of that type.
inline int64_t count(const Model& model, const char* type) {
  const auto& nodes = model.graph.nodes();
  return std::count_if(nodes.begin(), nodes.end(), [&](const Node& node) { return node.is(type); });
}

/// Without what needs a second pass over the samples or rescales channels.
inline config::QuantizationConfig plain_config() {
  config::QuantizationConfig config;
  config.weights_bias_correction_method = config::BiasCorrectionMethod::kAnalytic;
  config.activation_channel_equalization = false;
  config.split_scales = config.activation_smoothing = false;
  return config;
}

inline std::shared_ptr<const Job> job_of(const Model& model, const char* platform,
                                         const config::QuantizationConfig& config) {
  const std::vector<std::byte> bytes = onnx::write(model);
  return prepare(std::make_shared<const OpenedModel>(open_model(onnx::Source::of(bytes))),
                 {tpc::get_target_platform_capabilities(platform), config});
}

/// Random numbers within -loudness and loudness.
inline std::vector<Tensor> sample(const Job& job, uint64_t k, float loudness = 1) {
  std::vector<Tensor> inputs = random_inputs(job.model, static_cast<uint32_t>(k + 1));
  for (Tensor& tensor : inputs)
    for (float& x : tensor.mutable_data<float>()) x *= loudness;
  return inputs;
}

inline calibrate::Statistics statistics_of(const Job& job, uint64_t samples = 40, float loudness = 1) {
  calibrate::Calibrator calibrator = calibrator_of(job, samples);
  for (uint64_t k = 0; k < samples; ++k)
    calibrator.add({k, samples::sample_digest(sample(job, k, loudness))}, "", sample(job, k, loudness));
  return calibrator.statistics();
}

/// What equalization does, by region.
inline std::vector<ptq::EqualizedRegion> equalized_regions(const Job& job, const calibrate::Statistics& statistics) {
  Job without = job;
  without.settings.config.activation_channel_equalization = false;
  Draft decided = draft(without, statistics);
  return ptq::equalize_regions(decided);
}

/// SQNR in dB of the quantized model's first output in the runtime's arithmetic, on samples of its own.
inline double sqnr(const Job& job, const Model& quantized, float loudness = 1) {
  run::Runner exact(run::Program::compile(job.opened->model, ops::standard()));
  run::Runner simulated(simulate::compile(quantized, simulate::Profile::kX64));
  double signal = 0, noise = 0;
  for (uint64_t k = 1000; k < 1010; ++k) {
    const auto inputs = sample(job, k, loudness);
    const Tensor a = exact.run(inputs)[0], b = simulated.run(inputs)[0];
    for (size_t i = 0; i < a.data<float>().size(); ++i) {
      signal += std::pow(a.data<float>()[i], 2);
      noise += std::pow(a.data<float>()[i] - b.data<float>()[i], 2);
    }
  }
  return 10 * std::log10(signal / noise);
}

/// The same of the file that the line makes of the model.
inline double sqnr_of(const Model& model, const char* platform, const config::QuantizationConfig& config,
                      float loudness = 1) {
  const auto job = job_of(model, platform, config);
  return sqnr(*job, quantize(*job, statistics_of(*job, 40, loudness)).model, loudness);
}

}  // namespace tersor::test
