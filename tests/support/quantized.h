// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "core/job/tersor.h"
#include "core/onnx/read.h"
#include "core/onnx/write.h"
#include "core/samples/sample_digest.h"
#include "tests/support/named_model.h"

namespace tersor::test {

/// What a model becomes, and its file as it is read again.
struct Quantized {
  std::shared_ptr<const Job> job;
  QuantizeResult result;
  Model file;
};

/// The whole line but for the sweep, with that many random samples.
inline Quantized quantize_on_noise(const Model& model, Settings settings, uint64_t samples) {
  const std::vector<std::byte> bytes = onnx::write(model);
  Quantized made;
  made.job = prepare(std::make_shared<const OpenedModel>(open_model(onnx::Source::of(bytes))), std::move(settings));
  calibrate::Calibrator calibrator = calibrator_of(*made.job, samples);
  for (uint64_t k = 0; k < samples; ++k) {
    const std::vector<Tensor> inputs = random_inputs(made.job->model, static_cast<uint32_t>(k + 1));
    calibrator.add({k, samples::sample_digest(inputs)}, "sample", inputs);
  }
  made.result = quantize(*made.job, calibrator.statistics());
  made.file = onnx::read(onnx::Source::of(made.result.bytes));
  return made;
}

}  // namespace tersor::test
