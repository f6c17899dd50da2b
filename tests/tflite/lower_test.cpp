// SPDX-License-Identifier: Apache-2.0
#include "core/tflite/lower.h"

#include <cmath>

#include "core/base/error.h"
#include "core/ops/registry.h"
#include "core/run/program.h"
#include "core/tflite/integer_model.h"
#include "core/tflite/operators.h"
#include "tests/catch.h"
#include "tests/support/named_model.h"

using namespace tersor;
using namespace tersor::tflite;
using test::NamedModel;

namespace {

using Ints = std::vector<int64_t>;

/// A value quantized and restored, as files have it: v -> v.d.
NamedModel& quantized(NamedModel& model, const std::string& name, float scale, int8_t zero_point) {
  model.constant(name + ".s", Tensor::scalar(scale)).constant(name + ".z", Tensor::scalar<int8_t>(zero_point));
  model.node("QuantizeLinear", {name, name + ".s", name + ".z"}, {name + ".q"});
  return model.node("DequantizeLinear", {name + ".q", name + ".s", name + ".z"}, {name + ".d"});
}

/// An int8 weight of 1, 2, 3, ... with a scale for each of its first axis.
NamedModel& weight(NamedModel& model, const std::string& name, std::vector<int64_t> dims) {
  const Shape shape(dims);
  std::vector<int8_t> codes;
  for (int64_t k = 0; k < shape.elements(); ++k) codes.push_back(static_cast<int8_t>(k + 1));
  std::vector<float> scales(static_cast<size_t>(dims[0]), 0.5F);
  model.constant(name + ".q", Tensor::of<int8_t>(shape, std::span<const int8_t>(codes)));
  model.constant(name + ".s", Tensor::of<float>(Shape{dims[0]}, std::span<const float>(scales)));
  return model.node("DequantizeLinear", {name + ".q", name + ".s"}, {name}, {{"axis", int64_t{0}}});
}

std::string operators_of(const Network& network) {
  std::string text;
  for (const Operator& op : network.operators) text += (text.empty() ? "" : " ") + std::string(kind_of(op.code).name);
  return text;
}

const NetworkTensor& tensor_of(const Network& network, int32_t index) {
  return network.tensors[static_cast<size_t>(index)];
}

std::vector<int8_t> codes_of(const NetworkTensor& tensor) {
  const auto codes = tensor.data->data<int8_t>();
  return {codes.begin(), codes.end()};
}

NamedModel convolution(Ints pads, Ints strides = {2, 2}, int64_t size = 8) {
  NamedModel model;
  model.input("x", {1, 2, size, size});
  quantized(model, "x", 0.25F, 3);
  weight(model, "w", {3, 2, 3, 3});
  model.node("Conv", {"x.d", "w"}, {"y"}, {{"pads", pads}, {"strides", strides}});
  quantized(model, "y", 2.0F, -128).output("y.d");
  return model;
}

}  // namespace

TEST_CASE("a convolution takes pictures with their channels last, and its weights follow") {
  const Network network = lower(convolution({0, 0, 1, 1}).build());
  REQUIRE(operators_of(network) == "CONV_2D");
  CHECK(tensor_of(network, network.inputs[0]).shape == std::vector<int32_t>{1, 8, 8, 2});
  CHECK(tensor_of(network, network.outputs[0]).shape == std::vector<int32_t>{1, 4, 4, 3});
  CHECK(tensor_of(network, network.outputs[0]).quantization == Quantization{{2.0F}, {-128}, 0});
  const Operator& conv = network.operators[0];
  CHECK(conv.options.padding == kSame);
  CHECK(conv.options.stride_w == 2);
  const NetworkTensor& weights = tensor_of(network, conv.inputs[1]);
  CHECK(weights.shape == std::vector<int32_t>{3, 3, 3, 2});
  CHECK(codes_of(weights)[0] == 1);
  CHECK(codes_of(weights)[1] == 10);  // the second channel of the first tap
  CHECK(codes_of(weights)[2] == 2);
  CHECK(weights.quantization.scale == std::vector<float>(3, 0.5F));
  const NetworkTensor& bias = tensor_of(network, conv.inputs[2]);
  CHECK(bias.dtype == DType::kInt32);
  CHECK(bias.quantization.scale == std::vector<float>(3, 0.125F));
}

TEST_CASE("zeros that TensorFlow would put elsewhere become an operator of their own") {
  const Network shifted = lower(convolution({1, 1, 1, 1}).build());  // SAME has one behind and none before
  REQUIRE(operators_of(shifted) == "PAD CONV_2D");
  const auto pads = tensor_of(shifted, shifted.operators[0].inputs[1]).data->to_int64s();
  CHECK(pads == Ints{0, 0, 1, 0, 1, 0, 0, 0});  // the last row and column of ONNX's are never read
  CHECK(shifted.operators[1].options.padding == kValid);
  CHECK(operators_of(lower(convolution({1, 1, 1, 1}, {1, 1}).build())) == "CONV_2D");
  CHECK(operators_of(lower(convolution({0, 0, 0, 0}, {2, 2}).build())) == "CONV_2D");
  CHECK(operators_of(lower(convolution({1, 1, 1, 1}, {2, 2}, 9).build())) == "CONV_2D");
}

TEST_CASE("transposes around pictures vanish") {
  NamedModel model;
  model.input("x", {1, 8, 8, 2});
  quantized(model, "x", 0.25F, 3);
  model.node("Transpose", {"x.d"}, {"t"}, {{"perm", Ints{0, 3, 1, 2}}});
  quantized(model, "t", 0.25F, 3);
  weight(model, "w", {3, 2, 3, 3});
  model.node("Conv", {"t.d", "w"}, {"y"});
  quantized(model, "y", 2.0F, -128);
  model.node("Transpose", {"y.d"}, {"u"}, {{"perm", Ints{0, 2, 3, 1}}});
  quantized(model, "u", 2.0F, -128).output("u.d");
  const Network network = lower(model.build());
  CHECK(operators_of(network) == "CONV_2D");
  CHECK(tensor_of(network, network.outputs[0]).shape == std::vector<int32_t>{1, 6, 6, 3});
}

TEST_CASE("a dense layer behind a flattened picture takes its elements as they lie") {
  NamedModel model;
  model.input("x", {1, 2, 2, 3});
  quantized(model, "x", 0.25F, 3);
  model.node("Relu", {"x.d"}, {"r"});
  quantized(model, "r", 0.25F, -128);
  model.node("MaxPool", {"r.d"}, {"p"}, {{"kernel_shape", Ints{1, 1}}});
  quantized(model, "p", 0.25F, -128);
  model.node("Flatten", {"p.d"}, {"f"});
  quantized(model, "f", 0.25F, -128);
  weight(model, "w", {1, 12});
  model.node("Gemm", {"f.d", "w"}, {"y"}, {{"transB", int64_t{1}}});
  quantized(model, "y", 2.0F, 0).output("y.d");
  const Network network = lower(model.build());
  REQUIRE(operators_of(network) == "RELU MAX_POOL_2D RESHAPE FULLY_CONNECTED");
  const NetworkTensor& weights = tensor_of(network, network.operators[3].inputs[1]);
  CHECK(codes_of(weights) == std::vector<int8_t>{1, 7, 2, 8, 3, 9, 4, 10, 5, 11, 6, 12});
}

TEST_CASE("kernels with a range of their own are brought to the one that follows") {
  NamedModel model;
  model.input("x", {1, 4});
  quantized(model, "x", 0.25F, 3);
  model.node("Sigmoid", {"x.d"}, {"y"});
  quantized(model, "y", 0.01F, 0).output("y.d");
  const Network network = lower(model.build());
  REQUIRE(operators_of(network) == "LOGISTIC QUANTIZE");
  CHECK(tensor_of(network, network.operators[0].outputs[0]).quantization == Quantization{{1.0F / 256}, {-128}, 0});
}

TEST_CASE("what is not between integers stays in floats, between a restoring and a quantizing operator") {
  NamedModel model;
  model.input("x", {1, 4});
  quantized(model, "x", 0.25F, 3);
  model.node("Tanh", {"x.d"}, {"t"}).node("Relu", {"t"}, {"y"});
  quantized(model, "y", 0.01F, -128).output("y.d");
  CHECK(operators_of(lower(model.build())) == "DEQUANTIZE TANH RELU QUANTIZE");
}

TEST_CASE("weights of operators on floats become floats, or stay int8 behind an operator that restores them") {
  NamedModel model;
  model.input("x", {1, 2, 4, 4});
  weight(model, "w", {3, 2, 1, 1});
  const Model convolved = model.node("Conv", {"x", "w"}, {"y"}).output("y").build();
  CHECK(operators_of(lower(convolved)) == "CONV_2D");
  const Network network = lower(convolved, true);
  REQUIRE(operators_of(network) == "DEQUANTIZE CONV_2D");
  const NetworkTensor& kept = tensor_of(network, network.operators[0].inputs[0]);
  CHECK(codes_of(kept) == std::vector<int8_t>{1, 2, 3, 4, 5, 6});
  CHECK(kept.quantization == Quantization{{0.5F, 0.5F, 0.5F}, {0, 0, 0}, 0});
  CHECK(network.operators[1].inputs[1] == network.operators[0].outputs[0]);
}

TEST_CASE("an operator that TensorFlow Lite has not is named with its node") {
  NamedModel model;
  model.input("x", {1, 4}).node("Erf", {"x"}, {"y"}).output("y");
  try {
    lower(model.build());
    FAIL("nothing was refused");
  } catch (const Error& error) {
    CHECK(error.code == ErrorCode::kUnsupportedModel);
    CHECK(error.place == "graph.node[0] \"y_node\" (Erf)");
    CHECK(error.message.find("Erf") != std::string::npos);
  }
}

namespace {

/// Channels 2 to 3, over pictures of 3 x 3.
NamedModel transposed(int64_t kernel, Ints pads, Ints output_padding) {
  NamedModel model;
  model.input("x", {1, 2, 3, 3});
  quantized(model, "x", 0.25F, 3);
  const Shape shape{2, 3, kernel, kernel};
  std::vector<int8_t> codes;
  for (int64_t k = 0; k < shape.elements(); ++k) codes.push_back(static_cast<int8_t>(7 * k % 251 - 125));
  model.constant("w.q", Tensor::of<int8_t>(shape, std::span<const int8_t>(codes)));
  model.constant("w.s", Tensor::of<float>(Shape{3}, {0.5F, 0.25F, 0.125F}));
  model.node("DequantizeLinear", {"w.q", "w.s"}, {"w"}, {{"axis", int64_t{1}}});
  model.node("ConvTranspose", {"x.d", "w"}, {"y"},
             {{"pads", pads}, {"strides", Ints{2, 2}}, {"output_padding", output_padding}});
  quantized(model, "y", 2.0F, -3).output("y.d");
  return model;
}

NamedModel hard_sigmoid(float scale) {
  NamedModel model;
  model.input("x", {1, 3, 2, 5});
  quantized(model, "x", 0.0625F, -7);
  model.node("HardSigmoid", {"x.d"}, {"y"}, {{"alpha", 0.3F}});
  quantized(model, "y", scale, -128).output("y.d");
  return model;
}

Shape input_shape(const Model& model) {
  std::vector<int64_t> dims;
  for (const Dim& dim : *model.graph.value(model.graph.inputs[0]).shape) dims.push_back(dim.value);
  return Shape(dims);
}

/// The largest difference of what the lowered model gives from the quantized model in floats, in steps of the output.
float steps_apart(const Model& model, float scale) {
  const Model lowered = lowered_model(model);
  Tensor x = Tensor::make(DType::kFloat32, input_shape(model));
  float value = -7;
  for (float& one : x.mutable_data<float>()) one = value = value > 7 ? -7.1F : value + 0.37F;
  const std::vector<Tensor> inputs{x};
  const Tensor a = run::Runner(run::Program::compile(model, ops::standard())).run(inputs)[0];
  const Tensor b = run::Runner(run::Program::compile(lowered, ops::standard().with(operators()))).run(inputs)[0];
  REQUIRE(a.shape() == b.shape());
  float most = 0;
  for (size_t k = 0; k < a.data<float>().size(); ++k)
    most = std::max(most, std::abs(a.data<float>()[k] - b.data<float>()[k]) / scale);
  return most;
}

}  // namespace

TEST_CASE("a transposed convolution is cut where TensorFlow Lite would cut it elsewhere") {
  const Model plain = transposed(2, {0, 0, 0, 0}, {0, 0}).build();
  const Network network = lower(plain);
  REQUIRE(operators_of(network) == "TRANSPOSE_CONV");
  CHECK(network.operators[0].options.padding == kSame);
  const NetworkTensor& weights = tensor_of(network, network.operators[0].inputs[1]);
  CHECK(weights.shape == std::vector<int32_t>{3, 2, 2, 2});
  CHECK(weights.quantization.scale == std::vector<float>{0.5F, 0.25F, 0.125F});
  CHECK(steps_apart(plain, 2) <= 1.01F);
  const Model cut = transposed(3, {1, 1, 1, 1}, {1, 1}).build();
  const Network of_cut = lower(cut);
  REQUIRE(operators_of(of_cut) == "TRANSPOSE_CONV STRIDED_SLICE");
  CHECK(of_cut.operators[0].options.padding == kValid);
  CHECK(tensor_of(of_cut, of_cut.operators[0].outputs[0]).shape == std::vector<int32_t>{1, 7, 7, 3});
  CHECK(tensor_of(of_cut, of_cut.outputs[0]).shape == std::vector<int32_t>{1, 6, 6, 3});
  CHECK(steps_apart(cut, 2) <= 1.01F);
  const Model same = transposed(4, {1, 1, 1, 1}, {0, 0}).build();
  CHECK(operators_of(lower(same)) == "TRANSPOSE_CONV");
  CHECK(steps_apart(same, 2) <= 1.01F);
}

TEST_CASE("a HardSigmoid is a convolution that its grid bounds, or an operator more") {
  constexpr float kUnit = 1.0F / 255;
  CHECK(operators_of(lower(hard_sigmoid(kUnit).build())) == "DEPTHWISE_CONV_2D");
  CHECK(steps_apart(hard_sigmoid(kUnit).build(), kUnit) <= 1.01F);
  CHECK(operators_of(lower(hard_sigmoid(2 * kUnit).build())) == "DEPTHWISE_CONV_2D MINIMUM");
  CHECK(steps_apart(hard_sigmoid(2 * kUnit).build(), 2 * kUnit) <= 1.01F);
}

namespace {

/// Eight numbers in twelve steps, sixteen units.
NamedModel recurrent(Attribute direction = std::string("forward"), const std::string& cells = {}, float state = 0) {
  NamedModel model;
  model.input("x", {1, 12, 8});
  quantized(model, "x", 0.05F, 3);
  model.node("Transpose", {"x.d"}, {"t"}, {{"perm", Ints{1, 0, 2}}});
  quantized(model, "t", 0.05F, 3);
  model.weight("w", {1, 64, 8}, -0.3F, 0.3F).weight("r", {1, 64, 16}, -0.3F, 0.3F).weight("b", {1, 128});
  model.constant("h", Tensor::of<float>(Shape{1, 1, 16}, std::span<const float>(std::vector<float>(16, state))));
  model.node("LSTM", {"t.d", "w", "r", "b", "", "h", "h"}, {"y", "last", cells},
             {{"hidden_size", int64_t{16}}, {"direction", direction}});
  quantized(model, "y", 0.0078125F, 0);
  model.constant("axis", Tensor::of<int64_t>({1}, Ints{1}));
  model.node("Squeeze", {"y.d", "axis"}, {"s"});
  quantized(model, "s", 0.0078125F, 0).output("s.d");
  quantized(model, "last", 0.006F, -5).output("last.d");
  if (!cells.empty()) model.output(cells);
  return model;
}

}  // namespace

TEST_CASE("an LSTM is one operator, in the order in which its sequences lie, and the last state is cut out of it") {
  const Network network = lower(recurrent().build());
  REQUIRE(operators_of(network) == "UNIDIRECTIONAL_SEQUENCE_LSTM STRIDED_SLICE QUANTIZE RESHAPE");
  const Operator& lstm = network.operators[0];
  CHECK(lstm.options.time_major == 0);
  CHECK(lstm.intermediates.size() == 5);
  CHECK(tensor_of(network, lstm.outputs[0]).shape == std::vector<int32_t>{1, 12, 16});
  const NetworkTensor &state = tensor_of(network, lstm.inputs[18]), &cell = tensor_of(network, lstm.inputs[19]);
  CHECK((state.is_variable && cell.is_variable));
  CHECK(state.quantization == tensor_of(network, lstm.outputs[0]).quantization);
  CHECK(cell.dtype == DType::kInt16);
  CHECK(cell.quantization == Quantization{{0.00048828125F}, {0}, 0});  // twelve steps of less than 1 may pass 8
  CHECK(steps_apart(recurrent().build(), 0.0078125F) < 4);
}

TEST_CASE("an LSTM that TensorFlow Lite has not is refused with what it has") {
  const auto refused = [](const NamedModel& model) -> std::string {
    try {
      lower(model.build());
    } catch (const Error& error) {
      return error.message;
    }
    return {};
  };
  CHECK(refused(recurrent()).empty());
  CHECK(refused(recurrent(std::string("reverse"))).find("direction forward") != std::string::npos);
}

TEST_CASE("an LSTM whose state comes from outside or is given out is written step by step") {
  for (const char* cells : {"", "cells"})
    for (const float state : {0.0F, 0.5F}) {
      if (cells[0] == '\0' && state == 0) continue;
      INFO(cells << " " << state);
      const NamedModel model = recurrent(std::string("forward"), cells, state);
      const Network network = lower(model.build());
      CHECK(operators_of(network).find("SEQUENCE") == std::string::npos);
      for (const NetworkTensor& tensor : network.tensors) CHECK(!tensor.is_variable);
      CHECK(steps_apart(model.build(), 0.0078125F) <= 2);
    }
}
