// SPDX-License-Identifier: Apache-2.0
// A quantized model as a .tflite file: the same numbers as the ONNX file holds, in TensorFlow Lite's operators.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "core/job/job.h"
#include "core/job/tersor.h"

namespace tersor {

/// The name of a file asks for this format.
bool ends_in_tflite(std::string_view path);

/// Error kUnsupportedModel naming the first node that TensorFlow Lite has no operator for, before any sample is read.
void check_tflite(const Job& job);

/// Error kUnsupportedModel as above.
std::vector<std::byte> tflite_file(const QuantizeResult& result);

}  // namespace tersor
