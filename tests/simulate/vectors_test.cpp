// SPDX-License-Identifier: Apache-2.0
// Every case of the runtimes' outputs that is a QDQ group: the group is built as a graph, fused, and run by the
// interpreter.
#include "core/run/program.h"
#include "core/simulate/fuse.h"
#include "core/simulate/operators.h"
#include "tests/simulate/vectors.h"

using namespace tersor;
using namespace tersor::simulate;
using namespace tersor::test;

namespace {

DType type_of(const std::string& word) {
  if (word == "uint8" || word == "u8") return DType::kUint8;
  if (word == "int8" || word == "s8") return DType::kInt8;
  return word == "bool" ? DType::kBool : DType::kFloat32;
}

Shape shape_of(const Json& json) {
  return Shape(json.get<std::vector<int64_t>>());
}

Tensor bytes_tensor(DType type, Shape shape, const Json& data) {
  Tensor tensor = Tensor::make(type, std::move(shape));
  const auto raw = raw_of(data);
  std::memcpy(tensor.mutable_bytes().data(), raw.data(), raw.size());
  return tensor;
}

Tensor floats_tensor(Shape shape, const Json& data) {
  return Tensor::of<float>(std::move(shape), floats_of(data));
}

/// A number or a list of numbers, as a scalar or a vector.
Tensor scale_tensor(const Json& json) {
  return json.is_array() ? floats_tensor({static_cast<int64_t>(json.size())}, json) : Tensor::scalar(number_of(json));
}

struct Builder {
  Model model;
  std::vector<Tensor> feeds;

  Builder() { model.opset_imports = {{"", 17}}; }
  Graph& graph() { return model.graph; }

  ValueId feed(const std::string& name, const Json& input) {
    const DType type = type_of(input["type"]);
    const ValueId id = graph().add_value(name, type);
    graph().inputs.push_back(id);
    feeds.push_back(type == DType::kFloat32 ? floats_tensor(shape_of(input["shape"]), input["data"])
                                            : bytes_tensor(type, shape_of(input["shape"]), input["data"]));
    return id;
  }
  ValueId constant(Tensor tensor) { return graph().add_initializer("constant", std::move(tensor)); }

  ValueId node(std::string type, std::vector<ValueId> inputs, Attributes attributes = {}) {
    Node made;
    made.op_type = std::move(type);
    made.inputs = std::move(inputs);
    const ValueId out = graph().add_unique_value("t");
    made.outputs = {out};
    made.attributes = std::move(attributes);
    graph().append(std::move(made));
    return out;
  }

  Tensor zero_point(const Json& zero, DType type, int64_t count) {
    Tensor tensor = Tensor::make(type, count < 0 ? Shape{} : Shape{count});
    for (std::byte& byte : tensor.mutable_bytes()) byte = static_cast<std::byte>(zero.get<int>());
    return tensor;
  }
  /// DequantizeLinear or QuantizeLinear with the parameters `prefix`_scale and `prefix`_zp.
  ValueId with_parameters(const char* op, ValueId id, const Json& params, const std::string& prefix, DType type,
                          int64_t axis = 1) {
    const Json& scale = params[prefix + "_scale"];
    const int64_t count = scale.is_array() ? static_cast<int64_t>(scale.size()) : -1;
    Attributes attributes;
    if (count >= 0) attributes["axis"] = axis;
    return node(op, {id, constant(scale_tensor(scale)), constant(zero_point(params[prefix + "_zp"], type, count))},
                attributes);
  }
  ValueId int32_bias(const Json& params, const std::string& x, const std::string& w) {
    const Json& bias = params["bias_int32"];
    const auto values = bias.get<std::vector<int32_t>>();
    const float sx = number_of(params[x + "_scale"]);
    std::vector<float> scales;
    for (size_t c = 0; c < values.size(); ++c) {
      const Json& sw = params[w + "_scale"];
      scales.push_back(sx * number_of(sw.is_array() ? sw[c] : sw));
    }
    const auto count = static_cast<int64_t>(values.size());
    Attributes attributes;
    attributes["axis"] = int64_t{0};
    return node("DequantizeLinear",
                {constant(Tensor::of<int32_t>({count}, values)), constant(Tensor::of<float>({count}, scales))},
                attributes);
  }

  /// Runs it fused; the expected operator must have come of it.
  Tensor run(ValueId output, Profile profile, const std::string& expected_operator) {
    graph().outputs = {output};
    const FusedModel fused = fuse(model, profile);
    bool found = false;
    for (const Node& one : fused.model.graph.nodes()) found = found || one.op_type == expected_operator;
    REQUIRE(found);
    run::Runner runner(run::Program::compile(fused.model, registry(profile)));
    return runner.run(feeds)[0];
  }
};

void check(const Tensor& got, const Json& one, Profile profile) {
  CAPTURE(key_of(profile), to_text(one["params"], false), one.value("note", ""));
  REQUIRE(got.shape() == shape_of(one["output"]["shape"]));
  if (got.dtype() == DType::kFloat32) {
    const auto values = got.data<float>();
    REQUIRE(std::vector<float>(values.begin(), values.end()) == floats_of(expected(one, profile)));
    return;
  }
  std::vector<uint8_t> raw(got.bytes().size());
  std::memcpy(raw.data(), got.bytes().data(), raw.size());
  REQUIRE(raw == raw_of(expected(one, profile)));
}

constexpr Profile kProfiles[] = {Profile::kX64, Profile::kWasm, Profile::kArm64};

Attributes copied(const Json& params, std::initializer_list<const char*> keys) {
  Attributes attributes;
  for (const char* key : keys) {
    if (!params.contains(key)) continue;
    if (params[key].is_array())
      attributes[key] = params[key].get<std::vector<int64_t>>();
    else
      attributes[key] = params[key].get<int64_t>();
  }
  return attributes;
}

}  // namespace

TEST_CASE("QLinearConv gives the runtimes' bytes through fusion") {
  for (const Json& one : vector_cases("QLinearConv"))
    for (Profile profile : kProfiles) {
      Builder b;
      const Json& params = one["params"];
      const DType type = type_of(params["dtype"]);
      const ValueId x = b.with_parameters("DequantizeLinear", b.feed("x", one["inputs"]["x"]), params, "x", type);
      const DType weight_type = type_of(params["w_type"]);
      const ValueId weight = b.constant(bytes_tensor(weight_type, shape_of(params["w_shape"]), params["w"]));
      std::vector<ValueId> inputs = {x, b.with_parameters("DequantizeLinear", weight, params, "w", weight_type, 0)};
      if (params.contains("bias_int32")) inputs.push_back(b.int32_bias(params, "x", "w"));
      if (params.contains("bias_float")) inputs.push_back(b.constant(scale_tensor(params["bias_float"])));
      const ValueId y =
          b.node("Conv", inputs, copied(params, {"strides", "pads", "dilations", "group", "kernel_shape"}));
      check(b.run(b.with_parameters("QuantizeLinear", y, params, "y", type), profile, "QLinearConv"), one, profile);
    }
}

TEST_CASE("matrix products give the runtimes' values through fusion") {
  for (const char* kernel : {"QLinearMatMul", "QGemm int8", "MatMulIntegerToFloat", "QGemm float"})
    for (const Json& one : vector_cases(kernel))
      for (Profile profile : kProfiles) {
        Builder b;
        const Json& params = one["params"];
        const bool gemm = std::string(kernel).rfind("QGemm", 0) == 0, quantizes = params.contains("y_scale");
        const ValueId a =
            b.with_parameters("DequantizeLinear", b.feed("a", one["inputs"]["a"]), params, "a", DType::kUint8);
        const DType weight_type = type_of(params["b_type"]);
        const ValueId weight = b.constant(bytes_tensor(weight_type, shape_of(params["b_shape"]), params["b"]));
        const ValueId w = b.with_parameters("DequantizeLinear", weight, params, "b", weight_type, gemm ? 0 : 1);
        ValueId y = gemm ? b.node("Gemm", {a, w, b.int32_bias(params, "a", "b")}, copied(params, {"transB"}))
                         : b.node("MatMul", {a, w});
        if (quantizes) y = b.with_parameters("QuantizeLinear", y, params, "y", DType::kUint8);
        check(b.run(y, profile, one["fused_to"]), one, profile);
      }
}

TEST_CASE("addition and multiplication give each runtime's bytes through fusion, broadcasts included") {
  for (const char* kernel : {"QLinearAdd", "QLinearMul"})
    for (const Json& one : vector_cases(kernel))
      for (Profile profile : kProfiles) {
        Builder b;
        const Json& params = one["params"];
        const DType type = type_of(params["dtype"]);
        const ValueId left = b.with_parameters("DequantizeLinear", b.feed("a", one["inputs"]["a"]), params, "a", type);
        const ValueId right = b.with_parameters("DequantizeLinear", b.feed("b", one["inputs"]["b"]), params, "b", type);
        const ValueId y = b.node(std::string(kernel) == "QLinearAdd" ? "Add" : "Mul", {left, right});
        check(b.run(b.with_parameters("QuantizeLinear", y, params, "y", type), profile, kernel), one, profile);
      }
}

TEST_CASE("pooling, softmax and concatenation give the runtimes' bytes through fusion") {
  struct Case {
    const char *kernel, *op;
    std::initializer_list<const char*> attributes;
  };
  const std::initializer_list<const char*> window = {"kernel_shape", "strides", "pads", "count_include_pad"};
  for (const Case& of :
       {Case{"QLinearAveragePool", "AveragePool", window}, Case{"QLinearGlobalAveragePool", "GlobalAveragePool", {}},
        Case{"MaxPool", "MaxPool", window}, Case{"QLinearSoftmax", "Softmax", {"axis"}},
        Case{"QLinearSigmoid", "Sigmoid", {}}, Case{"QLinearLeakyRelu", "LeakyRelu", {}}})
    for (const Json& one : vector_cases(of.kernel))
      for (Profile profile : kProfiles) {
        Builder b;
        const Json& params = one["params"];
        const DType type = type_of(params["dtype"]);
        const ValueId x = b.with_parameters("DequantizeLinear", b.feed("a", one["inputs"]["a"]), params, "x", type);
        Attributes attributes = copied(params, of.attributes);
        if (params.contains("alpha")) attributes["alpha"] = number_of(params["alpha"]);
        const ValueId y = b.node(of.op, {x}, attributes);
        check(b.run(b.with_parameters("QuantizeLinear", y, params, "y", type), profile, of.kernel), one, profile);
      }
  for (const Json& one : vector_cases("QLinearConcat")) {
    Builder b;
    const Json& params = one["params"];
    const DType type = type_of(params["dtype"]);
    std::vector<ValueId> parts;
    for (const char* name : {"x0", "x1", "x2"})
      parts.push_back(b.with_parameters("DequantizeLinear", b.feed(name, one["inputs"][name]), params, name, type));
    const ValueId y = b.node("Concat", parts, copied(params, {"axis"}));
    check(b.run(b.with_parameters("QuantizeLinear", y, params, "y", type), Profile::kX64, "QLinearConcat"), one,
          Profile::kX64);
  }
}

TEST_CASE("an int8 tensor becomes uint8 off ARM, and stays float there when it has two readers") {
  for (const Json& one : vector_cases("s8 model Add"))
    for (Profile profile : kProfiles) {
      Builder b;
      const Json& params = one["params"];
      const auto through = [&](ValueId id, const std::string& prefix) {
        const ValueId raw = b.with_parameters("QuantizeLinear", id, params, prefix, DType::kInt8);
        return std::make_pair(raw, b.with_parameters("DequantizeLinear", raw, params, prefix, DType::kInt8));
      };
      const auto left = through(b.feed("a", one["inputs"]["a"]), "a"),
                 right = through(b.feed("b", one["inputs"]["b"]), "b");
      const bool second_reader = one.value("note", "").find("second consumer") != std::string::npos;
      const auto sum = through(b.node("Add", {left.second, right.second}), "y");
      if (second_reader) {
        const ValueId other = b.with_parameters("DequantizeLinear", left.first, params, "a", DType::kInt8);
        const ValueId another = b.with_parameters("DequantizeLinear", right.first, params, "b", DType::kInt8);
        b.graph().outputs = {b.node("Mul", {other, another})};
      }
      const bool integer = profile == Profile::kArm64 || !second_reader;
      check(b.run(sum.second, profile, integer ? "QLinearAdd" : "Add"), one, profile);
    }
}
