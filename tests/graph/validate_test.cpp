// SPDX-License-Identifier: Apache-2.0
#include "core/graph/validate.h"

#include "core/base/error.h"
#include "tests/catch.h"
#include "tests/support/make_node.h"

using namespace tersor;
using tersor::test::make_node;

namespace {

/// x -> Relu -> y -> Relu -> z
struct Chain {
  Model model;
  ValueId x, y, z;
  Chain() {
    model.opset_imports = {{"", 13}};
    Graph& graph = model.graph;
    x = graph.add_value("x");
    y = graph.add_value("y");
    z = graph.add_value("z");
    graph.inputs = {x};
    graph.outputs = {z};
    graph.append(make_node("Relu", {x}, {y}));
    graph.append(make_node("Relu", {y}, {z}));
  }
};

std::string place_of_failure(const Model& model, const std::string& part_of_message) {
  try {
    validate(model);
  } catch (const Error& error) {
    INFO(error.message);
    CHECK(error.code == ErrorCode::kInvalidModel);
    CHECK(error.message.find(part_of_message) != std::string::npos);
    return error.place;
  }
  FAIL("no error");
  return {};
}

}  // namespace

TEST_CASE("a plain chain is valid") {
  REQUIRE_NOTHROW(validate(Chain().model));
}

TEST_CASE("reading what nothing defines is refused with the node's place") {
  Chain chain;
  const ValueId w = chain.model.graph.add_value("w");
  chain.model.graph.nodes()[1].inputs.push_back(w);
  REQUIRE(place_of_failure(chain.model, "\"w\"") == "graph.node[1] (Relu)");
}

TEST_CASE("reading a later node's output is refused") {
  Chain chain;
  std::swap(chain.model.graph.nodes()[0], chain.model.graph.nodes()[1]);
  REQUIRE(place_of_failure(chain.model, "\"y\"") == "graph.node[0] (Relu)");
}

TEST_CASE("two definitions of a tensor are refused") {
  SECTION("by two nodes") {
    Chain chain;
    chain.model.graph.nodes()[1].outputs = {chain.y};
    REQUIRE(place_of_failure(chain.model, "defined twice") == "graph.node[1] (Relu)");
  }
  SECTION("by an input and an initializer") {
    Chain chain;
    chain.model.graph.set_initializer(chain.x, Tensor::scalar(1.0f));
    REQUIRE(place_of_failure(chain.model, "defined twice") == "graph.initializer");
  }
  SECTION("by the same input twice") {
    Chain chain;
    chain.model.graph.inputs.push_back(chain.x);
    REQUIRE(place_of_failure(chain.model, "defined twice") == "graph.input[1]");
  }
}

TEST_CASE("an output that nothing makes is refused") {
  Chain chain;
  chain.model.graph.outputs.push_back(chain.model.graph.add_value("lost"));
  REQUIRE(place_of_failure(chain.model, "\"lost\"") == "graph.output[1]");
  chain.model.graph.outputs.clear();
  REQUIRE(place_of_failure(chain.model, "no outputs") == "graph");
}

TEST_CASE("operator sets are imported once, with a version, for every domain that nodes use") {
  Chain chain;
  chain.model.opset_imports.clear();
  REQUIRE(place_of_failure(chain.model, "no operator set version") == "opset_import");
  chain.model.opset_imports = {{"", 13}, {"", 14}};
  REQUIRE(place_of_failure(chain.model, "twice") == "opset_import");
  chain.model.opset_imports = {{"", -1}};
  REQUIRE(place_of_failure(chain.model, "version -1") == "opset_import");
  chain.model.opset_imports = {{"", 13}};
  chain.model.graph.nodes()[0].domain = "com.example";
  REQUIRE(place_of_failure(chain.model, "com.example") == "graph.node[0] (Relu)");
}

TEST_CASE("a node without an operator is refused") {
  Chain chain;
  chain.model.graph.nodes()[0].op_type.clear();
  REQUIRE(place_of_failure(chain.model, "operator is empty") == "graph.node[0] ()");
}

TEST_CASE("a subgraph reads what is defined before its node, and only that") {
  auto inner = std::make_shared<Graph>();
  const ValueId captured = inner->add_value("y"), result = inner->add_value("r");
  inner->append(make_node("Relu", {captured}, {result}));
  inner->outputs = {result};
  Chain chain;
  SECTION("after the producer it is valid") {
    chain.model.graph.nodes()[1].attributes["body"] = std::shared_ptr<const Graph>(inner);
    REQUIRE_NOTHROW(validate(chain.model));
  }
  SECTION("at the producer it is not") {
    chain.model.graph.nodes()[0].attributes["body"] = std::shared_ptr<const Graph>(inner);
    REQUIRE(place_of_failure(chain.model, "\"y\"") == "graph.node[0] (Relu).body.node[0] (Relu)");
  }
  SECTION("nesting has a limit") {
    std::shared_ptr<const Graph> nested = inner;
    for (int level = 0; level < kDeepestSubgraph; ++level) {
      auto around = std::make_shared<Graph>();
      const ValueId out = around->add_value("out" + std::to_string(level));
      Node node = make_node("If", {}, {out});
      node.attributes["then_branch"] = nested;
      around->append(node);
      around->outputs = {out};
      nested = around;
    }
    chain.model.graph.nodes()[1].attributes["body"] = nested;
    REQUIRE(place_of_failure(chain.model, "levels").size() > 100);
  }
}
