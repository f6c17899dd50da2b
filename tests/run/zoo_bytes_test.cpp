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
  std::string digest;  // SHA-256 of the outputs' bytes, one after the other
  float scale = 1;     // of the random inputs
};

const std::vector<ZooModel>& zoo() {
  static const std::vector<ZooModel> models = {
      {"basic-pitch", "f60f655904645e4274bc9e9898670a29dc61f0576d6497729aeaf97af03b5833"},
      {"cifar10-resnet20", "67d281aed851b536f9cbba79916cc9edf9acb093c3342177207c3f992be4b11d"},
      {"dtln-1", "c96a50681a097ade13f5f84f8b825ca3836f202e8a89f65907a8008589721b2b"},
      {"hand-keypoint-mlp", "af5570f5a1810b7af78caf4bc70a660f0df51e42baf91d4de5b2328de0e83dfc"},
      {"imagenet-mobilenetv1-025-224", "a8fc7557a167faf4d1bce845cbb8bff6694dd55c19afd683f138079af38a546f"},
      {"kwt-1", "31bc1d59fec04b15ff3b0e9db4a30e3f0ced34277f49236618e28c2f5894b552"},
      {"magika-v3-3", "4d316f603b4042278a31359bb1f11c4df623872ea688c6c3ece9f3a09b03d16f"},
      {"mediapipe-selfie-seg", "1aae4160e45eb99fe902efc6465ab6d69666a84f951f856c27760585e1a8973c"},
      {"mlperf-ad-autoencoder", "e6d875fb436aee0cb578c84bc290fbf6068b772f1ca4ac6eb9d1f9d6b19907bf"},
      {"mlperf-ic-resnet8", "c201a15f34f41248b590d231e82da6182c33d89157048cf2ae514257f099198a", 128},
      {"mlperf-kws-dscnn", "4ac44b5aa154cbe82c404b64d42d7e67d557f0ef13139c14d716b47b68e5c6e8", 50},
      {"mlperf-vww-mobilenetv1", "1d7add21e9f44d9e569c57b586ac433f2bb20fae405c7b05269cf95c101dc2bc"},
      {"mnist-cntk", "f28b5732a2ba86896900d98ab00d975181ad68aa5c3a1f64345b699392ab10de", 128},
      {"silero-vad-16k", "1ae2863ffcf43149c9e81cd2a07c3e8298894191f9e966c40db3d2b8dbab9595"},
      {"ultraface-slim-320", "1d0c8bf16032ff24e41e76a0f6cb757d7e3f262c2072e2f5a19c84c458244d85"},
      {"yolox-nano-416", "e592d3e1d2cc58ff6dfc556e096383b6d67f5a1424e4970f43de6372ad88c651", 128},
      {"yunet-n-320", "33b478aeb2bad02ea03091e5902930f8c8a8b9b6bc24a21c3da45bf46307a714", 128},
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
