// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <utility>

#include "core/base/names.h"
#include "core/tensor/dtype.h"

namespace tersor::config {

/// Element types of the quantized file's inputs and outputs that are floats in the model.
enum class IoTypes {
  kFloat32,
  kUint8,
  kInt8,
  kUint8Int8,     // inputs uint8, outputs int8
  kUint8Float32,  // inputs uint8, outputs float32
  kPixels,        // inputs are pixels of pictures, uint8 from 0 to 255, and the file preprocesses them; outputs float32
  kPixelsUint8,
  kPixelsInt8,
};

constexpr bool takes_pixels(IoTypes types) {
  return types == IoTypes::kPixels || types == IoTypes::kPixelsUint8 || types == IoTypes::kPixelsInt8;
}

constexpr DType input_type(IoTypes types) {
  return types == IoTypes::kFloat32 ? DType::kFloat32 : types == IoTypes::kInt8 ? DType::kInt8 : DType::kUint8;
}
constexpr DType output_type(IoTypes types) {
  return types == IoTypes::kUint8 || types == IoTypes::kPixelsUint8                                 ? DType::kUint8
         : types == IoTypes::kInt8 || types == IoTypes::kUint8Int8 || types == IoTypes::kPixelsInt8 ? DType::kInt8
                                                                                                    : DType::kFloat32;
}

}  // namespace tersor::config

template <>
struct tersor::EnumWords<tersor::config::IoTypes> {
  using T = tersor::config::IoTypes;
  static constexpr const char* kind = "types of inputs and outputs";
  static constexpr std::pair<T, std::string_view> words[] = {{T::kFloat32, "FLOAT32"},
                                                             {T::kUint8, "UINT8"},
                                                             {T::kInt8, "INT8"},
                                                             {T::kUint8Int8, "UINT8_INT8"},
                                                             {T::kUint8Float32, "UINT8_FLOAT32"},
                                                             {T::kPixels, "PIXELS"},
                                                             {T::kPixelsUint8, "PIXELS_UINT8"},
                                                             {T::kPixelsInt8, "PIXELS_INT8"}};
};
