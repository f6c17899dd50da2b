// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>

#include "core/base/names.h"
#include "core/graph/graph.h"

namespace tersor {

/// Of a quantized file. All hold the same numbers.
enum class FileFormat : uint8_t {
  kOnnx,       // operators between DequantizeLinear and QuantizeLinear (QDQ)
  kQoperator,  // ONNX Runtime's integer operators, for its versions that do not make them of the former
  kTflite
};

template <>
struct EnumWords<FileFormat> {
  static constexpr const char* kind = "file format";
  static constexpr std::pair<FileFormat, std::string_view> words[] = {
      {FileFormat::kOnnx, "onnx"}, {FileFormat::kQoperator, "qoperator"}, {FileFormat::kTflite, "tflite"}};
};

/// The format that the name of a file asks for.
constexpr FileFormat format_of(std::string_view path) {
  constexpr std::string_view kEnding = ".tflite";
  const bool is_tflite = path.size() > kEnding.size() && path.substr(path.size() - kEnding.size()) == kEnding;
  return is_tflite ? FileFormat::kTflite : FileFormat::kOnnx;
}

/// The quantized model in integer operators: QLinearConv and QLinearMatMul of ONNX, others of com.microsoft. What has
/// none stays between DequantizeLinear and QuantizeLinear.
Model in_integer_operators(const Model& quantized);

}  // namespace tersor
