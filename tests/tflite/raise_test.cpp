// SPDX-License-Identifier: Apache-2.0
#include "core/tflite/raise.h"

#include <cstring>

#include "core/ops/registry.h"
#include "core/run/program.h"
#include "tests/catch.h"

using namespace tersor;
using namespace tersor::tflite;

namespace {

NetworkTensor floats(std::vector<int32_t> shape) {
  return {"t", std::move(shape), DType::kFloat32};
}

template <class T>
NetworkTensor constant(std::vector<int32_t> shape, std::vector<T> values) {
  NetworkTensor tensor{"c", std::move(shape), dtype_of<T>()};
  tensor.data = Tensor::of<T>(tensor.full_shape(), std::span<const T>(values));
  return tensor;
}

Options windowed(int32_t padding, int32_t stride, int32_t filter = 0) {
  Options options;
  options.padding = padding;
  options.stride_w = options.stride_h = stride;
  options.filter_w = options.filter_h = filter;
  return options;
}

Tensor counted(const NetworkTensor& like) {
  Tensor tensor = Tensor::make(DType::kFloat32, like.full_shape());
  for (size_t k = 0; k < tensor.mutable_data<float>().size(); ++k)
    tensor.mutable_data<float>()[k] = static_cast<float>(k);
  return tensor;
}

std::vector<float> outputs_of(const Network& network) {
  const Model model = raise(network);
  const std::vector<Tensor> inputs{counted(network.tensors[static_cast<size_t>(network.inputs[0])])};
  const Tensor result = run::Runner(run::Program::compile(model, ops::standard())).run(inputs)[0];
  return {result.data<float>().begin(), result.data<float>().end()};
}

std::string types_of(const Network& network) {
  std::string types;
  const Model model = raise(network);
  for (const Node& node : model.graph.nodes()) types += node.op_type + " ";
  return types;
}

}  // namespace

TEST_CASE("SAME puts the odd row at the end, and channels come last again only at the outputs") {
  Network network;
  // A depthwise window of 2 at a stride of 1 over 1x2x2x2 adds up what lies right and below.
  network.tensors = {floats({1, 2, 2, 2}), constant<float>({1, 2, 2, 2}, std::vector<float>(8, 1)),
                     constant<float>({2}, {0, 100}), floats({1, 2, 2, 2}), floats({1, 2, 2, 2})};
  network.operators = {{Code::kDepthwiseConv2d, {0, 1, 2}, {3}, windowed(kSame, 1)}, {Code::kRelu, {3}, {4}}};
  network.inputs = {0};
  network.outputs = {4};
  REQUIRE(types_of(network) == "Transpose Conv Relu Transpose ");
  REQUIRE(outputs_of(network) == std::vector<float>{12, 116, 8, 110, 10, 112, 6, 107});
}

TEST_CASE("a fused activation, a constant along the channels and a mean over the picture follow without a transpose") {
  Network network;
  network.tensors = {floats({1, 2, 1, 2}),           constant<float>({2, 1, 1, 2}, {1, 0, 0, 1}),
                     constant<float>({2}, {0, -2}),  floats({1, 2, 1, 2}),
                     constant<float>({2}, {10, 20}), floats({1, 2, 1, 2}),
                     constant<int32_t>({2}, {1, 2}), floats({1, 2})};
  Options conv = windowed(kValid, 1);
  conv.activation = kReluActivation;
  network.operators = {{Code::kConv2d, {0, 1, 2}, {3}, conv}, {Code::kAdd, {3, 4}, {5}}, {Code::kMean, {5, 6}, {7}}};
  network.inputs = {0};
  network.outputs = {7};
  REQUIRE(types_of(network) == "Transpose Conv Relu Add ReduceMean ");
  // Channel 0: 0 and 2; channel 1: 1 - 2 -> 0, and 3 - 2.
  REQUIRE(outputs_of(network) == std::vector<float>{11, 20.5F});
}

TEST_CASE("a transposed convolution has the size of the file's output") {
  for (const int32_t size : {4, 3}) {
    Network network;
    network.tensors = {constant<int32_t>({4}, {1, size, 1, 1}), constant<float>({1, 2, 1, 1}, {1, 1}),
                       floats({1, 2, 1, 1}), floats({1, size, 1, 1})};
    Options options = windowed(kSame, 2);
    options.stride_w = 1;
    network.operators = {{Code::kTransposeConv, {0, 1, 2}, {3}, options}};
    network.inputs = {2};
    network.outputs = {3};
    INFO(size);
    std::vector<float> wanted{0, 0, 1, 1};
    wanted.resize(static_cast<size_t>(size));
    REQUIRE(outputs_of(network) == wanted);
  }
}

TEST_CASE("a column is cut out and packed along the file's axes") {
  Network network;
  network.tensors = {floats({2, 3}),
                     constant<int32_t>({2}, {0, 1}),
                     constant<int32_t>({2}, {0, 3}),
                     constant<int32_t>({2}, {1, 1}),
                     floats({2}),
                     floats({2, 2})};
  Options column;  // x[:, 1]
  column.begin_mask = column.end_mask = 1;
  column.shrink_axis_mask = 2;
  network.operators = {{Code::kStridedSlice, {0, 1, 2, 3}, {4}, column}, {Code::kPack, {4, 4}, {5}}};
  network.inputs = {0};
  network.outputs = {5};
  REQUIRE(outputs_of(network) == std::vector<float>{1, 4, 1, 4});
}

TEST_CASE("weights of float16 become float32") {
  Network network;
  NetworkTensor halves{"h", {2}, DType::kFloat16};
  const uint16_t bits[] = {0x3c00, 0xc000};  // 1, -2
  Tensor data = Tensor::make(DType::kFloat16, Shape{2});
  std::memcpy(data.mutable_bytes().data(), bits, sizeof bits);
  halves.data = data;
  network.tensors = {floats({1, 2}), halves, floats({2}), floats({1, 2})};
  network.operators = {{Code::kDequantize, {1}, {2}}, {Code::kMul, {0, 2}, {3}}};
  network.inputs = {0};
  network.outputs = {3};
  REQUIRE(types_of(network) == "Mul ");
  REQUIRE(outputs_of(network) == std::vector<float>{0, -2});
}

TEST_CASE("constants behind a DEQUANTIZE become floats, by channel") {
  Network network;
  NetworkTensor codes{"w", {2, 2}, DType::kInt8, {{0.5F, 2.0F}, {0, 0}, 0}};
  codes.data = Tensor::of<int8_t>(Shape{2, 2}, {1, -2, 3, 4});
  network.tensors = {floats({1, 2}), codes, floats({2, 2}), floats({2, 2})};
  network.operators = {{Code::kDequantize, {1}, {2}}, {Code::kMul, {0, 2}, {3}}};
  network.inputs = {0};
  network.outputs = {3};
  REQUIRE(types_of(network) == "Mul ");
  REQUIRE(outputs_of(network) == std::vector<float>{0, -1, 0, 8});
}

TEST_CASE("what is quantized, and what is not known, is refused with its place") {
  Network network;
  NetworkTensor codes{"codes", {1, 2}, DType::kInt8, {{0.5F}, {0}, 0}};
  network.tensors = {codes, codes};
  network.operators = {{Code::kRelu, {0}, {1}}};
  network.inputs = {0};
  network.outputs = {1};
  REQUIRE(is_quantized(network));
  REQUIRE_THROWS_WITH(raise(network), Catch::Contains("quantized already") && Catch::Contains("codes"));
  network.tensors = {floats({1, 2}), floats({1, 2})};
  network.operators[0].code = Code::kCustom;
  network.operators[0].custom = "Mine";
  REQUIRE_FALSE(is_quantized(network));
  try {
    raise(network);
    FAIL();
  } catch (const Error& error) {
    REQUIRE(error.place == "graph.operator[0] (Mine)");
  }
}
