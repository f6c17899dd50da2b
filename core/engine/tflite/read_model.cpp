// SPDX-License-Identifier: Apache-2.0
#include "core/tflite/read_model.h"

#include <cstring>

#include "core/onnx/read.h"

namespace tersor::tflite {

bool is_tflite(std::span<const std::byte> bytes) {
  return bytes.size() >= 8 && std::memcmp(bytes.data() + 4, "TFL3", 4) == 0;
}

Model read_model(const onnx::Source& source, const onnx::ExternalData& external) {
  return is_tflite(source.bytes) ? read_tflite(source) : onnx::read(source, external);
}

}  // namespace tersor::tflite
