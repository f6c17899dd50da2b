// SPDX-License-Identifier: Apache-2.0
#include "core/graph/print.h"

#include "tests/catch.h"

using namespace tersor;

TEST_CASE("a graph prints as text with types, constants, absent inputs and subgraphs") {
  auto inner = std::make_shared<Graph>();
  inner->name = "then";
  inner->outputs = {inner->add_value("r")};
  Node constant;
  constant.op_type = "Constant";
  constant.attributes["value_ints"] = std::vector<int64_t>{1, 2};
  constant.outputs = inner->outputs;
  inner->append(constant);

  Graph graph;
  graph.name = "main";
  const ValueId x = graph.add_value("x", DType::kFloat32, std::vector<Dim>{{-1, "N"}, {3, {}}, {}});
  const ValueId y = graph.add_value("y"), z = graph.add_value("z");
  graph.inputs = {x};
  graph.outputs = {z};
  const ValueId bound = graph.add_initializer("bound", Tensor::scalar(0.5f));
  Node clip;
  clip.op_type = "Clip";
  clip.name = "limit";
  clip.inputs = {x, ValueId{}, bound};
  clip.outputs = {y};
  graph.append(clip);
  Node branch;
  branch.op_type = "If";
  branch.domain = "com.example";
  branch.inputs = {y};
  branch.outputs = {z};
  branch.attributes["then_branch"] = std::shared_ptr<const Graph>(inner);
  graph.append(branch);

  REQUIRE(to_text(graph) ==
          "graph \"main\" (x: float32[N,3,?]) -> (z: ?)\n"
          "  bound: float32[] {0.5}\n"
          "  y = Clip(x, _, bound) \"limit\"\n"
          "  z = com.example::If(y) {then_branch = graph}\n"
          "    then_branch: graph \"then\" () -> (r: ?)\n"
          "      r = Constant() {value_ints = [1, 2]}\n");
}
