// SPDX-License-Identifier: Apache-2.0
#include "core/mixed/memory.h"

#include "core/base/error.h"
#include "tests/catch.h"
#include "tests/framework/build_graph.h"

using namespace tersor;
using namespace tersor::mixed;

namespace {

/// `steps`: as cuts_of has them; empty where each node runs by itself.
std::vector<std::string> cut_names(const Graph& graph, std::vector<size_t> steps = {}) {
  for (size_t i = steps.size(); i < graph.nodes().size(); ++i) steps.push_back(i);
  std::vector<std::string> names;
  for (const auto& cut : cuts_of(graph, steps)) {
    std::string text;
    for (const ValueId value : cut) text += (text.empty() ? "" : " ") + graph.name_of(value);
    names.push_back(text);
  }
  return names;
}

}  // namespace

TEST_CASE("bits become bytes, and the largest cut is the activation memory") {
  const std::vector<QuantizedTensor> weights{{42, 2}, {142, 4}};
  REQUIRE(weights_memory(weights) == 81.5);
  REQUIRE(weights_memory({}) == 0);
  const std::vector<std::vector<QuantizedTensor>> cuts{{{8, 8}, {3, 4}}, {{100, 1}}, {}};
  REQUIRE(activation_memory(cuts) == 12.5);
  REQUIRE(activation_memory({}) == 0);
  REQUIRE_THROWS_AS(weights_memory(std::vector<QuantizedTensor>{{-1, 8}}), Error);
  REQUIRE_THROWS_AS(weights_memory(std::vector<QuantizedTensor>{{1, 0}}), Error);
}

TEST_CASE("a cut holds what a node reads and writes and what later ones read") {
  test::GraphBuilder b;
  const ValueId x = b.input("x");
  const ValueId first = b.node("Conv", "a", {x, b.constant("w", {1})});
  const ValueId second = b.node("Relu", "b", {first});
  b.output(b.node("Add", "c", {second, x}));
  // While "b" runs, x waits for "c". Constants are no activations.
  REQUIRE(cut_names(b.graph) == std::vector<std::string>{"x a:0 b:0", "x b:0 c:0"});
}

TEST_CASE("outputs stay to the end, and what nothing reads is there while it is made") {
  test::GraphBuilder b;
  const ValueId x = b.input("x");
  b.input("unread");
  const ValueId early = b.node("Relu", "a", {x});
  b.output(early);
  b.node("Relu", "dead", {x});
  b.output(b.node("Relu", "last", {x}));
  REQUIRE(cut_names(b.graph) == std::vector<std::string>{"x a:0 dead:0", "x a:0 last:0"});
  REQUIRE(cut_names(Graph()).empty());
}

TEST_CASE("a fused group reads its input while it writes its output, and keeps what is between them to itself") {
  test::GraphBuilder b;
  const ValueId x = b.input("x");
  const ValueId first = b.node("Conv", "a", {x, b.constant("w", {1})});
  const ValueId second = b.node("Relu", "b", {first});
  b.output(b.node("Relu", "c", {second}));
  REQUIRE(cut_names(b.graph, {1, 1, 2}) == std::vector<std::string>{"x b:0", "b:0 c:0"});
  REQUIRE(cut_names(b.graph, {2, 2, 2}) == std::vector<std::string>{"x c:0"});
}

TEST_CASE("cuts that hold the same tensors are one") {
  test::GraphBuilder b;
  const ValueId x = b.input("x");
  const ValueId kept = b.node("Relu", "a", {x});
  b.node("Identity", "of_constant", {b.constant("c", {1})});
  b.output(b.node("Add", "b", {x, kept}));
  REQUIRE(cut_names(b.graph, {0, 0, 2}) == std::vector<std::string>{"x a:0 of_constant:0", "x a:0 b:0"});
}
