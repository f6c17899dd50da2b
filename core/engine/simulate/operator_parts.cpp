// SPDX-License-Identifier: Apache-2.0
#include "core/simulate/operator_parts.h"

#include <cmath>

#include "core/ops/refuse.h"

namespace tersor::simulate {

namespace {

void check_positive(std::span<const float> scales) {
  for (size_t k = 0; k < scales.size(); ++k)
    if (!(scales[k] > 0) || !std::isfinite(scales[k]))
      ops::invalid("Element " + std::to_string(k) + " of a scale is " + std::to_string(scales[k]) +
                       "; scales are above 0 and finite.",
                   "Quantize the model again: this file's numbers cannot be told from it.");
}

}  // namespace

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
  check_scales(s);
  return {s.aligned().data<float>()[0], static_cast<int32_t>(z.to_int64s()[0]), z.dtype() == DType::kInt8};
}

void check_scales(const Tensor& scales) {
  if (scales.dtype() != DType::kFloat32)
    ops::unsupported("A scale is " + std::string(name_of(scales.dtype())) + ", not float32.");
  const Tensor aligned = scales.aligned();
  check_positive(aligned.data<float>());
}

std::vector<int32_t> numbers_of(const Tensor& tensor) {
  const std::vector<int64_t> wide = tensor.to_int64s();
  return {wide.begin(), wide.end()};
}

void check_parameter(std::span<const ops::Input> inputs, size_t k, std::initializer_list<DType> types, int64_t most,
                     std::string_view name) {
  if (k >= inputs.size() || !inputs[k].present()) return;
  const DType dtype = inputs[k].dtype();
  if (std::find(types.begin(), types.end(), dtype) == types.end())
    ops::invalid("The " + std::string(name) + " is " + std::string(name_of(dtype)) + "; " +
                 std::string(name_of(*types.begin())) + " is needed.");
  const int64_t count = inputs[k].elements();
  if (count != 1 && count != most)
    ops::invalid("The " + std::string(name) + " has " + std::to_string(count) + " elements; " +
                 (most == 1 ? "one is needed." : "1 or " + std::to_string(most) + " are needed."));
}

std::span<const float> scales_of(std::span<const ops::Input> inputs, size_t k) {
  const auto scales = inputs[k].values<float>();
  check_positive(scales);
  return scales;
}

std::vector<int32_t> codes_of(std::span<const ops::Input> inputs, size_t k) {
  if (k >= inputs.size() || !inputs[k].present()) return {};
  const Grid grid{1, 0, inputs[k].dtype() == DType::kInt8};
  std::vector<int32_t> codes;
  for (uint8_t raw : raw_bytes(inputs[k])) codes.push_back(grid.number(raw));
  return codes;
}

int32_t first_code(std::span<const ops::Input> inputs, size_t k) {
  const std::vector<int32_t> codes = codes_of(inputs, k);
  return codes.empty() ? 0 : codes[0];
}

void require_present(const ops::Setup& setup, std::initializer_list<size_t> needed) {
  for (size_t k : needed)
    if (!setup.has_input(k)) ops::invalid("Input " + std::to_string(k) + " is missing.");
}

void give_saturation(const ops::Call& call, int64_t saturated) {
  if (call.outputs.size() < 2 || !call.outputs[1].present()) return;
  const auto counts = call.outputs[1].values<int64_t>();
  counts[0] = saturated;
  counts[1] = call.outputs[0].elements();
}

void check_type(const ops::Input& input, const Grid& grid) {
  if (input.dtype() != dtype_of_grid(grid))
    throw Error(ErrorCode::kInvalidModel, "An input is " + std::string(name_of(input.dtype())) +
                                              " where its zero point is " + std::string(name_of(dtype_of_grid(grid))) +
                                              ".");
}

}  // namespace tersor::simulate
