// SPDX-License-Identifier: Apache-2.0
#include "core/framework/layer_filter_params.h"

#include "core/base/error.h"
#include "core/base/json.h"
#include "tests/catch.h"
#include "tests/framework/build_graph.h"

using namespace tersor;
using namespace tersor::framework;

TEST_CASE("each comparison holds where it should, and none for an attribute that is not there") {
  test::GraphBuilder b;
  b.node("LeakyRelu", "n", {b.input("x")},
         {{"alpha", 0.25f}, {"word", std::string("abc")}, {"axes", std::vector<int64_t>{1, 3}}});
  const Node& n = b.named("n");
  const auto holds = [&](const AttributeFilter& filter) { return filter.matches(b.graph, n); };
  REQUIRE(holds(Eq("alpha", 0.25)));
  REQUIRE_FALSE(holds(Eq("alpha", 0.5)));
  REQUIRE(holds(NotEq("alpha", 0.5)));
  REQUIRE_FALSE(holds(NotEq("alpha", 0.25)));
  REQUIRE(holds(Greater("alpha", 0.2)));
  REQUIRE_FALSE(holds(Greater("alpha", 0.25)));
  REQUIRE(holds(GreaterEq("alpha", 0.25)));
  REQUIRE_FALSE(holds(GreaterEq("alpha", 0.3)));
  REQUIRE(holds(Smaller("alpha", 0.3)));
  REQUIRE_FALSE(holds(Smaller("alpha", 0.25)));
  REQUIRE(holds(SmallerEq("alpha", 0.25)));
  REQUIRE_FALSE(holds(SmallerEq("alpha", 0.2)));
  REQUIRE(holds(Contains("axes", 3.0)));
  REQUIRE_FALSE(holds(Contains("axes", 2.0)));
  REQUIRE(holds(Contains("word", "bc")));
  REQUIRE(holds(Eq("word", "abc")));
  REQUIRE_FALSE(holds(Greater("word", 1.0)));
  for (const auto& filter :
       {Eq("none", 1.0), NotEq("none", 1.0), Greater("none", 1.0), SmallerEq("none", 1.0), Contains("none", 1.0)})
    REQUIRE_FALSE(holds(filter));
  REQUIRE(holds(Eq("alpha", 0.25) & Contains("axes", 1.0)));
  REQUIRE_FALSE(holds(Eq("alpha", 0.25) & Contains("axes", 2.0)));
  REQUIRE(holds(Eq("alpha", 9.0) | Contains("axes", 1.0)));
  REQUIRE(holds((Eq("alpha", 9.0) | Eq("word", "abc")) & NotEq("alpha", 1.0)));
  REQUIRE_FALSE(holds(Or({})));
  REQUIRE(holds(And({})));
}

TEST_CASE("bounds of a Clip are found as inputs or attributes, and ONNX defaults where nothing is said") {
  test::GraphBuilder b;
  const ValueId x = b.input("x");
  b.node("Clip", "new", {x, b.constant("lo", Shape{}, {0.0f}), b.constant("hi", Shape{}, {6.0f})});
  b.node("Clip", "old", {x}, {{"min", 0.0f}, {"max", 6.0f}});
  b.node("Clip", "half", {x, ValueId{}, b.constant("hi2", Shape{}, {6.0f})});
  b.node("Clip", "runtime", {x, x});
  b.node("Conv", "conv", {x, b.constant("w", {4, 1, 3, 3})}, {{"group", int64_t{4}}});
  b.node("Conv", "plain", {x, b.constant("w2", {4, 4, 3, 3})});
  const LayerFilterParams relu6("Clip", {Eq("min", 0.0), Eq("max", 6.0)});
  REQUIRE(relu6.matches(b.graph, b.named("new")));
  REQUIRE(relu6.matches(b.graph, b.named("old")));
  REQUIRE_FALSE(relu6.matches(b.graph, b.named("half")));
  REQUIRE_FALSE(relu6.matches(b.graph, b.named("runtime")));
  REQUIRE_FALSE(relu6.matches(b.graph, b.named("conv")));
  REQUIRE(LayerFilterParams("Conv", {Eq("depthwise", 1.0)}).matches(b.graph, b.named("conv")));
  REQUIRE_FALSE(LayerFilterParams("Conv", {Eq("depthwise", 1.0)}).matches(b.graph, b.named("plain")));
  REQUIRE(LayerFilterParams("Conv", {}, {{"group", 1.0}}).matches(b.graph, b.named("plain")));
  REQUIRE_FALSE(LayerFilterParams("Conv", {}, {{"group", 1.0}}).matches(b.graph, b.named("conv")));
  REQUIRE_FALSE(LayerFilterParams("Conv", {}, {{"speed", 1.0}}).matches(b.graph, b.named("conv")));
}

TEST_CASE("a filter survives the way through JSON") {
  const LayerFilterParams filter("Clip",
                                 {Eq("min", 0.0), SmallerEq("max", 6.0) | Contains("name", "x") & NotEq("a", "b")},
                                 {{"axes", std::vector<double>{1, 2}}});
  REQUIRE(read_layer_filter(to_json(filter), "filter") == filter);
  REQUIRE(read_layer_filter(Json("Relu"), "filter").plain());
  const char* all_and_any = R"({"layer": "Clip", "all": [{"attr": "min", "op": "Eq", "value": 0}],
      "any": [{"attr": "max", "op": "Eq", "value": 6}, {"attr": "max", "op": "Eq", "value": 1}]})";
  REQUIRE(read_layer_filter(parse_json(all_and_any, "t"), "filter") ==
          LayerFilterParams("Clip", {Eq("min", 0.0), Eq("max", 6.0) | Eq("max", 1.0)}));
}

TEST_CASE("faults of a filter name their place") {
  const auto error_of = [](const char* text) {
    try {
      read_layer_filter(parse_json(text, "t"), "filter");
    } catch (const Error& error) {
      return error;
    }
    return Error(ErrorCode::kInternal, "no error");
  };
  REQUIRE(error_of("{}").message.find("\"layer\" is missing") != std::string::npos);
  REQUIRE(error_of("3").place == "filter");
  REQUIRE(error_of(R"({"layer": "A", "some": 1})").place == "filter");
  REQUIRE(error_of(R"({"layer": "A", "all": [{"attr": "a", "op": "Near", "value": 1}]})").place == "filter.all[0].op");
  REQUIRE(error_of(R"({"layer": "A", "all": [{"any": [{"attr": "a", "op": "Eq", "value": null}]}]})").place ==
          "filter.all[0].any[0].value");
}

TEST_CASE("numbers are compared as a person writes them, and absent attributes have ONNX's defaults") {
  test::GraphBuilder b;
  const ValueId x = b.input("x");
  b.node("LeakyRelu", "said", {x}, {{"alpha", 0.1f}});
  b.node("LeakyRelu", "silent", {x});
  b.node("Clip", "bound", {x, ValueId{}, b.constant("hi", Shape{}, {0.1f})});
  b.node("TopK", "top", {x, b.constant("k", Shape{1}, {1.0f})});
  const auto holds = [&](const AttributeFilter& filter, const char* name) {
    return filter.matches(b.graph, b.named(name));
  };
  REQUIRE(holds(Eq("alpha", 0.1), "said"));
  REQUIRE(holds(GreaterEq("alpha", 0.1), "said"));
  REQUIRE(holds(Eq("alpha", 0.01), "silent"));
  REQUIRE(holds(Eq("max", 0.1), "bound"));
  REQUIRE(holds(Eq("largest", 1.0), "top"));
  REQUIRE(holds(Eq("axis", -1.0), "top"));
}
