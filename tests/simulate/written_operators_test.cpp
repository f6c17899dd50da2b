// SPDX-License-Identifier: Apache-2.0
// Integer operators that a file holds itself, in forms that no quantizer of ours writes, against ONNX Runtime 1.31.
#include "tests/simulate/builder.h"

using namespace tersor;
using namespace tersor::simulate;
using namespace tersor::test;

namespace {

Tensor codes(Shape shape, const std::vector<uint8_t>& values) {
  return Tensor::of<uint8_t>(std::move(shape), values);
}

struct Written {
  Builder built;
  std::vector<ValueId> inputs;

  void feed(Tensor tensor) {
    const ValueId id = built.graph().add_value("x" + std::to_string(inputs.size()), tensor.dtype());
    built.graph().inputs.push_back(id);
    built.feeds.push_back(std::move(tensor));
    inputs.push_back(id);
  }
  void constant(Tensor tensor) { inputs.push_back(built.constant(std::move(tensor))); }
  void grid(float scale, uint8_t zero_point) {
    constant(Tensor::scalar(scale));
    constant(codes(Shape{}, {zero_point}));
  }

  Tensor run(const char* type, Attributes attributes) {
    Node node;
    node.domain = "com.microsoft";
    node.op_type = type;
    node.inputs = inputs;
    node.outputs = {built.graph().add_unique_value("y")};
    node.attributes = std::move(attributes);
    built.graph().outputs = node.outputs;
    built.graph().append(std::move(node));
    built.model.opset_imports.push_back({"com.microsoft", 1});
    run::Runner runner(run::Program::compile(built.model, registry(Profile::kX64)));
    return runner.run(built.feeds)[0];
  }
};

/// Pools of channels last: from 0.02 (q - 128) to 0.015 (q - 120).
Tensor pooled(const char* type, Shape shape, Attributes attributes) {
  std::vector<uint8_t> x;
  for (int64_t k = 0; k < shape.elements(); ++k) x.push_back(static_cast<uint8_t>((k * 37 + 5) % 251));
  Written node;
  node.feed(codes(shape, x));
  node.grid(0.02f, 128);
  node.grid(0.015f, 120);
  attributes["channels_last"] = int64_t{1};
  return node.run(type, std::move(attributes));
}

}  // namespace

TEST_CASE("integer pools take channels last") {
  const Tensor whole = pooled("QLinearGlobalAveragePool", {1, 2, 3, 2}, {});
  REQUIRE(whole.shape() == Shape{1, 1, 1, 2});
  REQUIRE(whole.to_int64s() == std::vector<int64_t>{91, 85});
  Attributes window;
  window["kernel_shape"] = std::vector<int64_t>{2, 2};
  window["pads"] = std::vector<int64_t>{0, 0, 1, 1};
  const Tensor windows = pooled("QLinearAveragePool", {1, 3, 3, 2}, window);
  REQUIRE(windows.shape() == Shape{1, 3, 3, 2});
  REQUIRE(windows.to_int64s() ==
          std::vector<int64_t>{70, 35, 85, 134, 134, 183, 115, 80, 46, 95, 95, 145, 95, 145, 27, 76, 76, 125});
}

TEST_CASE("an integer pool that rounds up may be larger than the map") {
  Attributes window;
  window["kernel_shape"] = std::vector<int64_t>{3, 3};
  window["strides"] = std::vector<int64_t>{2, 2};
  window["ceil_mode"] = int64_t{1};
  const Tensor windows = pooled("QLinearAveragePool", {1, 2, 2, 2}, window);
  REQUIRE(windows.shape() == Shape{1, 1, 1, 2});
  REQUIRE(windows.to_int64s() == std::vector<int64_t>{104, 70});
}

TEST_CASE("QLinearWhere takes each place to the output's grid") {
  Tensor condition = Tensor::make(DType::kBool, Shape{2, 3});
  for (const size_t k : {0u, 2u, 5u}) condition.mutable_bytes()[k] = std::byte{1};
  Written node;
  node.feed(condition);
  node.feed(codes({2, 3}, {10, 20, 30, 40, 250, 3}));
  node.grid(0.02f, 128);
  node.feed(codes({3}, {100, 130, 250}));
  node.grid(0.05f, 120);
  node.grid(0.03f, 100);
  REQUIRE(node.run("QLinearWhere", {}).to_int64s() == std::vector<int64_t>{21, 117, 35, 67, 117, 17});
}

TEST_CASE("QGemm turns its first matrix") {
  for (const int64_t turned : {0, 1}) {
    Written node;
    node.feed(turned != 0 ? codes({3, 2}, {1, 40, 20, 5, 3, 60}) : codes({2, 3}, {1, 20, 3, 40, 5, 60}));
    node.grid(0.02f, 10);
    node.constant(Tensor::of<int8_t>(Shape{3, 2}, {1, -2, 3, 4, -5, 6}));
    node.constant(Tensor::scalar(0.01f));
    node.constant(Tensor::of<int8_t>(Shape{}, {0}));
    node.constant(Tensor::of<int32_t>(Shape{2}, {100, -50}));
    node.grid(0.005f, 100);
    Attributes attributes;
    attributes["transA"] = turned;
    REQUIRE(node.run("QGemm", attributes).to_int64s() == std::vector<int64_t>{106, 99, 95, 107});
  }
}
