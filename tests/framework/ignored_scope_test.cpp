// SPDX-License-Identifier: Apache-2.0
#include "core/framework/ignored_scope.h"

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/framework/attach.h"
#include "core/framework/overrides.h"
#include "core/tpc/builtin.h"
#include "tests/catch.h"
#include "tests/framework/build_graph.h"

namespace ignored_scope_test {
using namespace tersor;
using namespace tersor::framework;
using test::GraphBuilder;
using Names = std::set<std::string>;

namespace {

/// x - a/conv - a/relu - b/left (Conv) - b/add - c/gemm
///                     - b/right (Conv) /
/// and, in the graph before it was prepared, a BatchNormalization a/bn behind a/conv.
GraphBuilder net(bool former) {
  GraphBuilder b;
  ValueId x = b.input("x");
  x = b.node("Conv", "a/conv", {x, b.constant("w1", {8, 3, 3, 3})});
  if (former) x = b.node("BatchNormalization", "a/bn", {x});
  x = b.node("Relu", "a/relu", {x});
  const ValueId left = b.node("Conv", "b/left", {x, b.constant("w2", {8, 8, 1, 1})});
  const ValueId right = b.node("Conv", "b/right", {x, b.constant("w3", {8, 8, 1, 1})});
  x = b.node("Add", "b/add", {left, right});
  x = b.node("Gemm", "c/gemm", {x, b.constant("w4", {10, 32})});
  b.output(x);
  return b;
}

config::IgnoredScope scope_of(const char* text) {
  config::IgnoredScope scope;
  from_json(parse_json(text, "scope"), scope, "scope");
  return scope;
}

Names chosen(const char* scope, std::vector<Diagnostic>* notes = nullptr) {
  std::vector<Diagnostic> own;
  const GraphBuilder prepared = net(false), former = net(true);
  return ignored_names(scope_of(scope), prepared.graph, &former.graph, notes == nullptr ? own : *notes);
}

Error error_of(const char* scope) {
  try {
    chosen(scope);
  } catch (const Error& error) {
    return error;
  }
  return Error(ErrorCode::kInternal, "no error");
}

}  // namespace

TEST_CASE("an ignored scope chooses nodes by name, pattern and type") {
  REQUIRE(chosen(R"({"names": ["a/relu", "c/gemm"]})") == Names{"a/relu", "c/gemm"});
  REQUIRE(chosen(R"x({"patterns": ["b/(left|right)"]})x") == Names{"b/left", "b/right"});
  REQUIRE(chosen(R"({"patterns": ["left"], "validate": false})").empty());
  REQUIRE(chosen(R"({"types": ["Conv", "Gemm"]})") == Names{"a/conv", "b/left", "b/right", "c/gemm"});
  REQUIRE(chosen(R"({"names": ["a/relu"], "types": ["Add"]})") == Names{"a/relu", "b/add"});
}

TEST_CASE("a subgraph is all nodes on the ways from its inputs to its outputs") {
  REQUIRE(chosen(R"({"subgraphs": [{"inputs": ["a/relu"], "outputs": ["b/add"]}]})") ==
          Names{"a/relu", "b/left", "b/right", "b/add"});
  REQUIRE(chosen(R"({"subgraphs": [{"inputs": ["b/left"], "outputs": ["c/gemm"]}]})") ==
          Names{"b/left", "b/add", "c/gemm"});
  REQUIRE(chosen(R"({"subgraphs": [{"inputs": ["b/left"], "outputs": ["b/left"]}]})") == Names{"b/left"});
  // The way begins at a node that was folded away.
  REQUIRE(chosen(R"({"subgraphs": [{"inputs": ["a/bn"], "outputs": ["b/left"]}]})") ==
          Names{"a/bn", "a/relu", "b/left"});
}

TEST_CASE("what chooses no node is an error, and without validation a note") {
  const Error name = error_of(R"({"names": ["b/lefd"]})");
  REQUIRE(name.code == ErrorCode::kInvalidConfig);
  REQUIRE(name.place == "config.ignored_scope.names[0]");
  REQUIRE_THAT(name.hint, Catch::Contains("Did you mean \"b/left\"?") && Catch::Contains("validate"));
  REQUIRE_THAT(error_of(R"({"types": ["MatMul"]})").message, Catch::Contains("no operator of the type \"MatMul\""));
  REQUIRE_THAT(error_of(R"({"patterns": ["x"]})").message, Catch::Contains("matches the name of no node"));
  REQUIRE_THAT(error_of(R"({"patterns": ["("], "validate": false})").message, Catch::Contains("without its )"));
  const Error way = error_of(R"({"subgraphs": [{"inputs": ["b/add"], "outputs": ["a/conv"]}]})");
  REQUIRE(way.message == "No way leads from its inputs to its outputs.");
  REQUIRE(error_of(R"({"subgraphs": [{"inputs": ["q"], "outputs": ["b/add"]}]})").place.find("config.ignored_scope") ==
          0);
  REQUIRE_THAT(std::string(error_of(R"({"names": ["q"], "types": ["Q"]})").message), Catch::Contains("2 faults"));

  std::vector<Diagnostic> notes;
  REQUIRE(chosen(R"({"names": ["q", "a/conv"], "types": ["Q"], "validate": false})", &notes) == Names{"a/conv"});
  REQUIRE(notes.size() == 2);
  REQUIRE(notes[0].code == "ignored_scope");
  REQUIRE(notes[0].place == "config.ignored_scope.names[0]");
}

TEST_CASE("a node that was folded away is known, and said to have no quantizer of its own") {
  std::vector<Diagnostic> notes;
  REQUIRE(chosen(R"({"names": ["a/bn"]})", &notes) == Names{"a/bn"});
  REQUIRE(notes.size() == 1);
  REQUIRE_THAT(notes[0].message, Catch::Contains("\"a/bn\"") && Catch::Contains("folded"));
}

TEST_CASE("ignored nodes stay in float, whatever overrides say, and all others are as they were") {
  const GraphBuilder b = net(false);
  const auto attached = [&](const char* overrides, const Names& ignored) {
    Overrides read(config::parse_overrides(overrides, "overrides"));
    read.ignore(ignored);
    return attach(b.graph, tpc::get_target_platform_capabilities_by_label("any"), onnx_framework_info(), {}, read);
  };
  const auto enabled = [&](const Attachment& attachment, const char* name) {
    const NodeAttachment& node = *attachment.find(b.named(name).id);
    bool weights = false;
    for (const WeightAttribute& one : node.weights) weights = weights || one.config.enable_weights_quantization;
    return std::pair(node.config().enable_activation_quantization, weights);
  };
  const char* asks = R"([{"name": "b/left", "config": {"weights_n_bits": 4, "activation_n_bits": 16}}])";
  const Attachment with = attached(asks, {"b/left", "b/add"}), without = attached(asks, {});
  REQUIRE(enabled(with, "b/left") == std::pair(false, false));
  REQUIRE(enabled(with, "b/add") == std::pair(false, false));
  REQUIRE(enabled(with, "b/right") == std::pair(true, true));
  REQUIRE(enabled(without, "b/left") == std::pair(true, true));
  REQUIRE(enabled(without, "b/add") == std::pair(true, false));
}

}  // namespace ignored_scope_test
