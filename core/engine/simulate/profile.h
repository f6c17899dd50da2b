// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "core/base/names.h"

namespace tersor::simulate {

/// Whose integer arithmetic is reproduced. The profiles differ in a handful of kernels: element-wise addition and
/// multiplication, the polynomials of sigmoid and tanh, linear resizing, and 16-bit saturation on x64 without VNNI. A
/// .tflite file computes as TensorFlow Lite Micro does, whatever the profile.
enum class Profile {
  kX64,          // ONNX Runtime's native x64 build on a CPU with AVX2 or better and VNNI
  kWasm,         // onnxruntime-web
  kArm64,        // the native ARM64 build
  kAvx2,         // as kX64 on a CPU without VNNI: pair sums of u8 x s8 products saturate at 16 bits
  kTfliteMicro,  // TensorFlow Lite Micro, of the .tflite file that the model becomes
};

/// Whether its float polynomials round a product and the sum after it once.
constexpr bool fuses(Profile profile) {
  return profile != Profile::kWasm;
}

}  // namespace tersor::simulate

template <>
struct tersor::EnumWords<tersor::simulate::Profile> {
  static constexpr const char* kind = "runtime";
  static constexpr std::pair<simulate::Profile, std::string_view> words[] = {
      {simulate::Profile::kX64, "x64"},
      {simulate::Profile::kWasm, "wasm"},
      {simulate::Profile::kArm64, "arm64"},
      {simulate::Profile::kAvx2, "avx2"},
      {simulate::Profile::kTfliteMicro, "tflite-micro"}};
};
