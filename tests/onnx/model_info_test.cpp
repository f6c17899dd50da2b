// SPDX-License-Identifier: Apache-2.0
#include "core/onnx/model_info.h"

#include "core/base/json.h"
#include "core/onnx/read.h"
#include "tests/catch.h"
#include "tests/support/shared.h"

using namespace tersor;

namespace {

Node make_node(std::string op, std::string domain, std::vector<ValueId> inputs, std::vector<ValueId> outputs) {
  Node node;
  node.op_type = std::move(op);
  node.domain = std::move(domain);
  node.inputs = std::move(inputs);
  node.outputs = std::move(outputs);
  return node;
}

}  // namespace

TEST_CASE("a model is described with its operators, weights and shapes") {
  Model model;
  model.opset_imports = {{"", 13}, {"com.example", 2}};
  model.producer_name = "maker";
  model.producer_version = "3";
  Graph& graph = model.graph;
  graph.name = "net";
  const ValueId x = graph.add_value("x", DType::kFloat32, std::vector<Dim>{{-1, "N"}, {3, {}}, {}});
  const ValueId a = graph.add_value("a"), b = graph.add_value("b"), c = graph.add_value("c");
  graph.inputs = {x};
  graph.outputs = {c};
  graph.add_initializer("w", Tensor::make(DType::kFloat32, Shape{4, 5}));
  graph.add_initializer("i", Tensor::of<int64_t>({2}, {1, 2}));
  auto inner = std::make_shared<Graph>();
  inner->outputs = {inner->add_value("r")};
  inner->append(make_node("Relu", "", {inner->add_value("a")}, inner->outputs));
  Node branch = make_node("If", "", {b}, {c});
  branch.attributes["then_branch"] = std::shared_ptr<const Graph>(inner);
  graph.append(make_node("Relu", "", {x}, {a}));
  graph.append(make_node("Twist", "com.example", {a}, {b}));
  graph.append(branch);

  const std::vector<std::byte> file(3);
  const onnx::ModelInfo info = onnx::describe(model, file);
  REQUIRE(info.nodes == 4);
  REQUIRE(info.subgraphs == 1);
  REQUIRE(info.parameters == 22);
  REQUIRE(info.parameter_types == std::map<std::string, int64_t>{{"float32", 20}, {"int64", 2}});
  REQUIRE(info.constant_bytes == 96);
  REQUIRE(info.operators[0].op == "Relu");
  REQUIRE(info.operators[0].nodes == 2);
  REQUIRE(info.unknown_operators == std::vector<std::string>{"com.example::Twist"});
  REQUIRE_FALSE(info.quantized);
  REQUIRE(info.producer == "maker 3");
  const Json json = to_json(info);
  REQUIRE(json["inputs"][0].dump() == R"({"name":"x","type":"float32","shape":["N",3,"?"]})");
  REQUIRE(json["outputs"][0].dump() == R"({"name":"c","type":"?","shape":null})");
  REQUIRE(json["domains"].dump() == R"({"com.example":2})");
  REQUIRE(json["macs"].is_null());
  REQUIRE(json["sha256"] == "709e80c88487a2411e1ee4dfb9f22a861492d20c4765150c0c794abd70f8147c");
}

TEST_CASE("the zoo's own list and ours agree") {
  const auto path = test::shared_file("zoo/index.json");
  if (!path) return;
  const std::vector<std::byte> text = test::read_file(*path);
  const Json index = parse_json({reinterpret_cast<const char*>(text.data()), text.size()}, "index.json");
  int files = 0;
  for (const auto& model : index["models"]) {
    for (const auto& [name, expected] : model["files"].items()) {
      if (name.size() < 5 || name.substr(name.size() - 5) != ".onnx") continue;
      INFO(model["id"] << " " << name);
      const auto file = test::shared_file("zoo/" + model["id"].get<std::string>() + "/" + name);
      REQUIRE(file);
      const onnx::Source source = onnx::Source::of(test::read_file(*file));
      const onnx::ModelInfo info = onnx::describe(onnx::read(source), source.bytes);
      CHECK(info.sha256 == expected["sha256"]);
      CHECK(info.opset == expected["opset"]["ai.onnx"]);
      // The list leaves out the constants inside subgraphs.
      if (info.subgraphs == 0) CHECK(info.parameters == expected["params"]);
      CHECK(info.inputs.size() == expected["inputs"].size());
      for (const auto& one : info.operators) CHECK(expected["ops"].value(one.op, int64_t{0}) == one.nodes);
      CHECK(info.quantized == (name.find("qdq") != std::string::npos));
      ++files;
    }
  }
  REQUIRE(files == 26);
}
