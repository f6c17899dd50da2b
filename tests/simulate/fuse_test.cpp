// SPDX-License-Identifier: Apache-2.0
#include <functional>
#include <limits>
#include <set>
#include <string_view>

#include "core/simulate/program.h"
#include "tests/simulate/builder.h"

using namespace tersor;
using namespace tersor::simulate;
using namespace tersor::test;

namespace {

constexpr int64_t kChannels = 3, kSide = 4;

Tensor picture() {
  Tensor x = Tensor::make(DType::kFloat32, {1, kChannels, kSide, kSide});
  for (size_t k = 0; k < x.mutable_data<float>().size(); ++k)
    x.mutable_data<float>()[k] = static_cast<float>(k * 37 % 101) * 0.1f;
  return x;
}

/// Quantized tensor and its DequantizeLinear.
struct Quantized {
  ValueId raw, real;
};

struct Net : Builder {
  Net() {
    const ValueId x = graph().add_value("x", DType::kFloat32);
    graph().inputs = {x};
    feeds = {picture()};
  }
  ValueId scale(float value) { return constant(Tensor::scalar(value)); }
  Tensor zero(DType type, int value) {
    Tensor tensor = Tensor::make(type, {});
    tensor.mutable_bytes()[0] = static_cast<std::byte>(value);
    return tensor;
  }
  Quantized quantize(ValueId of, float step, DType type, int zero_point) {
    const ValueId s = scale(step), z = constant(zero(type, zero_point));
    const ValueId raw = node("QuantizeLinear", {of, s, z});
    return {raw, node("DequantizeLinear", {raw, s, z})};
  }
  ValueId dequantize_again(const Quantized& of, float step, DType type, int zero_point) {
    return node("DequantizeLinear", {of.raw, scale(step), constant(zero(type, zero_point))});
  }
  /// A convolution of every channel with int8 weights of this size.
  ValueId conv(ValueId x, int weight, const char* name) {
    Tensor w = Tensor::make(DType::kInt8, {2, kChannels, 3, 3});
    for (std::byte& byte : w.mutable_bytes()) byte = static_cast<std::byte>(weight);
    const ValueId y = node(
        "Conv", {x, node("DequantizeLinear", {constant(std::move(w)), scale(0.01f), constant(zero(DType::kInt8, 0))})});
    graph().nodes().back().name = name;
    return y;
  }
};

std::string message_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    REQUIRE((error.code == ErrorCode::kInvalidModel || error.code == ErrorCode::kUnsupportedModel));
    return error.message;
  }
  return "";
}

}  // namespace

TEST_CASE("an int8 tensor with two readers keeps its convolution in float off ARM, and is named") {
  Net net;
  const Quantized x = net.quantize(net.graph().inputs[0], 0.1f, DType::kInt8, -128);
  const Quantized first = net.quantize(net.conv(x.real, 20, "first"), 0.3f, DType::kInt8, 3);
  const ValueId other = net.node("Relu", {net.dequantize_again(x, 0.1f, DType::kInt8, -128)});
  net.graph().outputs = {first.real, other};
  const std::string name = net.graph().name_of(x.raw);
  for (Profile profile : {Profile::kX64, Profile::kWasm, Profile::kAvx2}) {
    const FusedModel fused = fuse(net.model, profile);
    REQUIRE(fused.integer_nodes.empty());
    REQUIRE(fused.float_islands.size() == 2);
    REQUIRE(fused.float_islands[0].node == "first");
    REQUIRE(fused.float_islands[0].reason.find("\"" + name + "\" has several readers") != std::string::npos);
  }
  REQUIRE(fuse(net.model, Profile::kArm64).integer_nodes == std::vector<std::string>{"first"});
}

TEST_CASE("a quantizer goes up through a MaxPool to the convolution before it, unless something else reads that") {
  const auto integer_nodes = [](bool read_twice) {
    Net net;
    const Quantized x = net.quantize(net.graph().inputs[0], 0.1f, DType::kUint8, 0);
    const ValueId y = net.node("Relu", {net.conv(x.real, 20, "conv")});
    const ValueId largest = net.node("MaxPool", {y});
    net.graph().nodes().back().attributes["kernel_shape"] = std::vector<int64_t>{2, 2};
    net.graph().outputs = {net.quantize(largest, 0.3f, DType::kUint8, 0).real};
    if (read_twice) net.graph().outputs.push_back(net.node("Exp", {y}));
    const FusedModel fused = fuse(net.model, Profile::kX64);
    run::Runner runner(run::Program::compile(fused.model, registry(Profile::kX64)));
    const Tensor integers = runner.run(net.feeds)[0];
    const Tensor floats = run::Runner(run::Program::compile(net.model, ops::standard())).run(net.feeds)[0];
    REQUIRE(integers.to_doubles() == floats.to_doubles());
    return fused.integer_nodes;
  };
  REQUIRE(integer_nodes(false) == std::vector<std::string>{"conv"});
  REQUIRE(integer_nodes(true).empty());
}

TEST_CASE("scales, zero points and weights may be nodes Constant, or made of constants") {
  Net net;
  const Quantized x = net.quantize(net.graph().inputs[0], 0.1f, DType::kUint8, 0);
  net.graph().outputs = {net.quantize(net.conv(x.real, 20, "conv"), 0.3f, DType::kUint8, 0).real};
  Model other = net.model;
  Graph& graph = other.graph;
  const auto initializers = graph.initializers();
  for (const auto& [id, tensor] : initializers) {
    Node made;
    made.outputs = {id};
    graph.erase_initializer(id);
    if (tensor.elements() == 1) {
      made.op_type = "Constant";
      made.attributes["value"] = tensor;
    } else {
      Tensor real = Tensor::make(DType::kFloat32, tensor.shape());
      for (float& number : real.mutable_data<float>()) number = 0.01f * static_cast<float>(tensor.to_int64s()[0]);
      made.op_type = "QuantizeLinear";
      made.inputs = {graph.add_initializer("real", std::move(real)),
                     graph.add_initializer("step", Tensor::scalar(0.01f)),
                     graph.add_initializer("zero", net.zero(DType::kInt8, 0))};
    }
    graph.insert(0, std::move(made));
  }
  const FusedModel fused = fuse(other, Profile::kX64);
  REQUIRE(fused.integer_nodes == std::vector<std::string>{"conv"});
  const auto result_of = [&](const Model& model) {
    return run::Runner(compile(model, Profile::kX64)).run(net.feeds)[0].to_doubles();
  };
  REQUIRE(result_of(other) == result_of(net.model));
}

TEST_CASE("quantizers after one another go up past each other's operators") {
  Net net;
  const Quantized x = net.quantize(net.graph().inputs[0], 0.1f, DType::kUint8, 0);
  const ValueId first = net.conv(x.real, 20, "first"), second = net.conv(x.real, 30, "second");
  const auto turned = [&](ValueId of) { return net.node("Transpose", {of}); };
  const ValueId twice = turned(turned(first)), once = turned(second);
  const ValueId of_second = net.quantize(once, 0.3f, DType::kUint8, 0).real;
  net.graph().outputs = {of_second, net.quantize(twice, 0.3f, DType::kUint8, 0).real};
  auto& nodes = net.graph().nodes();
  std::swap(nodes[nodes.size() - 3], nodes[nodes.size() - 2]);  // both quantizers, then both DequantizeLinear
  REQUIRE(fuse(net.model, Profile::kX64).integer_nodes == std::vector<std::string>{"first", "second"});
}

TEST_CASE("without VNNI sums say how many of them saturate; weights of 7 bits never do") {
  const auto counts_of = [](int weight, Profile profile, bool asked = false) {
    Net net;
    const Quantized x = net.quantize(net.graph().inputs[0], 0.04f, DType::kUint8, 0);
    net.graph().outputs = {net.quantize(net.conv(x.real, weight, "conv"), 0.5f, DType::kUint8, 7).real};
    const FusedModel fused = fuse(net.model, profile, asked);
    REQUIRE(fused.integer_nodes == std::vector<std::string>{"conv"});
    run::ProgramOptions options;
    for (const Saturation& one : fused.saturations) {
      REQUIRE((one.node == "conv" && one.op == "Conv"));
      options.fetched.push_back(one.counts);
    }
    run::Runner runner(run::Program::compile(fused.model, registry(profile), options));
    const std::vector<Tensor> results = runner.run(net.feeds);
    return results.size() == 1 ? std::vector<int64_t>{} : results[1].to_int64s();
  };
  REQUIRE(counts_of(127, Profile::kX64).empty());
  const std::vector<int64_t> wide = counts_of(127, Profile::kAvx2);
  REQUIRE(wide[1] == 2 * 2 * 2);  // values of the output
  REQUIRE(wide[0] == wide[1]);
  REQUIRE(counts_of(127, Profile::kX64, true) == wide);  // would, without VNNI
  for (int weight : {63, -64}) REQUIRE(counts_of(weight, Profile::kAvx2) == std::vector<int64_t>{0, 8});
}

TEST_CASE("quantized files with parameters that cannot be right are refused with a sentence") {
  const float inf = std::numeric_limits<float>::infinity();
  for (float step : {0.0f, -1.0f, std::numeric_limits<float>::quiet_NaN(), inf})
    for (const char* op : {"QuantizeLinear", "QLinearSigmoid", "QLinearMatMul"}) {
      const std::string message = message_of([&] {
        Net net;
        net.model.opset_imports.push_back({"com.microsoft", 1});
        const ValueId s = net.scale(step), z = net.constant(net.zero(DType::kUint8, 0));
        const ValueId good = net.node("QuantizeLinear", {net.graph().inputs[0], net.scale(0.1f), z});
        std::vector<ValueId> inputs = {net.graph().inputs[0], s, z};
        if (std::string(op) == "QLinearSigmoid") inputs = {good, s, z, s, z};
        if (std::string(op) == "QLinearMatMul") inputs = {good, s, z, good, s, z, s, z};
        net.graph().outputs = {net.node(op, inputs)};
        if (std::string(op) == "QLinearSigmoid") net.graph().nodes().back().domain = "com.microsoft";
        run::Runner runner(run::Program::compile(fuse(net.model, Profile::kX64).model, registry(Profile::kX64)));
        runner.run(net.feeds);
      });
      CAPTURE(op, step, message);
      REQUIRE(message.find("scale") != std::string::npos);
    }
  struct Case {
    const char* what;
    Tensor scale, zero_point;
    int64_t axis;
  };
  const std::vector<Case> cases = {
      {"zero point of another type", Tensor::scalar(0.1f), Tensor::scalar(int8_t{0}), 1},
      {"two scales for three channels", Tensor::of<float>({2}, {0.1f, 0.2f}), Tensor::of<uint8_t>({2}, {0, 0}), 1},
      {"another number of zero points", Tensor::of<float>({3}, {0.1f, 0.2f, 0.3f}), Tensor::of<uint8_t>({2}, {0, 0}),
       1},
      {"an axis that is not there", Tensor::of<float>({3}, {0.1f, 0.2f, 0.3f}), Tensor::of<uint8_t>({3}, {0, 0, 0}),
       9}};
  for (const Case& one : cases) {
    CAPTURE(one.what);
    REQUIRE_FALSE(
        message_of([&] {
          Net net;
          const ValueId raw = net.node(
              "QuantizeLinear", {net.graph().inputs[0], net.scale(0.1f), net.constant(net.zero(DType::kUint8, 0))});
          Attributes attributes;
          attributes["axis"] = one.axis;
          net.graph().outputs = {
              net.node("DequantizeLinear", {raw, net.constant(one.scale), net.constant(one.zero_point)}, attributes)};
          run::Runner runner(run::Program::compile(fuse(net.model, Profile::kX64).model, registry(Profile::kX64)));
          runner.run(net.feeds);
        }).empty());
  }
}

TEST_CASE("integer operators with inputs missing are refused with a sentence") {
  const std::set<std::string_view> unary = {"DynamicQuantizeLinear", "Gelu", "FastGelu", "QuickGelu"};
  for (const ops::Op* op : registry(Profile::kX64).ops()) {
    const bool here = op->domain == "com.microsoft" || op->type.substr(0, 7) == "QLinear" ||
                      op->type == "ConvInteger" || op->type == "MatMulInteger" || op->type == "DynamicQuantizeLinear";
    if (!here) continue;
    for (size_t count = 0; count < 10; ++count)
      for (size_t absent = 0; absent <= count; ++absent) {
        Net net;
        net.model.opset_imports.push_back({"com.microsoft", 1});
        std::vector<ValueId> inputs(count, net.graph().inputs[0]);
        if (absent < count) inputs[absent] = ValueId{};
        const ValueId y = net.node(std::string(op->type), inputs);
        net.graph().nodes().back().domain = op->domain;
        net.graph().outputs = {y};
        CAPTURE(op->type, count, absent);
        const bool has_bias = op->type == "FastGelu" && count == 2;  // or may have
        const bool right = unary.count(op->type) != 0 && absent == 1 && (count == 1 || has_bias);
        REQUIRE(message_of([&] {
                  run::Runner runner(run::Program::compile(net.model, registry(Profile::kX64)));
                  runner.run(net.feeds);
                }).empty() == right);
      }
  }
}
