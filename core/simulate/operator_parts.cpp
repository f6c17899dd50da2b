// SPDX-License-Identifier: Apache-2.0
#include "core/simulate/operator_parts.h"

namespace tersor::simulate {

const Tensor& constant_at(const ops::Setup& setup, size_t k, const char* role) {
  const Tensor* tensor = setup.constant(k);
  if (tensor == nullptr)
    throw Error(ErrorCode::kUnsupportedModel,
                std::string("The ") + role + " (input " + std::to_string(k) + ") is computed at run time.", {},
                "Store it in the model as a constant.");
  return *tensor;
}

Grid grid_at(const ops::Setup& setup, size_t scale, size_t zero_point) {
  const Tensor &s = constant_at(setup, scale, "scale"), &z = constant_at(setup, zero_point, "zero point");
  if (s.elements() != 1 || z.elements() != 1 || s.dtype() != DType::kFloat32 ||
      (z.dtype() != DType::kUint8 && z.dtype() != DType::kInt8))
    throw Error(ErrorCode::kUnsupportedModel, "An activation needs one float32 scale and one 8-bit zero point.");
  return {s.aligned().data<float>()[0], static_cast<int32_t>(z.to_int64s()[0]), z.dtype() == DType::kInt8};
}

std::vector<float> scales_at(const ops::Setup& setup, size_t k) {
  const Tensor scales = constant_at(setup, k, "weight's scale").aligned();
  return {scales.data<float>().begin(), scales.data<float>().end()};
}

std::vector<int16_t> weight_numbers(const Tensor& weight, const Tensor& zero_point) {
  if (weight.dtype() != DType::kUint8 && weight.dtype() != DType::kInt8)
    throw Error(ErrorCode::kUnsupportedModel,
                "The weight is " + std::string(name_of(weight.dtype())) + ", not an 8-bit type.");
  const std::vector<int64_t> zero_points = zero_point.to_int64s();
  for (int64_t one : zero_points)
    if (one != zero_points[0]) throw Error(ErrorCode::kUnsupportedModel, "The weight has several zero points.");
  const auto zero = static_cast<int16_t>(zero_points.empty() ? 0 : zero_points[0]);
  std::vector<int16_t> numbers;
  numbers.reserve(static_cast<size_t>(weight.elements()));
  const bool is_signed = weight.dtype() == DType::kInt8;
  for (std::byte byte : weight.bytes()) {
    const auto raw = std::to_integer<uint8_t>(byte);
    numbers.push_back(static_cast<int16_t>((is_signed ? static_cast<int8_t>(raw) : static_cast<int16_t>(raw)) - zero));
  }
  return numbers;
}

void check_type(const ops::Input& input, const Grid& grid) {
  if (input.dtype() != dtype_of_grid(grid))
    throw Error(ErrorCode::kInvalidModel, "An input is " + std::string(name_of(input.dtype())) +
                                              " where its zero point is " + std::string(name_of(dtype_of_grid(grid))) +
                                              ".");
}

}  // namespace tersor::simulate
