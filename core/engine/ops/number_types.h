// SPDX-License-Identifier: Apache-2.0
// From an element type to its C++ type: the one switch behind operators that take numbers of several types.
#pragma once

#include <cstdint>
#include <string>

#include "core/ops/refuse.h"

namespace tersor::ops {

/// Calls body(T()) where dtype is a whole number of 8 bits or more; false where it is not.
template <class Body>
bool visit_whole_type(DType dtype, Body&& body) {
  switch (dtype) {
    case DType::kInt8:
      return body(int8_t()), true;
    case DType::kInt16:
      return body(int16_t()), true;
    case DType::kInt32:
      return body(int32_t()), true;
    case DType::kInt64:
      return body(int64_t()), true;
    case DType::kUint8:
      return body(uint8_t()), true;
    case DType::kUint16:
      return body(uint16_t()), true;
    case DType::kUint32:
      return body(uint32_t()), true;
    case DType::kUint64:
      return body(uint64_t()), true;
    default:
      return false;
  }
}

/// The same for whole numbers, float32 and float64.
template <class Body>
bool visit_number_type(DType dtype, Body&& body) {
  if (dtype == DType::kFloat32) return body(float()), true;
  if (dtype == DType::kFloat64) return body(double()), true;
  return visit_whole_type(dtype, body);
}

/// Error kUnsupportedModel where dtype is no number of visit_number_type().
template <class Body>
void with_number_type(DType dtype, Body&& body) {
  if (!visit_number_type(dtype, body))
    unsupported("The type " + std::string(name_of(dtype)) + " is not supported for this operator.");
}

/// Like with_number_type(), with bool read as bytes.
template <class Body>
void with_value_type(DType dtype, Body&& body) {
  if (dtype == DType::kBool) return body(uint8_t());
  with_number_type(dtype, body);
}

}  // namespace tersor::ops
