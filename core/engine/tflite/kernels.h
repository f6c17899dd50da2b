// SPDX-License-Identifier: Apache-2.0
// TensorFlow Lite Micro's reference kernels on int8 and int16, bit for bit (tflite-micro 0.dev20261023 from PyPI).
#pragma once

#include <span>
#include <vector>

#include "core/tflite/network.h"

namespace tersor::tflite {

struct Argument {
  const NetworkTensor* tensor = nullptr;  // null: absent
  const Tensor* value = nullptr;

  template <class Int = int8_t>
  std::span<const Int> codes() const {
    return value->data<Int>();
  }
  int dim(int axis) const { return tensor->shape[static_cast<size_t>(axis)]; }
  float scale() const { return tensor->quantization.scale[0]; }
  int32_t zero_point() const { return static_cast<int32_t>(tensor->quantization.zero_point[0]); }
};

/// One operator and its inputs.
struct KernelCall {
  const Operator& op;
  std::vector<Argument> inputs;
  const NetworkTensor& output;

  const Argument& in(size_t k) const { return inputs[k]; }
  bool has(size_t k) const { return k < inputs.size() && inputs[k].tensor != nullptr; }
  float scale() const { return output.quantization.scale[0]; }
  int32_t zero_point() const { return static_cast<int32_t>(output.quantization.zero_point[0]); }
};

/// Error kUnsupportedModel unless the operator is known here for a first input of that type.
void check_runs(Code code, DType first);

/// What the operator gives. Error kUnsupportedModel for one that is not known here, or has inputs of a type that it
/// does not take.
Tensor evaluate(const KernelCall& call);

/// Codes less a zero point. There is one more, since pairs are read.
std::vector<int16_t> numbers_of(std::span<const int8_t> codes, int32_t zero_point);

/// The place that RESIZE_NEAREST_NEIGHBOR reads along an axis, in float as the kernels compute it.
int64_t nearest_place(int64_t out, int64_t in_size, int64_t out_size, const Options& options);

}  // namespace tersor::tflite
