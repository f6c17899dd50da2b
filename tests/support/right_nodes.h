// SPDX-License-Identifier: Apache-2.0
// Right nodes of operators with many inputs that must fit together, to be damaged by tests.
#pragma once

#include <string>
#include <vector>

#include "tests/support/model_builder.h"

namespace tersor::test {

struct RightNode {
  std::string type;
  std::vector<Tensor> inputs;
  ModelBuilder::Attributes attributes = {};
  int64_t opset = 28;
  size_t outputs = 1;
};

inline Tensor right_floats(std::initializer_list<int64_t> dims, float step = 0.25f) {
  Tensor tensor = Tensor::make(DType::kFloat32, Shape(dims));
  float value = -1;
  for (float& x : tensor.mutable_data<float>()) {
    x = value;
    value = value > 1 ? -1 : value + step;
  }
  return tensor;
}

inline Tensor right_ints(std::initializer_list<int64_t> values) {
  return Tensor::of<int64_t>(Shape{static_cast<int64_t>(values.size())}, values);
}

inline std::vector<RightNode> right_nodes() {
  const std::vector<int64_t> two{2, 2};
  return {
      {"AffineGrid", {right_floats({1, 2, 3}), right_ints({1, 1, 3, 4})}},
      {"Attention",
       {right_floats({2, 4, 3, 8}), right_floats({2, 2, 5, 8}), right_floats({2, 2, 5, 6}), right_floats({3, 5})},
       {},
       28,
       4},
      {"Attention",
       {right_floats({1, 3, 8}), right_floats({1, 2, 8}), right_floats({1, 2, 8}), Tensor(), right_floats({1, 2, 4, 4}),
        right_floats({1, 2, 4, 4})},
       {{"q_num_heads", int64_t{2}}, {"kv_num_heads", int64_t{2}}, {"is_causal", int64_t{1}}},
       28,
       3},
      {"Col2Im", {right_floats({1, 8, 4}), right_ints({3, 3}), right_ints({2, 2})}},
      {"ConvTranspose", {right_floats({1, 4, 3, 3}), right_floats({4, 3, 2, 2})}, {{"strides", two}}},
      {"Conv",
       {right_floats({1, 4, 5, 5, 5}), right_floats({6, 2, 2, 2, 2}), right_floats({6})},
       {{"group", int64_t{2}}}},
      {"DeformConv",
       {right_floats({1, 2, 4, 4}), right_floats({2, 1, 2, 2}), right_floats({1, 8, 3, 3}), right_floats({2}),
        right_floats({1, 4, 3, 3})},
       {{"group", int64_t{2}}}},
      {"DFT", {right_floats({2, 6, 1}), right_ints({5}), right_ints({1})}, {{"onesided", int64_t{1}}}},
      {"com.microsoft::GatherBlockQuantized",
       {Tensor::make(DType::kUint8, {4, 8}), right_ints({3, 0}), right_floats({4, 1}),
        Tensor::make(DType::kUint8, {4, 1})},
       {{"bits", int64_t{4}}, {"block_size", int64_t{16}}, {"gather_axis", int64_t{0}}, {"quantize_axis", int64_t{1}}}},
      {"Einsum",
       {right_floats({2, 3, 4}), right_floats({2, 4, 5}), right_floats({5})},
       {{"equation", std::string("bij,bjk,k->bi")}}},
      {"GridSample", {right_floats({1, 2, 4, 4}), right_floats({1, 3, 3, 2})}, {{"mode", std::string("cubic")}}},
      {"com.microsoft::GroupQueryAttention",
       {right_floats({2, 1, 32}), Tensor(), Tensor(), right_floats({2, 1, 3, 8}), right_floats({2, 1, 3, 8}),
        Tensor::of<int32_t>(Shape{2}, {3, 1}), Tensor::scalar<int32_t>(4)},
       {{"num_heads", int64_t{2}}, {"kv_num_heads", int64_t{1}}},
       28,
       3},
      {"LinearAttention",
       {right_floats({1, 3, 8}), right_floats({1, 3, 4}), right_floats({1, 3, 6}), Tensor(), right_floats({1, 3, 2}),
        right_floats({1, 3, 2})},
       {{"q_num_heads", int64_t{4}}, {"kv_num_heads", int64_t{2}}},
       28,
       2},
      {"MaxRoiPool", {right_floats({1, 2, 6, 6}), right_floats({2, 5}, 0)}, {{"pooled_shape", two}}},
      {"MaxUnpool",
       {right_floats({1, 1, 2, 2}), Tensor::of<int64_t>(Shape{1, 1, 2, 2}, {0, 3, 9, 15})},
       {{"kernel_shape", two}, {"strides", two}}},
      {"com.microsoft::MultiHeadAttention",
       {right_floats({1, 2, 8}), right_floats({1, 3, 8}), right_floats({1, 3, 8}), right_floats({24}),
        Tensor::of<int32_t>(Shape{1}, {2})},
       {{"num_heads", int64_t{2}}}},
      {"MelWeightMatrix",
       {right_ints({8}), right_ints({16}), right_ints({8192}), Tensor::scalar(0.0f), Tensor::scalar(4000.0f)}},
      {"NonMaxSuppression",
       {right_floats({1, 6, 4}), right_floats({1, 2, 6}), right_ints({3}), Tensor::scalar(0.5f), Tensor::scalar(0.0f)}},
      {"RandomNormal", {}, {{"shape", two}}},
      {"RandomUniform", {}, {{"shape", two}}},
      {"ReverseSequence", {right_floats({4, 3, 2}), right_ints({4, 2, 0})}},
      {"RoiAlign",
       {right_floats({2, 3, 5, 5}), right_floats({2, 4}, 1), right_ints({0, 1})},
       {{"output_height", int64_t{2}}, {"output_width", int64_t{3}}}},
      {"RotaryEmbedding",
       {right_floats({1, 2, 3, 8}), right_floats({9, 4}), right_floats({9, 4}),
        Tensor::of<int64_t>(Shape{1, 3}, {0, 8, 3})}},
      {"ScatterND", {right_floats({4, 3}), Tensor::of<int64_t>(Shape{2, 1}, {3, -4}), right_floats({2, 3})}},
      {"STFT", {right_floats({1, 16, 1}), Tensor::scalar<int64_t>(4), right_floats({8})}},
      {"TensorScatter", {right_floats({2, 3, 6, 4}), right_floats({2, 3, 2, 4}), right_ints({4, 0})}},
  };
}

}  // namespace tersor::test
