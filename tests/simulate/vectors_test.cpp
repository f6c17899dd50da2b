// SPDX-License-Identifier: Apache-2.0
// Every case of the runtimes' outputs that is a QDQ group: the group is built as a graph, fused, and run by the
// interpreter.
#include "tests/simulate/builder.h"

using namespace tersor;
using namespace tersor::simulate;
using namespace tersor::test;

TEST_CASE("QLinearConv gives the runtimes' bytes through fusion") {
  for (const Json& one : vector_cases("QLinearConv"))
    for (Profile profile : kAllProfiles) {
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
      for (Profile profile : kAllProfiles) {
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
      for (Profile profile : kAllProfiles) {
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
      for (Profile profile : kAllProfiles) {
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
    for (Profile profile : kAllProfiles) {
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
