// SPDX-License-Identifier: Apache-2.0
#include "core/report/graph_view.h"

#include "core/decide/outcomes.h"
#include "core/framework/attach.h"
#include "core/framework/framework_info.h"
#include "core/tpc/builtin.h"
#include "tests/catch.h"
#include "tests/support/named_model.h"

using namespace tersor;
using test::NamedModel;

namespace {

report::GraphView view_of(const Model& model) {
  const auto platform = tpc::get_target_platform_capabilities("ort-cpu", std::nullopt);
  const framework::Attachment attachment =
      framework::attach(model.graph, platform, framework::onnx_framework_info(), {});
  const ptq::Placement placement = ptq::place(model.graph, attachment);
  return report::graph_view(model, model, attachment, placement,
                            ptq::expected_outcomes(model.graph, attachment, placement), platform.prices);
}

}  // namespace

TEST_CASE("a graph names what each node reads, and joins a Relu to the Conv whose quantizer does its work") {
  NamedModel model;
  model.input("x", {1, 3, 8, 8}).weight("w", {4, 3, 3, 3}).node("Conv", {"x", "w"}, {"c"}).node("Relu", {"c"}, {"r"});
  model.weight("v", {4, 4, 1, 1}).node("Conv", {"r", "v"}, {"y"}).output("y");
  const report::GraphView view = view_of(model.build());
  REQUIRE(view.nodes.size() == 3);
  REQUIRE(view.inputs.at(0).name == "x");
  REQUIRE(*view.inputs.at(0).shape == std::vector<int64_t>{1, 3, 8, 8});
  const report::GraphNode& conv = view.nodes[0];
  REQUIRE(conv.inputs == std::vector<std::string>{"x"});
  REQUIRE(conv.outputs == std::vector<std::string>{"c"});
  REQUIRE(conv.detail == "4×3 3×3");
  REQUIRE(*conv.shape == std::vector<int64_t>{1, 4, 6, 6});
  REQUIRE(conv.support == report::Support::kInteger);
  REQUIRE(conv.weights_n_bits == 8);
  REQUIRE_FALSE(conv.joined);
  REQUIRE(*conv.float_ms > 0);
  REQUIRE(view.nodes[1].support == report::Support::kFused);
  REQUIRE(view.nodes[1].joined == 0);
  REQUIRE(view.nodes[1].activation_n_bits == 8);
  REQUIRE_FALSE(view.runtime.empty());
}

TEST_CASE("the product of a Swish in float joins its Sigmoid, never what both read") {
  NamedModel model;
  model.input("x", {1, 2, 4, 4}).node("Erf", {"x"}, {"e"}).node("Sigmoid", {"e"}, {"s"}).node("Mul", {"e", "s"}, {"m"});
  model.weight("w", {3, 2, 1, 1}).node("Conv", {"m", "w"}, {"y"}).output("y");
  const report::GraphView view = view_of(model.build());
  if (view.nodes[2].support == report::Support::kFloat) REQUIRE(view.nodes[2].joined == 1);
  REQUIRE(view.nodes[2].joined != 0);
}

TEST_CASE("what the runtime runs of a float model keeps the names of its values") {
  NamedModel model;
  model.input("x", {1, 2, 4, 4}).weight("w", {2, 2, 1, 1}).node("Conv", {"x", "w"}, {"c"}).node("Relu", {"c"}, {"y"});
  model.output("y");
  tpc::PriceList prices;
  prices.prices["Conv/pointwise"].node = 2e6;
  const auto nodes = report::runtime_nodes(model.build(), prices);
  REQUIRE(nodes.size() == 2);
  REQUIRE(nodes[0].op == "Conv");
  REQUIRE(nodes[0].outputs == std::vector<std::string>{"c"});
  REQUIRE(*nodes[0].milliseconds == Approx(2));
  REQUIRE(*nodes[1].milliseconds == 0);
  REQUIRE_FALSE(report::runtime_nodes(model.build(), std::nullopt)[0].milliseconds);
}
