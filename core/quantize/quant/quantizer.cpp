// SPDX-License-Identifier: Apache-2.0
#include "core/quant/quantizer.h"

#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/quant/even_steps.h"
#include "core/quant/quantizers/quantizers.h"

namespace tersor::quant {

namespace {

constexpr const Quantizer* kQuantizers[] = {&kPowerOfTwoQuantizer, &kSymmetricQuantizer, &kUniformQuantizer};

ChannelBlocks blocks_of(const Shape& shape, const QuantizationParams& params) {
  const auto& axis = params.channel_axis;
  if (axis && (*axis < 0 || *axis >= shape.rank() || static_cast<size_t>(shape[*axis]) != params.scale.size()))
    throw Error(ErrorCode::kInvalidArgument, std::to_string(params.scale.size()) + " scales along axis " +
                                                 std::to_string(*axis) + " do not fit a tensor of shape " +
                                                 shape.text() + ".");
  return channel_blocks(shape, axis);
}

template <class T>
Tensor quantize_as(const Tensor& x, const QuantizationParams& params) {
  const ChannelBlocks blocks = blocks_of(x.shape(), params);
  const Tensor source = x.aligned();
  const float* const values = source.data<float>().data();
  Tensor q = Tensor::make_unset(dtype_of<T>(), x.shape());
  T* const codes = q.mutable_data<T>().data();
  const int32_t q_min = params.grid.q_min(), q_max = params.grid.q_max();
  const float* const scales = params.scale.data();
  const int32_t* const zero_points = params.zero_point.data();
  for_each_element(blocks, [=](size_t i, size_t c) {
    codes[i] = static_cast<T>(quantize_value(values[i], scales[c], zero_points[c], q_min, q_max));
  });
  return q;
}

template <class T>
Tensor dequantize_as(const Tensor& q, const QuantizationParams& params) {
  const ChannelBlocks blocks = blocks_of(q.shape(), params);
  const T* const codes = q.data<T>().data();
  Tensor x = Tensor::make_unset(DType::kFloat32, q.shape());
  float* const values = x.mutable_data<float>().data();
  const float* const scales = params.scale.data();
  const int32_t* const zero_points = params.zero_point.data();
  for_each_element(blocks,
                   [=](size_t i, size_t c) { values[i] = dequantize_value(codes[i], scales[c], zero_points[c]); });
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
  const ChannelBlocks blocks = blocks_of(x.shape(), params);
  const Tensor source = x.aligned();
  Tensor y = Tensor::make_unset(DType::kFloat32, x.shape());
  fake_quantize(source.data<float>(), blocks, EvenSteps::of(params), y.mutable_data<float>());
  return y;
}

}  // namespace tersor::quant
