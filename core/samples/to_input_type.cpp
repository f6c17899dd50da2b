// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/base/error.h"
#include "core/samples/input_spec.h"
#include "core/tensor/float16.h"

namespace tersor::samples {

namespace {

/// The element at `at`, whatever its alignment and byte order.
template <class T>
T element(std::span<const std::byte> bytes, size_t at, bool big_endian) {
  std::byte raw[sizeof(T)];
  std::memcpy(raw, bytes.data() + at * sizeof(T), sizeof(T));
  if (big_endian) std::reverse(raw, raw + sizeof(T));
  T value;
  std::memcpy(&value, raw, sizeof(T));
  return value;
}

std::string element_name(const Shape& shape, int64_t index) {
  std::string text;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    text = std::to_string(index % shape[axis]) + (text.empty() ? "" : ", ") + text;
    index /= shape[axis];
  }
  return "[" + text + "]";
}

/// Calls visit(i, value) with each element as a value of its own type (float16 as float, bool as uint8_t).
template <class Visit>
void visit_elements(const RawArray& array, Visit&& visit) {
  const auto bytes = array.bytes.view;
  const auto count = static_cast<size_t>(array.shape.elements());
  const auto each = [&](auto type) {
    using T = decltype(type);
    for (size_t i = 0; i < count; ++i) visit(i, element<T>(bytes, i, array.big_endian));
  };
  switch (array.dtype) {
    case DType::kFloat32:
      return each(float{});
    case DType::kFloat64:
      return each(double{});
    case DType::kFloat16:
      for (size_t i = 0; i < count; ++i) visit(i, float_from_half(element<uint16_t>(bytes, i, array.big_endian)));
      return;
    case DType::kBool:
    case DType::kUint8:
      return each(uint8_t{});
    case DType::kInt8:
      return each(int8_t{});
    case DType::kUint16:
      return each(uint16_t{});
    case DType::kInt16:
      return each(int16_t{});
    case DType::kUint32:
      return each(uint32_t{});
    case DType::kInt32:
      return each(int32_t{});
    case DType::kUint64:
      return each(uint64_t{});
    case DType::kInt64:
      return each(int64_t{});
    default:
      throw Error(ErrorCode::kInvalidSamples,
                  "The values are of type " + std::string(name_of(array.dtype)) + ", which is not read.");
  }
}

template <class To>
Tensor converted_floats(const RawArray& array) {
  Tensor result = Tensor::make(dtype_of<To>(), array.shape);
  const auto out = result.mutable_data<To>();
  visit_elements(array, [&](size_t i, auto value) { out[i] = static_cast<To>(value); });
  return result;
}

/// Whether the whole number can be held by To; exact for all signed and unsigned types.
template <class To, class From>
bool in_range(From value) {
  if (value < 0) {
    if constexpr (std::numeric_limits<To>::is_signed)
      return static_cast<int64_t>(value) >= static_cast<int64_t>(std::numeric_limits<To>::min());
    return false;
  }
  return static_cast<uint64_t>(value) <= static_cast<uint64_t>(std::numeric_limits<To>::max());
}

template <class To>
Tensor converted_integers(const RawArray& array, DType dtype, const InputSpec& input) {
  Tensor result = Tensor::make(dtype, array.shape);
  auto* out = reinterpret_cast<To*>(result.mutable_bytes().data());
  visit_elements(array, [&](size_t i, auto value) {
    using From = decltype(value);
    if constexpr (std::is_floating_point_v<From>) {
      TERSOR_CHECK(false);
    } else {
      const bool fits = dtype == DType::kBool ? value == 0 || value == 1 : in_range<To>(value);
      if (!fits)
        throw Error(ErrorCode::kInvalidSamples, "The value " + std::to_string(value) + " at " +
                                                    element_name(array.shape, static_cast<int64_t>(i)) +
                                                    " does not fit the " + std::string(name_of(dtype)) +
                                                    " that the input \"" + input.name + "\" takes.");
      out[i] = static_cast<To>(value);
    }
  });
  return result;
}

bool is_float(DType dtype) {
  return dtype == DType::kFloat32 || dtype == DType::kFloat64 || dtype == DType::kFloat16;
}

template <class T>
void check_finite_elements(const Tensor& tensor, const InputSpec& input) {
  const auto values = tensor.data<T>();
  for (size_t i = 0; i < values.size(); ++i)
    if (!std::isfinite(values[i]))
      throw Error(ErrorCode::kInvalidSamples,
                  "The value at " + element_name(tensor.shape(), static_cast<int64_t>(i)) + " of the input \"" +
                      input.name + "\" is " + (std::isnan(values[i]) ? "not a number (NaN)" : "infinite") + ".",
                  {}, "Leave this sample out or repair it.");
}

}  // namespace

Tensor to_input_type(const RawArray& array, const InputSpec& input) {
  DType wanted = input.dtype;
  if (wanted == DType::kUndefined) wanted = is_float(array.dtype) ? DType::kFloat32 : array.dtype;
  if (array.dtype == wanted && !array.big_endian && wanted != DType::kBool)
    return Tensor::alias(wanted, array.shape, array.bytes.view, array.bytes.owner).aligned();
  if (wanted == DType::kFloat32) return converted_floats<float>(array);
  if (wanted == DType::kFloat64) return converted_floats<double>(array);
  if (is_float(array.dtype))
    throw Error(ErrorCode::kInvalidSamples,
                "The values are " + std::string(name_of(array.dtype)) + ", the input \"" + input.name + "\" takes " +
                    std::string(name_of(wanted)) + ".",
                {}, "Save the samples as " + std::string(name_of(wanted)) + ".");
  switch (wanted) {
    case DType::kBool:
    case DType::kUint8:
      return converted_integers<uint8_t>(array, wanted, input);
    case DType::kInt8:
      return converted_integers<int8_t>(array, wanted, input);
    case DType::kUint16:
      return converted_integers<uint16_t>(array, wanted, input);
    case DType::kInt16:
      return converted_integers<int16_t>(array, wanted, input);
    case DType::kUint32:
      return converted_integers<uint32_t>(array, wanted, input);
    case DType::kInt32:
      return converted_integers<int32_t>(array, wanted, input);
    case DType::kUint64:
      return converted_integers<uint64_t>(array, wanted, input);
    case DType::kInt64:
      return converted_integers<int64_t>(array, wanted, input);
    default:
      throw Error(ErrorCode::kInvalidSamples, "The input \"" + input.name + "\" takes " + std::string(name_of(wanted)) +
                                                  " values, for which no samples can be read.");
  }
}

void check_finite(const Tensor& tensor, const InputSpec& input) {
  if (tensor.dtype() == DType::kFloat32) check_finite_elements<float>(tensor, input);
  if (tensor.dtype() == DType::kFloat64) check_finite_elements<double>(tensor, input);
}

}  // namespace tersor::samples
