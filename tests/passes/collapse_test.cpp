// SPDX-License-Identifier: Apache-2.0
// The rewrites that run on request: Convs in a row, and a Conv with an Add of its own input.
#include "core/graph/validate.h"
#include "core/passes/passes.h"
#include "core/passes/pipeline.h"
#include "tests/catch.h"
#include "tests/support/named_model.h"

using namespace tersor;
using namespace tersor::passes;
using test::NamedModel;
using test::random_inputs;
using test::relative_difference;
using test::types_of;

namespace {

using Ints = std::vector<int64_t>;
using Settings = std::map<std::string, Attribute>;

/// Runs one pass, checks that the model stays valid and computes the same, and returns the types of its nodes.
std::string after(int (*pass)(Model&), const Model& before, int expected_changes) {
  Model model = before;
  REQUIRE(pass(model) == expected_changes);
  validate(model);
  REQUIRE(relative_difference(before, model, random_inputs(before)) < 1e-5);
  REQUIRE(model.graph.name_of(model.graph.outputs[0]) == before.graph.name_of(before.graph.outputs[0]));
  return types_of(model);
}

const Settings kSame{{"pads", Ints{1, 1, 1, 1}}};

struct Pair {
  Settings first = kSame, second = {};
  Ints w1{6, 3, 3, 3}, w2{4, 6, 1, 1};
  bool b1 = true, b2 = true;
};

NamedModel pair_of(const Pair& pair) {
  NamedModel model;
  model.input("x", {2, 3, 7, 6}).weight("w1", pair.w1).weight("w2", pair.w2);
  model.weight("b1", {pair.w1[0]}).weight("b2", {pair.w2[0]});
  std::vector<std::string> one{"x", "w1"}, two{"t", "w2"};
  if (pair.b1) one.push_back("b1");
  if (pair.b2) two.push_back("b2");
  return model.node("Conv", one, {"t"}, pair.first).node("Conv", two, {"y"}, pair.second).output("y");
}

struct Residual {
  Settings settings = kSame;
  Ints weight{3, 3, 3, 3};
  bool turned = false;
};

Model residual_of(const Residual& residual, const char* output = "y") {
  NamedModel model;
  model.input("x", {2, 3, 7, 6}).weight("w", residual.weight).weight("b", {3});
  model.node("Conv", {"x", "w", "b"}, {"t"}, residual.settings);
  if (residual.turned)
    model.node("Add", {"x", "t"}, {"y"});
  else
    model.node("Add", {"t", "x"}, {"y"});
  return model.output(output).build();
}

}  // namespace

TEST_CASE("a Conv and the 1x1 Conv after it become one, with a bias where either has one") {
  for (const bool b1 : {false, true})
    for (const bool b2 : {false, true}) {
      Pair pair;
      pair.b1 = b1, pair.b2 = b2;
      Model model = pair_of(pair).build();
      REQUIRE(after(collapse_linear, model, 1) == "Conv");
      collapse_linear(model);
      REQUIRE(model.graph.nodes()[0].inputs.size() == (b1 || b2 ? 3u : 2u));
      REQUIRE(model.graph.initializer(model.graph.nodes()[0].inputs[1])->shape() == Shape{4, 3, 3, 3});
    }
}

TEST_CASE("a chain of 1x1 Convs collapses whole, along one axis and along three") {
  NamedModel chain = pair_of({});
  chain.weight("w3", {2, 4, 1, 1}).weight("w4", {2, 2, 1, 1});
  chain.node("Conv", {"y", "w3"}, {"u"}, {{"auto_pad", std::string("SAME_UPPER")}}).node("Conv", {"u", "w4"}, {"z"});
  Model model = chain.build();
  model.graph.outputs = {*model.graph.find("z")};
  REQUIRE(after(collapse_linear, model, 3) == "Conv");
  for (const size_t axes : {1u, 3u}) {
    Ints input{1, 3}, w1{5, 3}, w2{4, 5};
    input.insert(input.end(), axes, 6), w1.insert(w1.end(), axes, 3), w2.insert(w2.end(), axes, 1);
    NamedModel other;
    other.input("x", input).weight("w1", w1).weight("w2", w2);
    other.node("Conv", {"x", "w1"}, {"t"}).node("Conv", {"t", "w2"}, {"y"}).output("y");
    REQUIRE(after(collapse_linear, other.build(), 1) == "Conv");
  }
}

TEST_CASE("Convs in a row stay where one takes other positions, groups or more weights") {
  const auto stays = [](const Pair& pair) { return after(collapse_linear, pair_of(pair).build(), 0) == "Conv Conv"; };
  Pair pair;
  pair.first = {{"strides", Ints{2, 2}}};
  REQUIRE(stays(pair));
  pair.first = {{"dilations", Ints{2, 1}}};
  REQUIRE(stays(pair));
  pair.first = {{"group", int64_t{3}}}, pair.w1 = {6, 1, 3, 3};
  REQUIRE(stays(pair));
  pair = {};
  pair.second = {{"strides", Ints{1, 2}}};
  REQUIRE(stays(pair));
  pair.second = {{"pads", Ints{0, 0, 1, 0}}};
  REQUIRE(stays(pair));
  pair.second = {{"group", int64_t{2}}}, pair.w2 = {4, 3, 1, 1};
  REQUIRE(stays(pair));
  pair = {};
  pair.w2 = {4, 6, 1, 3};
  REQUIRE(stays(pair));
  pair.w1 = {2, 3, 3, 3}, pair.w2 = {3, 2, 1, 1};  // 81 weights instead of 60
  REQUIRE(stays(pair));
}

TEST_CASE("Convs in a row stay where the value between them is read elsewhere") {
  REQUIRE(after(collapse_linear, pair_of({}).output("t").build(), 0) == "Conv Conv");
  REQUIRE(after(collapse_linear, pair_of({}).node("Relu", {"t"}, {"r"}).output("r").build(), 0) == "Conv Conv Relu");
}

TEST_CASE("the Add of a Conv's own input goes into its weights") {
  for (const bool turned : {false, true}) {
    REQUIRE(after(collapse_residual, residual_of({kSame, {3, 3, 3, 3}, turned}), 1) == "Conv");
    REQUIRE(after(collapse_residual, residual_of({{}, {3, 3, 1, 1}, turned}), 1) == "Conv");
  }
  const Settings wide{{"dilations", Ints{2, 1}}, {"pads", Ints{4, 1, 4, 1}}};
  REQUIRE(after(collapse_residual, residual_of({wide, {3, 3, 5, 3}}), 1) == "Conv");
  for (const char* padding : {"SAME_UPPER", "SAME_LOWER"})
    REQUIRE(after(collapse_residual, residual_of({{{"auto_pad", std::string(padding)}}, {3, 3, 3, 5}}), 1) == "Conv");
}

TEST_CASE("the Add stays where the Conv moves, groups or is read elsewhere, or adds something else") {
  const auto stays = [](const Model& model) { return after(collapse_residual, model, 0) == "Conv Add"; };
  REQUIRE(stays(residual_of({{{"pads", Ints{1, 1, 1, 1}}, {"group", int64_t{3}}}, {3, 1, 3, 3}})));
  REQUIRE(stays(residual_of({{{"auto_pad", std::string("SAME_UPPER")}}, {3, 3, 2, 2}})));
  REQUIRE(stays(residual_of({{{"pads", Ints{0, 2, 2, 0}}}, {3, 3, 3, 3}})));
  REQUIRE(stays(residual_of({}, "t")));
  NamedModel strided;
  strided.input("x", {1, 3, 1, 1}).weight("w", {3, 3, 3, 3});
  strided.node("Conv", {"x", "w"}, {"t"}, {{"strides", Ints{2, 2}}, {"pads", Ints{1, 1, 1, 1}}});
  strided.node("Add", {"t", "x"}, {"y"}).output("y");
  REQUIRE(stays(strided.build()));
  NamedModel narrow;  // one output channel, spread over three by the Add
  narrow.input("x", {1, 3, 4, 4}).weight("w", {1, 3, 1, 1});
  narrow.node("Conv", {"x", "w"}, {"t"}).node("Add", {"t", "x"}, {"y"}).output("y");
  REQUIRE(stays(narrow.build()));
  NamedModel other;
  other.input("x", {1, 3, 4, 4}).input("z", {1, 3, 4, 4}).weight("w", {3, 3, 1, 1});
  other.node("Conv", {"x", "w"}, {"t"}).node("Add", {"t", "z"}, {"y"}).output("y");
  REQUIRE(stays(other.build()));
}

TEST_CASE("the pipeline collapses on request only and names what is gone") {
  NamedModel builder = pair_of({});
  builder.weight("w3", {4, 4, 3, 3}).node("Conv", {"y", "w3"}, {"u"}, kSame).node("Add", {"u", "y"}, {"z"});
  Model before = builder.build();
  before.graph.outputs = {*before.graph.find("z")};
  Model plain = before, both = before;
  for (const PassResult& result : prepare(plain)) {
    REQUIRE(result.name.find("collapsing") == std::string_view::npos);
    REQUIRE(result.gone.empty());
  }
  REQUIRE(types_of(plain) == "Conv Conv Conv Add");
  std::map<std::string_view, std::vector<std::string>> gone;
  for (const PassResult& result : prepare(both, {true, true})) gone[result.name] = result.gone;
  REQUIRE(types_of(both) == "Conv Conv");
  REQUIRE(gone["linear_collapsing"] == std::vector<std::string>{"y_node"});
  REQUIRE(gone["residual_collapsing"] == std::vector<std::string>{"z_node"});
  REQUIRE(relative_difference(before, both, random_inputs(before)) < 1e-5);
}
