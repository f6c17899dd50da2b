// SPDX-License-Identifier: Apache-2.0
#include "core/trial/padding_mask.h"

#include <algorithm>
#include <utility>

namespace tersor {

namespace {

std::vector<bool> left_out(const Tensor& mask) {
  std::vector<bool> out(static_cast<size_t>(mask.elements()), false);
  const auto find = [&](const auto values) {
    for (size_t i = 0; i < out.size(); ++i) out[i] = values[i] == 0;
  };
  if (mask.dtype() == DType::kInt64) find(mask.data<int64_t>());
  if (mask.dtype() == DType::kInt32) find(mask.data<int32_t>());
  if (mask.dtype() == DType::kFloat32) find(mask.data<float>());
  return out;
}

}  // namespace

std::optional<size_t> mask_input(const Graph& graph) {
  for (size_t i = 0; i < graph.inputs.size(); ++i)
    if (graph.name_of(graph.inputs[i]) == "attention_mask") return i;
  return std::nullopt;
}

void clear_padding(const Tensor& mask, std::vector<Tensor>& outputs) {
  if (mask.shape().rank() != 2) return;
  const std::vector<bool> out = left_out(mask);
  if (std::find(out.begin(), out.end(), true) == out.end()) return;
  for (Tensor& output : outputs) {
    const Shape shape = output.shape();
    if (output.dtype() != DType::kFloat32 || shape.rank() < 3 || shape[0] != mask.shape()[0] ||
        shape[1] != mask.shape()[1])
      continue;
    Tensor cleared = Tensor::make(DType::kFloat32, shape);  // others may hold the output's memory
    const auto values = cleared.mutable_data<float>();
    std::copy_n(output.data<float>().begin(), values.size(), values.begin());
    const auto length = static_cast<size_t>(shape.elements(2, shape.rank()));
    for (size_t i = 0; i < out.size(); ++i)
      if (out[i]) std::fill_n(values.begin() + static_cast<std::ptrdiff_t>(i * length), length, 0.0f);
    output = std::move(cleared);
  }
}

}  // namespace tersor
