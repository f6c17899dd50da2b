// SPDX-License-Identifier: Apache-2.0
#include "core/quant/quantizer.h"

#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/quant/quantizers/quantizers.h"

namespace tersor::quant {

namespace {

constexpr const Quantizer* kQuantizers[] = {&kPowerOfTwoQuantizer, &kSymmetricQuantizer, &kUniformQuantizer};

/// A tensor seen as [outer, channels, inner] around the channel axis; [1, 1, all] without one.
struct Blocks {
  int64_t outer = 1, channels = 1, inner = 1;
};

Blocks blocks_of(const Shape& shape, const QuantizationParams& params) {
  if (!params.channel_axis) return {1, 1, shape.elements()};
  const int axis = *params.channel_axis;
  if (axis < 0 || axis >= shape.rank() || static_cast<size_t>(shape[axis]) != params.scale.size())
    throw Error(ErrorCode::kInvalidArgument, std::to_string(params.scale.size()) + " scales along axis " +
                                                 std::to_string(axis) + " do not fit a tensor of shape " +
                                                 shape.text() + ".");
  return {shape.elements(0, axis), shape[axis], shape.elements(axis + 1, shape.rank())};
}

/// Calls `one(index, channel)` for each element.
template <class One>
void for_each(const Blocks& blocks, One&& one) {
  size_t index = 0;
  if (blocks.inner == 1) {
    const auto channels = static_cast<size_t>(blocks.channels);
    for (int64_t o = 0; o < blocks.outer; ++o, index += channels)
      for (size_t c = 0; c < channels; ++c) one(index + c, c);
    return;
  }
  for (int64_t o = 0; o < blocks.outer; ++o)
    for (int64_t c = 0; c < blocks.channels; ++c)
      for (int64_t i = 0; i < blocks.inner; ++i) one(index++, static_cast<size_t>(c));
}

template <class T>
Tensor quantize_as(const Tensor& x, const QuantizationParams& params) {
  const Blocks blocks = blocks_of(x.shape(), params);
  const Tensor source = x.aligned();
  const float* const values = source.data<float>().data();
  Tensor q = Tensor::make_unset(dtype_of<T>(), x.shape());
  T* const codes = q.mutable_data<T>().data();
  const int32_t q_min = params.grid.q_min(), q_max = params.grid.q_max();
  const float* const scales = params.scale.data();
  const int32_t* const zero_points = params.zero_point.data();
  for_each(blocks, [=](size_t i, size_t c) {
    codes[i] = static_cast<T>(quantize_value(values[i], scales[c], zero_points[c], q_min, q_max));
  });
  return q;
}

template <class T>
Tensor dequantize_as(const Tensor& q, const QuantizationParams& params) {
  const Blocks blocks = blocks_of(q.shape(), params);
  const T* const codes = q.data<T>().data();
  Tensor x = Tensor::make_unset(DType::kFloat32, q.shape());
  float* const values = x.mutable_data<float>().data();
  const float* const scales = params.scale.data();
  const int32_t* const zero_points = params.zero_point.data();
  for_each(blocks, [=](size_t i, size_t c) { values[i] = dequantize_value(codes[i], scales[c], zero_points[c]); });
  return x;
}

}  // namespace

const Quantizer& quantizer_of(QuantizationMethod method) {
  for (const Quantizer* one : kQuantizers)
    if (one->method == method) return *one;
  throw Error(ErrorCode::kInvalidConfig,
              "The quantization method " + std::string(enum_word(method)) +
                  " has no even steps; it acts on the kernels of layers.",
              "", "Use POWER_OF_TWO, SYMMETRIC or UNIFORM.");
}

std::vector<QuantizationMethod> acting_methods() {
  std::vector<QuantizationMethod> methods;
  for (const Quantizer* one : kQuantizers) methods.push_back(one->method);
  return methods;
}

Tensor quantize(const Tensor& x, const QuantizationParams& params) {
  switch (params.storage()) {
    case DType::kInt8:
      return quantize_as<int8_t>(x, params);
    case DType::kUint8:
      return quantize_as<uint8_t>(x, params);
    case DType::kInt16:
      return quantize_as<int16_t>(x, params);
    default:
      return quantize_as<uint16_t>(x, params);
  }
}

Tensor dequantize(const Tensor& q, const QuantizationParams& params) {
  switch (params.storage()) {
    case DType::kInt8:
      return dequantize_as<int8_t>(q, params);
    case DType::kUint8:
      return dequantize_as<uint8_t>(q, params);
    case DType::kInt16:
      return dequantize_as<int16_t>(q, params);
    default:
      return dequantize_as<uint16_t>(q, params);
  }
}

Tensor fake_quantize(const Tensor& x, const QuantizationParams& params) {
  return dequantize(quantize(x, params), params);
}

}  // namespace tersor::quant
