// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>
#include <utility>

#include "core/base/error.h"
#include "core/kernels/observe.h"
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

bool is_signed(DType dtype) {
  return dtype == DType::kInt8 || dtype == DType::kInt16 || dtype == DType::kInt32 || dtype == DType::kInt64;
}

/// Stores whole numbers of any type as `dtype`.
class WholeNumbers {
 public:
  WholeNumbers(const RawArray& array, DType dtype, const InputSpec& input)
      : array_(array),
        input_(input),
        dtype_(dtype),
        size_(static_cast<size_t>(bits_of(dtype)) / 8),
        is_signed_(is_signed(dtype)),
        most_(dtype == DType::kBool ? 1 : ~uint64_t{0} >> (64 - 8 * size_ + (is_signed_ ? 1 : 0))),
        result_(Tensor::make(dtype, array.shape)),
        to_(result_.mutable_bytes().data()) {}

  /// `bits` is the number's two's complement in 64 bits.
  void put(size_t index, uint64_t bits, bool is_negative) {
    const bool fits = is_negative ? is_signed_ && bits >= ~most_ : bits <= most_;
    if (!fits)
      throw Error(ErrorCode::kInvalidSamples,
                  "The value " + (is_negative ? std::to_string(static_cast<int64_t>(bits)) : std::to_string(bits)) +
                      " at " + element_name(array_.shape, static_cast<int64_t>(index)) + " does not fit the " +
                      std::string(name_of(dtype_)) + " that the input \"" + input_.name + "\" takes.");
    std::memcpy(to_ + index * size_, &bits, size_);  // the low bytes come first
  }
  Tensor take() { return std::move(result_); }

 private:
  const RawArray& array_;
  const InputSpec& input_;
  DType dtype_;
  size_t size_;
  bool is_signed_;
  uint64_t most_;
  Tensor result_;
  std::byte* to_;
};

Tensor converted_integers(const RawArray& array, DType dtype, const InputSpec& input) {
  WholeNumbers numbers(array, dtype, input);
  visit_elements(array, [&](size_t i, auto value) {
    if constexpr (std::is_floating_point_v<decltype(value)>)
      TERSOR_CHECK(false);
    else if constexpr (std::is_signed_v<decltype(value)>)
      numbers.put(i, static_cast<uint64_t>(int64_t{value}), value < 0);
    else
      numbers.put(i, value, false);
  });
  return numbers.take();
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
  if (wanted == DType::kBool || (is_integer(wanted) && bits_of(wanted) >= 8))
    return converted_integers(array, wanted, input);
  throw Error(ErrorCode::kInvalidSamples, "The input \"" + input.name + "\" takes " + std::string(name_of(wanted)) +
                                              " values, for which no samples can be read.");
}

void check_finite(const Tensor& tensor, const InputSpec& input) {
  if (tensor.dtype() == DType::kFloat32) {
    const auto values = tensor.data<float>();
    if (!values.empty() && !kernels::extremes(values).finite) check_finite_elements<float>(tensor, input);
  }
  if (tensor.dtype() == DType::kFloat64) check_finite_elements<double>(tensor, input);
}

}  // namespace tersor::samples
