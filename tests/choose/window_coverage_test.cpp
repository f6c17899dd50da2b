// SPDX-License-Identifier: Apache-2.0
#include "core/choose/window_coverage.h"

#include "core/ops/registry.h"
#include "core/run/program.h"
#include "tests/catch.h"
#include "tests/support/named_model.h"

using namespace tersor;
using Ints = std::vector<int64_t>;

TEST_CASE("the share of positions at which a tap meets the input is that of a Conv over ones") {
  struct Case {
    Ints pads, strides, dilations;
    std::string auto_pad;
  };
  const std::vector<Case> cases{{{1, 1, 1, 1}, {1, 1}, {1, 1}, "NOTSET"},
                                {{0, 2, 1, 0}, {2, 1}, {1, 2}, "NOTSET"},
                                {{}, {2, 2}, {1, 1}, "SAME_UPPER"},
                                {{}, {1, 2}, {2, 1}, "SAME_LOWER"},
                                {{}, {1, 1}, {1, 1}, "VALID"}};
  for (const Case& one : cases) {
    test::NamedModel model;
    model.input("x", {1, 1, 7, 9});
    // Nine output channels, each with one tap of the window.
    Tensor taps = Tensor::make(DType::kFloat32, Shape{9, 1, 3, 3});
    for (size_t k = 0; k < 9; ++k) taps.mutable_data<float>()[k * 9 + k] = 1;
    std::map<std::string, Attribute> attributes{{"strides", one.strides}, {"dilations", one.dilations}};
    if (!one.pads.empty()) attributes["pads"] = one.pads;
    if (one.auto_pad != "NOTSET") attributes["auto_pad"] = one.auto_pad;
    const Model built = model.constant("w", taps).node("Conv", {"x", "w"}, {"y"}, attributes).output("y").build();
    Tensor ones = Tensor::make(DType::kFloat32, Shape{1, 1, 7, 9});
    for (float& x : ones.mutable_data<float>()) x = 1;
    const std::vector<Tensor> inputs{ones};
    const Tensor result = run::Runner(run::Program::compile(built, ops::standard())).run(inputs)[0];
    const int64_t positions = result.elements() / 9;
    const auto coverage = ptq::window_coverage(built.graph.nodes()[0], ones.shape(), {3, 3});
    for (int64_t tap = 0; tap < 9; ++tap) {
      double sum = 0;
      for (int64_t k = 0; k < positions; ++k) sum += result.data<float>()[static_cast<size_t>(tap * positions + k)];
      REQUIRE(coverage[static_cast<size_t>(tap)] == Approx(sum / static_cast<double>(positions)));
    }
  }
}
