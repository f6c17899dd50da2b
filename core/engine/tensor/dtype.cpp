// SPDX-License-Identifier: Apache-2.0
#include "core/tensor/dtype.h"

#include <limits>
#include <string>

#include "core/base/error.h"

namespace tersor {

namespace {

struct Row {
  int bits;
  std::string_view name;
};

// Indexed by the ONNX number.
constexpr Row kRows[] = {
    {0, "undefined"},      {32, "float32"},  {8, "uint8"},        {8, "int8"},           {16, "uint16"},
    {16, "int16"},         {32, "int32"},    {64, "int64"},       {0, "string"},         {8, "bool"},
    {16, "float16"},       {64, "float64"},  {32, "uint32"},      {64, "uint64"},        {64, "complex64"},
    {128, "complex128"},   {16, "bfloat16"}, {8, "float8e4m3fn"}, {8, "float8e4m3fnuz"}, {8, "float8e5m2"},
    {8, "float8e5m2fnuz"}, {4, "uint4"},     {4, "int4"},         {4, "float4e2m1"},     {8, "float8e8m0"},
    {2, "uint2"},          {2, "int2"}};

constexpr Row row(DType dtype) {
  const auto number = static_cast<size_t>(dtype);
  return number < sizeof(kRows) / sizeof(kRows[0]) ? kRows[number] : Row{0, "unknown type"};
}

}  // namespace

int bits_of(DType dtype) {
  return row(dtype).bits;
}

size_t bytes_for(DType dtype, int64_t count) {
  // Shapes have at most 2^48 elements, so 64 bits are enough; a 32-bit machine's size_t is not.
  const auto elements = static_cast<uint64_t>(count);
  const auto bits = static_cast<uint64_t>(bits_of(dtype));
  const uint64_t bytes = bits >= 8 ? elements * (bits / 8) : (elements * bits + 7) / 8;
  if (bytes > std::numeric_limits<size_t>::max())
    throw Error(ErrorCode::kOutOfMemory,
                "A tensor of " + std::to_string(count) + " elements does not fit into this machine's memory.", {},
                "Use the native program.");
  return static_cast<size_t>(bytes);
}

std::string_view name_of(DType dtype) {
  return row(dtype).name;
}

bool is_integer(DType dtype) {
  switch (dtype) {
    case DType::kUint8:
    case DType::kInt8:
    case DType::kUint16:
    case DType::kInt16:
    case DType::kUint32:
    case DType::kInt32:
    case DType::kUint64:
    case DType::kInt64:
    case DType::kUint4:
    case DType::kInt4:
    case DType::kUint2:
    case DType::kInt2:
      return true;
    default:
      return false;
  }
}

}  // namespace tersor
