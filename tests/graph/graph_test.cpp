// SPDX-License-Identifier: Apache-2.0
#include "core/graph/graph.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/graph/edit.h"
#include "core/graph/uses.h"
#include "tests/catch.h"
#include "tests/support/make_node.h"

using namespace tersor;
using tersor::test::make_node;

TEST_CASE("value names are unique and fresh names avoid them") {
  Graph graph;
  const ValueId x = graph.add_value("x");
  REQUIRE_THROWS_AS(graph.add_value("x"), Error);
  REQUIRE(graph.name_of(graph.add_unique_value("x")) == "x_2");
  graph.rename(x, "y");
  REQUIRE_FALSE(graph.find("x").has_value());
  REQUIRE(graph.find("y") == x);
}

TEST_CASE("sorting puts producers first and keeps the order of the rest") {
  Graph graph;
  const ValueId a = graph.add_value("a"), b = graph.add_value("b"), c = graph.add_value("c"), d = graph.add_value("d");
  graph.inputs = {a};
  const NodeId last = graph.append(make_node("Add", {b, c}, {d}));
  const NodeId first = graph.append(make_node("Relu", {a}, {b}));
  const NodeId second = graph.append(make_node("Abs", {a}, {c}));
  graph.sort_topologically();
  REQUIRE(graph.nodes()[0].id == first);
  REQUIRE(graph.nodes()[1].id == second);
  REQUIRE(graph.nodes()[2].id == last);
}

TEST_CASE("nodes are found by id wherever they have moved") {
  Graph graph;
  std::vector<NodeId> ids;
  const auto named = [](const std::string& name) {
    Node node;
    node.name = name;
    return node;
  };
  for (const char* name : {"a", "b", "c", "d", "e", "f"}) ids.push_back(graph.append(named(name)));
  const auto check = [&](const std::string& there) {
    for (size_t k = 0; k < ids.size(); ++k) {
      const std::string name(1, static_cast<char>('a' + k));
      const Node* found = graph.find(ids[k]);
      INFO(name << " of " << there);
      if (there.find(name) == std::string::npos)
        REQUIRE(found == nullptr);
      else
        REQUIRE((found != nullptr && found->name == name));
    }
  };
  check("abcdef");
  graph.erase_nodes([](const Node& node) { return node.name == "b"; });
  check("acdef");
  std::rotate(graph.nodes().begin(), graph.nodes().end() - 1, graph.nodes().end());
  check("facde");
  ids.push_back(graph.insert(2, named("g")));
  check("fagcde");
  graph.nodes().erase(graph.nodes().begin(), graph.nodes().begin() + 4);
  check("de");
  prepend(graph, {named("h"), named("i")});
  check("hide");
  REQUIRE(graph.nodes()[0].name == "h");
  REQUIRE(graph.nodes()[1].name == "i");
  REQUIRE(graph.nodes()[0].id != graph.nodes()[1].id);
  REQUIRE(graph.find(graph.nodes()[1].id)->name == "i");
  REQUIRE(graph.find(NodeId{}) == nullptr);
  REQUIRE(graph.find(NodeId{1000}) == nullptr);
}

TEST_CASE("readers of one value become those of another") {
  Graph graph;
  const ValueId a = graph.add_value("a"), b = graph.add_value("b"), c = graph.add_value("c");
  Node node;
  node.inputs = {a, b, ValueId{}, a};
  graph.append(node);
  graph.append(node);
  replace_reads(graph, a, c);
  for (const Node& one : graph.nodes()) REQUIRE(one.inputs == std::vector<ValueId>{c, b, ValueId{}, c});
}

TEST_CASE("a cycle is refused with the node's place") {
  Graph graph;
  const ValueId a = graph.add_value("a"), b = graph.add_value("b");
  graph.append(make_node("Relu", {b}, {a}));
  graph.append(make_node("Relu", {a}, {b}));
  try {
    graph.sort_topologically();
    FAIL("no error");
  } catch (const Error& error) {
    REQUIRE(error.place == "graph.node[0] (Relu)");
  }
}

TEST_CASE("values that a subgraph captures count as read by its node") {
  auto inner = std::make_shared<Graph>();
  const ValueId outer_name = inner->add_value("x"), result = inner->add_value("r");
  inner->append(make_node("Relu", {outer_name}, {result}));
  inner->outputs = {result};
  REQUIRE(captures(*inner) == std::vector<std::string>{"x"});

  Graph graph;
  const ValueId condition = graph.add_value("condition"), x = graph.add_value("x"), y = graph.add_value("y");
  Node branch = make_node("If", {condition}, {y});
  branch.attributes["then_branch"] = std::shared_ptr<const Graph>(inner);
  graph.append(std::move(branch));
  graph.outputs = {y};
  const Uses uses(graph);
  REQUIRE(uses.reader_indices(x) == std::vector<size_t>{0});
  REQUIRE(uses.reader_count(y) == 1);
  REQUIRE(uses.producer_index(y) == 0);
}
