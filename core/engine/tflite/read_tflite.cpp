// SPDX-License-Identifier: Apache-2.0
#include "core/tflite/integer_model.h"
#include "core/tflite/raise.h"
#include "core/tflite/read.h"
#include "core/tflite/read_model.h"

namespace tersor::tflite {

Model read_tflite(const onnx::Source& source) {
  const Network network = read(source.bytes, source.owner);
  return is_quantized(network) ? integer_model(network) : raise(network);
}

}  // namespace tersor::tflite
