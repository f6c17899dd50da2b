// SPDX-License-Identifier: Apache-2.0
// A case of integer_vectors.json as a graph: built node by node, fused, and run by the interpreter.
#pragma once

#include <cstring>

#include "core/run/program.h"
#include "core/simulate/fuse.h"
#include "core/simulate/operators.h"
#include "tests/simulate/vectors.h"

namespace tersor::test {

using simulate::Profile;

inline DType type_of(const std::string& word) {
  if (word == "uint8" || word == "u8") return DType::kUint8;
  if (word == "int8" || word == "s8") return DType::kInt8;
  return word == "bool" ? DType::kBool : DType::kFloat32;
}

inline Shape shape_of(const Json& json) {
  return Shape(json.get<std::vector<int64_t>>());
}

inline Tensor bytes_tensor(DType type, Shape shape, const Json& data) {
  Tensor tensor = Tensor::make(type, std::move(shape));
  const auto raw = raw_of(data);
  std::memcpy(tensor.mutable_bytes().data(), raw.data(), raw.size());
  return tensor;
}

inline Tensor floats_tensor(Shape shape, const Json& data) {
  return Tensor::of<float>(std::move(shape), floats_of(data));
}

/// A number or a list of numbers, as a scalar or a vector.
inline Tensor scale_tensor(const Json& json) {
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
    const simulate::FusedModel fused = simulate::fuse(model, profile);
    bool found = false;
    for (const Node& one : fused.model.graph.nodes()) found = found || one.op_type == expected_operator;
    REQUIRE(found);
    run::Runner runner(run::Program::compile(fused.model, simulate::registry(profile)));
    return runner.run(feeds)[0];
  }
};

inline void check(const Tensor& got, const Json& one, Profile profile) {
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

inline Attributes copied(const Json& params, std::initializer_list<const char*> keys) {
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

}  // namespace tersor::test
