// SPDX-License-Identifier: Apache-2.0
#include "core/simulate/joined_bias.h"

#include <algorithm>
#include <cmath>

#include "core/simulate/fuse.h"
#include "core/simulate/program.h"
#include "tests/catch.h"
#include "tests/support/named_model.h"

using namespace tersor;
using test::NamedModel;

namespace {

/// x -> Q, DQ -> MatMul(int8 weight) -> Add(bias) [-> Relu] -> Q, DQ -> y
Model product(std::vector<int64_t> dims, std::vector<int64_t> bias, bool relu, int64_t first_size = 0) {
  NamedModel model;
  model.constant("s", Tensor::scalar(0.01f)).constant("z", Tensor::of<uint8_t>(Shape{}, {128}));
  model.constant("sy", Tensor::scalar(0.05f))
      .constant("zy", Tensor::of<uint8_t>(Shape{}, {relu ? uint8_t{0} : uint8_t{128}}));
  std::vector<int8_t> codes;
  for (int k = 0; k < 32; ++k) codes.push_back(static_cast<int8_t>(k * 37 % 255 - 127));
  model.constant("wq", Tensor::of<int8_t>(Shape{8, 4}, codes)).constant("sw", Tensor::scalar(0.02f));
  model.constant("zw", Tensor::of<int8_t>(Shape{}, {0}));
  model.input("x", std::move(dims)).weight("b", std::move(bias));
  model.node("QuantizeLinear", {"x", "s", "z"}, {"xq"}).node("DequantizeLinear", {"xq", "s", "z"}, {"xd"});
  model.node("DequantizeLinear", {"wq", "sw", "zw"}, {"w"}).node("MatMul", {"xd", "w"}, {"m"});
  model.node("Add", {"m", "b"}, {"a"});
  if (relu) model.node("Relu", {"a"}, {"r"});
  model.node("QuantizeLinear", {relu ? "r" : "a", "sy", "zy"}, {"yq"});
  model.node("DequantizeLinear", {"yq", "sy", "zy"}, {"y"}).output("y");
  Model built = model.build();
  if (first_size < 0) (*built.graph.value(built.graph.inputs[0]).shape)[0] = Dim{-1, "N"};
  return built;
}

std::vector<std::string> types_of_fused(const Model& model) {
  std::vector<std::string> types;
  const simulate::FusedModel fused = simulate::fuse(model, simulate::Profile::kX64);
  for (const Node& node : fused.model.graph.nodes()) types.push_back(node.op_type);
  return types;
}

using Types = std::vector<std::string>;

}  // namespace

TEST_CASE("a product and its bias are one integer Gemm where the runtime knows the shape") {
  const Types gemm{"QuantizeLinear", "DequantizeLinear", "DequantizeLinear", "QGemm", "DequantizeLinear"};
  REQUIRE(types_of_fused(product({3, 8}, {4}, false)) == gemm);
  REQUIRE(types_of_fused(product({3, 8}, {4}, false, -1)) == gemm);
  REQUIRE(types_of_fused(product({2, 3, 8}, {4}, false)) == gemm);
  REQUIRE(types_of_fused(product({3, 8}, {4}, true)) == gemm);
}

TEST_CASE("elsewhere the product is an integer kernel of its own, and the bias a float Add") {
  for (const Model& model : {product({2, 3, 8}, {4}, false, -1), product({2, 3, 8}, {1, 4}, false)}) {
    const Types types = types_of_fused(model);
    REQUIRE(std::count(types.begin(), types.end(), "MatMulIntegerToFloat") == 1);
    REQUIRE(std::count(types.begin(), types.end(), "Add") == 1);
  }
}

TEST_CASE("a Relu after a joined product of three axes leaves it in float") {
  const auto fused = simulate::fuse(product({2, 3, 8}, {4}, true), simulate::Profile::kX64);
  REQUIRE(fused.integer_nodes.empty());
  REQUIRE(fused.float_islands[0].reason.find("finds no quantizer") != std::string::npos);
}

TEST_CASE("a joined product of few bits is looked at where its bias is in it") {
  NamedModel named;
  named.constant("wq", Tensor::of<int8_t>(Shape{32, 2}, std::vector<int8_t>(64, 3)));
  named.constant("sw", Tensor::scalar(0.02f)).input("x", {2, 3, 32}).weight("b", {2});
  named.node("DequantizeLinear", {"wq", "sw"}, {"w"}).node("MatMul", {"x", "w"}, {"m"});
  const Model model = named.node("Add", {"m", "b"}, {"y"}).output("y").build();
  const auto fused = simulate::fuse(model, simulate::Profile::kX64);
  REQUIRE(fused.float_islands.size() == 1);
  REQUIRE(fused.float_islands[0].op == "MatMul");
  REQUIRE(fused.model.graph.name_of(fused.float_islands[0].output) == "y");
}

TEST_CASE("the bias of a joined product is rounded to the step of its sums") {
  const Model model = product({2, 8}, {4}, false);
  const Graph& graph = model.graph;
  const auto input = Tensor::of<float>(Shape{2, 8}, std::vector<float>(16, 0.25f));
  const Tensor y = run::Runner(simulate::compile(model, simulate::Profile::kX64)).run(std::vector<Tensor>{input})[0];
  const Tensor codes = graph.initializer(*graph.find("wq"))->aligned(),
               bias = graph.initializer(*graph.find("b"))->aligned();
  const float step = 0.01f * 0.02f;
  for (size_t c = 0; c < 4; ++c) {
    int64_t sum = std::lrintf(bias.data<float>()[c] / step);
    for (size_t k = 0; k < 8; ++k) sum += 25 * codes.data<int8_t>()[k * 4 + c];
    const float expected = std::nearbyintf(static_cast<float>(sum) * (step / 0.05f)) * 0.05f;
    REQUIRE(y.data<float>()[c] == Approx(expected).margin(1e-6));
  }
}
