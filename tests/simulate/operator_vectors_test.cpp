// SPDX-License-Identifier: Apache-2.0
// The runtimes' outputs for operators that are quantized by themselves, not as a group.
#include <cmath>

#include "tests/simulate/builder.h"

using namespace tersor;
using namespace tersor::simulate;
using namespace tersor::test;

namespace {

Tensor of_type(DType type, const Json& values, Shape shape) {
  Tensor tensor = Tensor::make(type, std::move(shape));
  for (size_t k = 0; k < values.size(); ++k) {
    const auto value = values[k].get<int32_t>();
    std::memcpy(tensor.mutable_bytes().data() + k * static_cast<size_t>(bits_of(type)) / 8, &value,
                static_cast<size_t>(bits_of(type)) / 8);
  }
  return tensor;
}

DType integer_of(const std::string& word) {
  if (word == "u16") return DType::kUint16;
  if (word == "s16") return DType::kInt16;
  return type_of(word);
}

Tensor output_of(const Model& model, const std::vector<Tensor>& feeds, Profile profile) {
  run::Runner runner(run::Program::compile(fuse(model, profile).model, registry(profile)));
  return runner.run(feeds)[0];
}

void check_numbers(const Tensor& got, const Json& one, Profile profile) {
  CAPTURE(key_of(profile), to_text(one["params"], false));
  REQUIRE(got.shape() == shape_of(one["output"]["shape"]));
  REQUIRE(got.to_int64s() == expected(one, profile).get<std::vector<int64_t>>());
}

}  // namespace

TEST_CASE("QuantizeLinear and DequantizeLinear of 8 and 16 bits give the runtimes' values") {
  for (const char* kernel : {"QuantizeLinear", "QuantizeLinear per axis"})
    for (const Json& one : vector_cases(kernel)) {
      Builder b;
      b.model.opset_imports = {{"", 21}};
      const Json& params = one["params"];
      const DType type = integer_of(params["dtype"]);
      const bool per_axis = params.contains("axis");
      const Json &scale = params[per_axis ? "scale" : "y_scale"], &zero = params[per_axis ? "zp" : "y_zp"];
      const Shape shape = per_axis ? Shape{static_cast<int64_t>(scale.size())} : Shape{};
      const ValueId x = b.feed("x", one["inputs"]["x"]);
      b.graph().outputs = {b.node(
          "QuantizeLinear",
          {x, b.constant(scale_tensor(scale)), b.constant(of_type(type, per_axis ? zero : Json::array({zero}), shape))},
          copied(params, {"axis"}))};
      for (Profile profile : kAllProfiles) check_numbers(output_of(b.model, b.feeds, profile), one, profile);
    }
  for (const Json& one : vector_cases("DequantizeLinear")) {
    Builder b;
    b.model.opset_imports = {{"", 21}};
    const Json& params = one["params"];
    const DType type = integer_of(params["dtype"]);
    const Json& input = one["inputs"]["x"];
    const ValueId x = b.graph().add_value("x", type);
    b.graph().inputs = {x};
    b.feeds = {of_type(type, input["data"], shape_of(input["shape"]))};
    b.graph().outputs = {
        b.node("DequantizeLinear", {x, b.constant(scale_tensor(params["x_scale"])),
                                    b.constant(of_type(type, Json::array({params["x_zp"]}), Shape{}))})};
    for (Profile profile : kAllProfiles) check(output_of(b.model, b.feeds, profile), one, profile);
  }
}

TEST_CASE("DynamicQuantizeLinear gives the runtimes' codes, scale and zero point") {
  for (size_t k = 0;
       const char* kernel : {"DynamicQuantizeLinear y", "DynamicQuantizeLinear scale", "DynamicQuantizeLinear zp"}) {
    for (const Json& one : vector_cases(kernel)) {
      Builder b;
      b.node("DynamicQuantizeLinear", {b.feed("x", one["inputs"]["x"])});
      Node& node = b.graph().nodes()[0];
      while (node.outputs.size() < 3) node.outputs.push_back(b.graph().add_unique_value("more"));
      b.graph().outputs = {node.outputs[k]};
      for (Profile profile : kAllProfiles) check(output_of(b.model, b.feeds, profile), one, profile);
    }
    ++k;
  }
}

TEST_CASE("MatMulInteger and ConvInteger give each runtime's sums, constant or not") {
  for (const char* kernel : {"MatMulInteger", "ConvInteger"})
    for (const Json& one : vector_cases(kernel))
      for (bool constant : {true, false})
        for (Profile profile : kAllProfiles) {
          Builder b;
          const Json& params = one["params"];
          const bool conv = std::string(kernel) == "ConvInteger";
          const DType type = type_of(params.value(conv ? "w_type" : "b_type", "u8"));
          const std::string w = conv ? "w" : "b";
          const ValueId x = b.feed(conv ? "x" : "a", one["inputs"][conv ? "x" : "a"]);
          const auto parameter = [&](const std::string& name, Tensor tensor) {
            if (constant) return b.constant(std::move(tensor));
            const ValueId id = b.graph().add_value(name, tensor.dtype());
            b.graph().inputs.push_back(id);
            b.feeds.push_back(std::move(tensor));
            return id;
          };
          const ValueId weight = parameter("weight", bytes_tensor(type, shape_of(params[w + "_shape"]), params[w]));
          const ValueId x_zero =
              parameter("x_zero", of_type(DType::kUint8, Json::array({params[conv ? "x_zp" : "a_zp"]}), {}));
          const ValueId w_zero = parameter("w_zero", of_type(type, Json::array({params[w + "_zp"]}), {}));
          b.graph().outputs = {b.node(kernel, {x, weight, x_zero, w_zero}, copied(params, {"pads"}))};
          check_numbers(output_of(b.model, b.feeds, profile), one, profile);
        }
}

TEST_CASE("DynamicQuantizeMatMul gives each runtime's floats") {
  for (const Json& one : vector_cases("DynamicQuantizeMatMul"))
    for (Profile profile : kAllProfiles) {
      Builder b;
      b.model.opset_imports.push_back({"com.microsoft", 1});
      const Json& params = one["params"];
      const DType type = type_of(params["b_type"]);
      std::vector<ValueId> inputs = {
          b.feed("x", one["inputs"]["x"]), b.constant(bytes_tensor(type, shape_of(params["b_shape"]), params["b"])),
          b.constant(scale_tensor(params["b_scale"])), b.constant(of_type(type, Json::array({params["b_zp"]}), {}))};
      if (params.contains("bias_float")) inputs.push_back(b.constant(scale_tensor(params["bias_float"])));
      b.graph().outputs = {b.node("DynamicQuantizeMatMul", inputs)};
      b.graph().nodes()[0].domain = "com.microsoft";
      check(output_of(b.model, b.feeds, profile), one, profile);
    }
}

TEST_CASE("operators without an integer kernel of their own give each runtime's bytes between DQ and Q") {
  for (const Json& one : vector_cases("QLinearWhere"))
    for (Profile profile : kAllProfiles) {
      Builder b;
      const Json& params = one["params"];
      const DType type = type_of(params["dtype"]);
      const ValueId c = b.feed("c", one["inputs"]["c"]);
      const ValueId left = b.with_parameters("DequantizeLinear", b.feed("a", one["inputs"]["a"]), params, "a", type);
      const ValueId right = b.with_parameters("DequantizeLinear", b.feed("b", one["inputs"]["b"]), params, "b", type);
      const ValueId y = b.node("Where", {c, left, right});
      check(b.run(b.with_parameters("QuantizeLinear", y, params, "y", type), profile, "Where"), one, profile);
    }
  for (const char* kernel : {"Resize nearest", "Resize linear"})
    for (const Json& one : vector_cases(kernel))
      for (Profile profile : kAllProfiles) {
        Builder b;
        const Json& params = one["params"];
        const DType type = type_of(params["dtype"]);
        const ValueId x = b.with_parameters("DequantizeLinear", b.feed("x", one["inputs"]["x"]), params, "x", type);
        Attributes attributes;
        for (const char* key : {"mode", "coordinate_transformation_mode", "nearest_mode"})
          if (params.contains(key)) attributes[key] = params[key].get<std::string>();
        const ValueId scales = b.constant(floats_tensor({4}, params["scales"]));
        const ValueId y = b.node("Resize", {x, ValueId{}, scales}, attributes);
        check(b.run(b.with_parameters("QuantizeLinear", y, params, "y", type), profile, "Resize"), one, profile);
      }
  for (const Json& one : vector_cases("ArgMax"))
    for (Profile profile : kAllProfiles) {
      Builder b;
      Attributes attributes = copied(one["params"], {"axis"});
      attributes["keepdims"] = int64_t{0};
      b.graph().outputs = {b.node("ArgMax", {b.feed("x", one["inputs"]["x"])}, attributes)};
      check_numbers(output_of(b.model, b.feeds, profile), one, profile);
    }
}

TEST_CASE("MatMulNBits comes as near to each runtime as the order of its float sums lets it") {
  for (const Json& one : vector_cases("MatMulNBits"))
    for (Profile profile : kAllProfiles) {
      Builder b;
      b.model.opset_imports.push_back({"com.microsoft", 1});
      const Json& params = one["params"];
      const int64_t depth = params["w_shape"][0], columns = params["w_shape"][1], block = params["block_size"];
      const int64_t blocks = depth / block;
      // [depth, columns] codes and [blocks, columns] parameters, to column by column, two codes to a byte.
      std::vector<uint8_t> weight(static_cast<size_t>(depth * columns / 2)),
          zero(static_cast<size_t>(columns * ((blocks + 1) / 2)));
      std::vector<float> scales;
      for (int64_t n = 0; n < columns; ++n) {
        for (int64_t k = 0; k < depth; ++k)
          weight[static_cast<size_t>((n * depth + k) / 2)] |=
              static_cast<uint8_t>(params["w4"][static_cast<size_t>(k * columns + n)].get<int>() << (k % 2 * 4));
        for (int64_t k = 0; k < blocks; ++k) {
          scales.push_back(number_of(params["scale"][static_cast<size_t>(k * columns + n)]));
          zero[static_cast<size_t>(n * ((blocks + 1) / 2) + k / 2)] |=
              static_cast<uint8_t>(params["zp4"][static_cast<size_t>(k * columns + n)].get<int>() << (k % 2 * 4));
        }
      }
      const ValueId x = b.feed("x", one["inputs"]["x"]);
      const ValueId w = b.constant(Tensor::of<uint8_t>({columns, blocks, block / 2}, weight));
      const ValueId z = b.constant(Tensor::of<uint8_t>({static_cast<int64_t>(zero.size())}, zero));
      Attributes attributes = copied(params, {"block_size", "accuracy_level"});
      attributes["K"] = depth;
      attributes["N"] = columns;
      attributes["bits"] = int64_t{4};
      b.graph().outputs = {
          b.node("MatMulNBits", {x, w, b.constant(Tensor::of<float>({columns * blocks}, scales)), z}, attributes)};
      b.graph().nodes()[0].domain = "com.microsoft";
      const Tensor got = output_of(b.model, b.feeds, profile);
      const auto wanted = floats_of(expected(one, profile));
      CAPTURE(key_of(profile));
      for (size_t k = 0; k < wanted.size(); ++k) REQUIRE(std::fabs(got.data<float>()[k] - wanted[k]) <= 2e-6f);
    }
}
