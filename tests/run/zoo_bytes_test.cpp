// SPDX-License-Identifier: Apache-2.0
// The float outputs of every model of the zoo have one digest: with each SIMD target of the machine, forced one after
// another, in every native build, and in WebAssembly under Node.
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "core/base/digest.h"
#include "core/kernels/panels.h"
#include "core/onnx/read.h"
#include "core/run/program.h"
#include "tests/catch.h"
#include "tests/kernels/targets.h"
#include "tests/support/shared.h"

using namespace tersor;

namespace {

struct ZooModel {
  std::string id;
  std::string digest;  // SHA-256 of the outputs' bytes, one behind the other
  float scale = 1;     // of the random inputs
};

const std::vector<ZooModel>& zoo() {
  static const std::vector<ZooModel> models = {
      {"basic-pitch", "bb726b329800412d3c6a0216d827d07426df541146330384e052ff6ee2972c5f"},
      {"cifar10-resnet20", "67d281aed851b536f9cbba79916cc9edf9acb093c3342177207c3f992be4b11d"},
      {"dtln-1", "3ed32a52685efa7cf3e7795234e1d2fafbee6225519d66c8abde9b496e507eed"},
      {"hand-keypoint-mlp", "af5570f5a1810b7af78caf4bc70a660f0df51e42baf91d4de5b2328de0e83dfc"},
      {"imagenet-mobilenetv1-025-224", "0281d1e2899eacff86bfcf303efdca6518f199280171c5a18765650cde3ac4ad"},
      {"kwt-1", "92e05d71c6f79fdee3264e99f622d2e52e800df9b0409d4704ac5c243f5a1de9"},
      {"magika-v3-3", "b19af3cd896690daf1df0b5b343e0cd91b731d19328ad91a49a2ef23e8652f16"},
      {"mediapipe-selfie-seg", "41124694136be0433c5911f5cb8a1f4d03e9def996501d0458634df349b06612"},
      {"mlperf-ad-autoencoder", "e6d875fb436aee0cb578c84bc290fbf6068b772f1ca4ac6eb9d1f9d6b19907bf"},
      {"mlperf-ic-resnet8", "acef7bdcae7af27836f16629f79dd8fe16ea891132351736be55b50af4b4894f", 128},
      {"mlperf-kws-dscnn", "66c1bd56769e7c6a21d3e9ce5946e30dfdab82aa4df8823b29bf519c82de5c2c", 50},
      {"mlperf-vww-mobilenetv1", "1d7add21e9f44d9e569c57b586ac433f2bb20fae405c7b05269cf95c101dc2bc"},
      {"mnist-cntk", "f28b5732a2ba86896900d98ab00d975181ad68aa5c3a1f64345b699392ab10de", 128},
      {"silero-vad-16k", "7d1d4e416458ea384e363fff44e7b18b8de6b91915574ef26d656129b092da00"},
      {"ultraface-slim-320", "847232da12a2c62e73446b2270fb2f366318f24318bb6d8ad65fcd5f0e5473f0"},
      {"yolox-nano-416", "f5ae0a135743aa3f3ce4318789a9d028249881635a14b5fac7dc0d3c207205ab", 128},
      {"yunet-n-320", "f69c2f96e1c4a80ea28581a31f1c41c41a96cc3b04ed20a30bafc5b7ee52c475", 128},
  };
  return models;
}

/// Free dimensions are 1, but for the length that silero's recordings have.
Shape shape_of(const run::Port& port) {
  std::vector<int64_t> dims;
  for (const Dim& dim : *port.shape) dims.push_back(dim.fixed() ? dim.value : dim.symbol == "sequence" ? 576 : 1);
  return Shape(dims);
}

std::vector<Tensor> inputs_of(const run::Program& program, float scale) {
  std::mt19937 bits(20261);
  std::vector<Tensor> inputs;
  for (const run::Port& port : program.inputs()) {
    Tensor made = Tensor::make(port.dtype, shape_of(port));
    if (port.dtype == DType::kFloat32)
      for (float& x : made.mutable_data<float>()) x = scale * (static_cast<float>(bits() >> 8) / 8388608.0f - 1.0f);
    if (port.dtype == DType::kInt32)
      for (int32_t& x : made.mutable_data<int32_t>()) x = static_cast<int32_t>(bits() % 200);
    if (port.dtype == DType::kInt64)
      for (int64_t& x : made.mutable_data<int64_t>()) x = 16000;  // silero's sample rate
    inputs.push_back(std::move(made));
  }
  return inputs;
}

/// Compiled anew, as weights are packed for the target.
std::string digest_of(const Model& model, float scale) {
  const auto program = run::Program::compile(model, ops::standard());
  Sha256 sha;
  for (const Tensor& output : run::Runner(program).run(inputs_of(*program, scale))) sha.update(output.bytes());
  return sha.hex();
}

}  // namespace

TEST_CASE("float outputs of the zoo have one digest on every SIMD target and in every build") {
  for (const ZooModel& one : zoo()) {
    const auto path = test::shared_file("zoo/" + one.id + "/model.onnx");
    if (!path) return;
    const Model model = onnx::read(onnx::Source::of(test::read_file(*path)));
    INFO(one.id);
#if defined(__SANITIZE_ADDRESS__)
    CHECK(digest_of(model, one.scale) == one.digest);  // many times slower: with the machine's best target alone
#else
    test::on_every_target([&] { CHECK(digest_of(model, one.scale) == one.digest); });
#endif
  }
}

TEST_CASE("forcing a SIMD target changes the vectors that kernels use") {
  std::set<int64_t> widths;
  size_t most = 0;
  test::on_every_target([&] {
    widths.insert(kernels::vector_width());
    ++most;
  });
  if (most > 2) CHECK(widths.size() > 1);
}
