// SPDX-License-Identifier: Apache-2.0
// Weights that are read again where they are needed, as the page has them of large models: the same file as of weights
// in memory. Every reading gives bytes of their own, so that what is held too long shows under AddressSanitizer.
#include <memory>

#include "core/job/tersor.h"
#include "core/onnx/defer.h"
#include "core/samples/sample_digest.h"
#include "core/tpc/builtin.h"
#include "tests/catch.h"
#include "tests/support/named_model.h"
#include "tests/support/run_sweep.h"
#include "tests/support/shared.h"

using namespace tersor;

namespace {

OpenedModel opened(const std::vector<std::byte>& bytes, bool deferred) {
  const onnx::Source source = onnx::Source::of(bytes);
  OpenedModel result = open_model(source);
  if (deferred)
    onnx::defer_tensors(
        result.model, source.bytes,
        [bytes](uint64_t offset, uint64_t length) {
          const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(offset);
          return onnx::Source::of({begin, begin + static_cast<std::ptrdiff_t>(length)});
        },
        64);
  return result;
}

std::vector<std::byte> quantized(const std::vector<std::byte>& bytes, bool deferred) {
  const auto job = prepare(std::make_shared<const OpenedModel>(opened(bytes, deferred)),
                           {tpc::get_target_platform_capabilities(tpc::kDefaultPlatform), {}});
  const auto sample = [&](size_t k) { return test::random_inputs(job->opened->model, static_cast<uint32_t>(k + 1)); };
  calibrate::Calibrator calibrator = calibrator_of(*job, 4);
  for (size_t k = 0; k < 4; ++k) calibrator.add({k, samples::sample_digest(sample(k))}, "", sample(k));
  calibrate::Statistics statistics = calibrator.statistics();
  test::run_sweep(*job, statistics, sample);
  return quantize(*job, statistics).bytes;
}

}  // namespace

TEST_CASE("weights that are read again give the same file") {
  const char* model = GENERATE("zoo/mlperf-ic-resnet8/model.onnx", "zoo/mlperf-vww-mobilenetv1/model.onnx",
                               "zoo/kwt-1/model.onnx", "zoo/dtln-1/model.onnx", "zoo/mediapipe-selfie-seg/model.onnx");
  const auto file = test::shared_file(model);
  if (!file) return;
  const std::vector<std::byte> bytes = test::read_file(*file);
  REQUIRE(quantized(bytes, true) == quantized(bytes, false));
}
