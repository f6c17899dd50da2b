// SPDX-License-Identifier: Apache-2.0
#include "tests/support/named_model.h"

#include <algorithm>
#include <cmath>

#include "core/run/program.h"
#include "tests/catch.h"

namespace tersor::test {

NamedModel::NamedModel(uint32_t seed) : random_(seed) {
  model_.opset_imports = {{"", 13}};
  model_.graph.name = "test";
}

ValueId NamedModel::value(const std::string& name) {
  if (name.empty()) return {};
  const auto found = model_.graph.find(name);
  return found ? *found : model_.graph.add_value(name);
}

NamedModel& NamedModel::input(const std::string& name, std::vector<int64_t> dims) {
  std::vector<Dim> shape;
  for (int64_t dim : dims) shape.push_back({dim, {}});
  model_.graph.inputs.push_back(model_.graph.add_value(name, DType::kFloat32, shape));
  return *this;
}

NamedModel& NamedModel::weight(const std::string& name, std::vector<int64_t> dims, float low, float high) {
  Tensor tensor = Tensor::make(DType::kFloat32, Shape(std::move(dims)));
  for (float& x : tensor.mutable_data<float>())
    x = low + (high - low) * static_cast<float>(random_() % 10007) / 10006.0f;
  return constant(name, std::move(tensor));
}

NamedModel& NamedModel::constant(const std::string& name, Tensor tensor) {
  model_.graph.set_initializer(value(name), std::move(tensor));
  return *this;
}

NamedModel& NamedModel::scale_along(const std::string& name, int axis, double factor) {
  const Tensor& old = *model_.graph.initializer(value(name));
  Tensor scaled = Tensor::make(DType::kFloat32, old.shape());
  const auto inner = static_cast<size_t>(old.shape().elements(axis + 1, old.shape().rank()));
  const auto channels = static_cast<size_t>(old.shape()[axis]);
  for (size_t i = 0; i < old.data<float>().size(); ++i)
    scaled.mutable_data<float>()[i] =
        static_cast<float>(old.data<float>()[i] * std::pow(factor, static_cast<double>(i / inner % channels)));
  return constant(name, std::move(scaled));
}

NamedModel& NamedModel::node(const std::string& type, std::vector<std::string> inputs, std::vector<std::string> outputs,
                             std::map<std::string, Attribute> attributes) {
  Node node;
  node.op_type = type;
  node.name = outputs[0] + "_node";
  for (const auto& name : inputs) node.inputs.push_back(value(name));
  for (const auto& name : outputs) node.outputs.push_back(value(name));
  for (auto& [name, attribute] : attributes) node.attributes[name] = attribute;
  model_.graph.append(std::move(node));
  return *this;
}

NamedModel& NamedModel::output(const std::string& name) {
  model_.graph.outputs.push_back(value(name));
  return *this;
}

std::vector<Tensor> random_inputs(const Model& model, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<Tensor> inputs;
  for (const ValueId id : model.graph.inputs) {
    const Value& value = model.graph.value(id);
    std::vector<int64_t> dims;
    if (value.shape)
      for (const Dim& dim : *value.shape) dims.push_back(dim.fixed() ? dim.value : 1);
    Tensor tensor = Tensor::make(DType::kFloat32, Shape(std::move(dims)));
    for (float& x : tensor.mutable_data<float>()) x = static_cast<float>(random() % 2001) / 1000.0f - 1.0f;
    inputs.push_back(std::move(tensor));
  }
  return inputs;
}

double relative_difference(const Model& before, const Model& after, const std::vector<Tensor>& inputs) {
  const auto run = [&](const Model& model) {
    return run::Runner(run::Program::compile(model, ops::standard())).run(inputs);
  };
  const std::vector<Tensor> expected = run(before), found = run(after);
  REQUIRE(expected.size() == found.size());
  double worst = 0;
  for (size_t k = 0; k < expected.size(); ++k) {
    REQUIRE(expected[k].shape() == found[k].shape());
    if (expected[k].dtype() != DType::kFloat32) {
      REQUIRE(expected[k] == found[k]);
      continue;
    }
    const auto a = expected[k].data<float>(), b = found[k].data<float>();
    double range = 1e-30, difference = 0;
    for (size_t i = 0; i < a.size(); ++i) {
      range = std::max<double>(range, std::fabs(a[i]));
      difference = std::max<double>(difference, std::fabs(a[i] - b[i]));
      REQUIRE(std::isfinite(b[i]));
    }
    worst = std::max(worst, difference / range);
  }
  return worst;
}

std::string types_of(const Model& model) {
  std::string text;
  for (const Node& node : model.graph.nodes()) text += (text.empty() ? "" : " ") + node.op_type;
  return text;
}

}  // namespace tersor::test
