// SPDX-License-Identifier: Apache-2.0
// Heads and tails are what print_allocations() of tflite-micro 0.dev20261023 said of these networks.
#include "core/tflite/arena.h"

#include "tests/catch.h"

using namespace tersor;
using namespace tersor::tflite;

namespace {

NetworkTensor codes(std::vector<int32_t> shape) {
  return {"t", std::move(shape), DType::kInt8, {{0.05F}, {0}, 0}};
}

NetworkTensor constant(std::vector<int32_t> shape, DType dtype, size_t scales) {
  NetworkTensor tensor{
      "c", std::move(shape), dtype, {std::vector<float>(scales, 0.01F), std::vector<int64_t>(scales, 0), 0}};
  tensor.data = Tensor::make(dtype, tensor.full_shape());
  return tensor;
}

}  // namespace

TEST_CASE("the arena is what the runtime records") {
  Network convolution;
  convolution.tensors = {codes({1, 4, 4, 2}), constant({3, 1, 1, 2}, DType::kInt8, 3), constant({3}, DType::kInt32, 3),
                         codes({1, 4, 4, 3}), codes({1, 4, 4, 3})};
  convolution.operators = {{Code::kConv2d, {0, 1, 2}, {3}}, {Code::kLeakyRelu, {3}, {4}}};
  convolution.inputs = {0};
  convolution.outputs = {4};
  CHECK(plan_arena(convolution)->head == 96);
  CHECK(plan_arena(convolution)->tail == 1136);
  Network residual;
  residual.tensors = {codes({1, 16, 16, 4}),           codes({1, 16, 16, 4}), codes({1, 16, 16, 4}),
                      constant({2}, DType::kInt32, 0), codes({1, 4}),         constant({5, 4}, DType::kInt8, 5),
                      constant({5}, DType::kInt32, 5), codes({1, 5}),         codes({1, 5})};
  residual.operators = {{Code::kRelu, {0}, {1}},
                        {Code::kAdd, {0, 1}, {2}},
                        {Code::kMean, {2, 3}, {4}},
                        {Code::kFullyConnected, {4, 5, 6}, {7}},
                        {Code::kSoftmax, {7}, {8}}};
  residual.inputs = {0};
  residual.outputs = {8};
  CHECK(plan_arena(residual)->head == 3072);
  CHECK(plan_arena(residual)->tail == 1680);
  CHECK(plan_arena(residual)->needed >= plan_arena(residual)->total());
  Network recurrent;  // an LSTM of twelve steps of eight numbers, of sixteen units
  recurrent.tensors = {codes({12, 1, 8})};
  for (const int32_t depth : {8, 16})
    for (int gate = 0; gate < 4; ++gate) recurrent.tensors.push_back(constant({16, depth}, DType::kInt8, 1));
  for (int gate = 0; gate < 4; ++gate) recurrent.tensors.push_back(constant({16}, DType::kInt32, 1));
  recurrent.tensors.push_back(codes({1, 16}));
  recurrent.tensors.push_back({"cell", {1, 16}, DType::kInt16, {{0.001F}, {0}, 0}});
  for (int state = 13; state < 15; ++state) recurrent.tensors[static_cast<size_t>(state)].is_variable = true;
  for (int k = 0; k < 5; ++k) recurrent.tensors.push_back(codes({0}));
  recurrent.tensors.push_back(codes({12, 1, 16}));
  recurrent.operators = {{Code::kUnidirectionalSequenceLstm,
                          {0, 1, 2, 3, 4, 5, 6, 7, 8, -1, -1, -1, 9, 10, 11, 12, -1, -1, 13, 14, -1, -1, -1, -1},
                          {20}}};
  recurrent.inputs = {0};
  recurrent.outputs = {20};
  CHECK(plan_arena(recurrent)->head == 416);
  CHECK(plan_arena(recurrent)->tail == 2064);
}
