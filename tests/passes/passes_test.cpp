// SPDX-License-Identifier: Apache-2.0
#include "core/passes/passes.h"

#include <cmath>

#include "core/graph/validate.h"
#include "core/passes/pipeline.h"
#include "tests/catch.h"
#include "tests/support/named_model.h"

namespace passes_test {
using namespace tersor;
using namespace tersor::passes;
using tersor::test::NamedModel;
using tersor::test::random_inputs;
using tersor::test::relative_difference;
using tersor::test::types_of;

namespace {

using Ints = std::vector<int64_t>;

/// Runs one pass, checks that the model stays valid and computes the same, and returns the types of its nodes.
std::string after(int (*pass)(Model&), const Model& before, int expected_changes, Model* result = nullptr) {
  Model model = before;
  REQUIRE(pass(model) == expected_changes);
  validate(model);
  REQUIRE(relative_difference(before, model, random_inputs(before)) < 1e-5);
  REQUIRE(model.graph.inputs == before.graph.inputs);
  for (size_t k = 0; k < before.graph.outputs.size(); ++k)
    REQUIRE(model.graph.name_of(model.graph.outputs[k]) == before.graph.name_of(before.graph.outputs[k]));
  if (result != nullptr) *result = model;
  return types_of(model);
}

NamedModel& normalization(NamedModel& builder, const std::string& in, const std::string& out, int64_t channels) {
  return builder.weight("gamma", {channels}, 0.5f, 2)
      .weight("beta", {channels})
      .weight("mean", {channels})
      .weight("variance", {channels}, 0.1f, 3)
      .node("BatchNormalization", {in, "gamma", "beta", "mean", "variance"}, {out});
}

NamedModel conv(int64_t in, int64_t out, int64_t group, const std::string& type = "Conv", bool biased = true) {
  NamedModel builder;
  builder.input("x", {2, in, 6, 5});
  const bool transposed = type == "ConvTranspose";
  builder.weight("w", transposed ? Ints{in, out / group, 3, 2} : Ints{out, in / group, 3, 2});
  if (biased) builder.weight("b", {out});
  builder.node(type, biased ? std::vector<std::string>{"x", "w", "b"} : std::vector<std::string>{"x", "w"}, {"t"},
               {{"group", group}, {"pads", Ints{1, 0, 1, 1}}});
  return builder;
}

}  // namespace

TEST_CASE("BatchNormalization folds into a Conv before it") {
  for (int64_t group : {1, 2, 4})
    for (bool biased : {false, true}) {
      NamedModel builder = conv(4, 8, group, "Conv", biased);
      const Model model = normalization(builder, "t", "y", 8).output("y").build();
      REQUIRE(after(fold_batch_norm, model, 1) == "Conv");
    }
}

TEST_CASE("BatchNormalization folds into a ConvTranspose by the output channels of each group") {
  constexpr int64_t kIn = 4, kOut = 6, kTaps = 6;
  for (int64_t group : {1, 2}) {
    NamedModel builder = conv(kIn, kOut, group, "ConvTranspose");
    const Model before = normalization(builder, "t", "y", kOut).output("y").build();
    Model model = before;
    REQUIRE(fold_batch_norm(model) == 1);
    validate(model);
    const auto values = [](const Model& from, const char* name) {
      return from.graph.initializer(*from.graph.find(name))->data<float>();
    };
    const auto w = values(before, "w"), b = values(before, "b"), folded = values(model, "w"), bias = values(model, "b");
    for (int64_t i = 0; i < kIn; ++i)
      for (int64_t o = 0; o < kOut / group; ++o) {
        const auto channel = static_cast<size_t>(i / (kIn / group) * (kOut / group) + o);
        const double scale = values(before, "gamma")[channel] / std::sqrt(values(before, "variance")[channel] + 1e-5);
        for (int64_t tap = 0; tap < kTaps; ++tap) {
          const auto at = static_cast<size_t>((i * (kOut / group) + o) * kTaps + tap);
          REQUIRE(folded[at] == Approx(w[at] * scale).epsilon(1e-6));
        }
        const double shifted = (b[channel] - values(before, "mean")[channel]) * scale + values(before, "beta")[channel];
        REQUIRE(bias[channel] == Approx(shifted).epsilon(1e-5).margin(1e-6));
      }
  }
}

TEST_CASE("BatchNormalization folds into a Gemm before it") {
  for (int64_t turned : {0, 1}) {
    NamedModel builder;
    builder.input("x", {3, 5}).weight("w", turned != 0 ? Ints{7, 5} : Ints{5, 7}).weight("b", {7});
    builder.node("Gemm", {"x", "w", "b"}, {"t"}, {{"transB", turned}});
    const Model model = normalization(builder, "t", "y", 7).output("y").build();
    REQUIRE(after(fold_batch_norm, model, 1) == "Gemm");
  }
}

TEST_CASE("BatchNormalization stays where the value before it is read elsewhere") {
  NamedModel builder = conv(4, 4, 1);
  normalization(builder, "t", "y", 4).output("y");
  REQUIRE(after(fold_batch_norm, NamedModel(builder).output("t").build(), 0) == "Conv BatchNormalization");
  REQUIRE(after(fold_batch_norm, NamedModel(builder).node("Relu", {"t"}, {"z"}).output("z").build(), 0) ==
          "Conv BatchNormalization Relu");
}

TEST_CASE("BatchNormalization folds into a kernel of one tap after it") {
  const auto behind = [](const std::string& type, const Ints& weight, std::map<std::string, Attribute> attributes) {
    NamedModel builder;
    builder.input("x", weight.size() == 4 ? Ints{2, 4, 6, 5} : Ints{3, 4});
    normalization(builder, "x", "t", 4).weight("w", weight);
    return builder.node(type, {"t", "w"}, {"y"}, std::move(attributes)).output("y").build();
  };
  const auto pass = fold_batch_norm_forward;
  REQUIRE(after(pass, behind("Conv", {6, 4, 1, 1}, {}), 1) == "Conv");
  REQUIRE(after(pass, behind("Conv", {6, 2, 1, 1}, {{"group", int64_t{2}}, {"strides", Ints{2, 2}}}), 1) == "Conv");
  REQUIRE(after(pass, behind("Conv", {4, 1, 1, 1}, {{"group", int64_t{4}}}), 1) == "Conv");
  REQUIRE(after(pass, behind("ConvTranspose", {4, 3, 1, 1}, {{"group", int64_t{2}}}), 1) == "ConvTranspose");
  REQUIRE(after(pass, behind("Gemm", {4, 7}, {}), 1) == "Gemm");
  REQUIRE(after(pass, behind("Gemm", {7, 4}, {{"transB", int64_t{1}}}), 1) == "Gemm");
  // Borders and places between would lack the shift.
  const std::string stays = "BatchNormalization ";
  REQUIRE(after(pass, behind("Conv", {6, 4, 3, 3}, {}), 0) == stays + "Conv");
  REQUIRE(after(pass, behind("Conv", {6, 4, 1, 1}, {{"pads", Ints{1, 1, 1, 1}}}), 0) == stays + "Conv");
  REQUIRE(after(pass, behind("ConvTranspose", {4, 3, 1, 1}, {{"strides", Ints{2, 2}}}), 0) == stays + "ConvTranspose");
  REQUIRE(after(pass, behind("Gemm", {4, 7}, {{"alpha", 2.0f}}), 0) == stays + "Gemm");
}

TEST_CASE("a depthwise Conv of one tap folds like a BatchNormalization") {
  const auto two = [](std::map<std::string, Attribute> attributes) {
    attributes["group"] = int64_t{4};
    NamedModel builder;
    builder.input("x", {2, 4, 6, 5}).weight("d", {4, 1, 1, 1}).weight("e", {4}).weight("w", {6, 4, 1, 1});
    builder.node("Conv", {"x", "d", "e"}, {"t"}, std::move(attributes));
    return builder.node("Conv", {"t", "w"}, {"y"}).output("y").build();
  };
  REQUIRE(after(fold_batch_norm_forward, two({}), 1) == "Conv");
  REQUIRE(after(fold_batch_norm_forward, two({{"strides", Ints{2, 2}}}), 0) == "Conv Conv");
  REQUIRE(after(fold_batch_norm_forward, two({{"pads", Ints{0, 0, 1, 0}}}), 0) == "Conv Conv");
}

TEST_CASE("constants added to and multiplied with the output of a Conv fold into it") {
  for (const char* type : {"Add", "Sub", "Mul", "Div"})
    for (const Ints& dims : {Ints{8, 1, 1}, Ints{1, 8, 1, 1}, Ints{}, Ints{1}, Ints{1, 1, 1, 1}}) {
      const Model model = conv(4, 8, 2).weight("c", dims, 0.5f, 2).node(type, {"t", "c"}, {"y"}).output("y").build();
      REQUIRE(after(fold_constant_affine, model, 1) == "Conv");
    }
}

TEST_CASE("constants that differ along space, widen the shape or are subtracted from stay nodes") {
  for (const Ints& dims : {Ints{1, 1, 6, 5}, Ints{5}, Ints{2, 8, 1, 1}, Ints{1, 1, 8, 1, 1}}) {
    const Model model = conv(4, 8, 1).weight("c", dims, 0.5f, 2).node("Mul", {"t", "c"}, {"y"}).output("y").build();
    REQUIRE(after(fold_constant_affine, model, 0) == "Conv Mul");
  }
  const Model from = conv(4, 8, 1).weight("c", {8, 1, 1}).node("Sub", {"c", "t"}, {"y"}).output("y").build();
  REQUIRE(after(fold_constant_affine, from, 0) == "Conv Sub");
  const Model by_zero =
      conv(4, 8, 1).constant("c", Tensor::scalar(0.0f)).node("Div", {"t", "c"}, {"y"}).output("y").build();
  Model same = by_zero;
  REQUIRE(fold_constant_affine(same) == 0);
}

TEST_CASE("a chain of scale, shift and normalization folds in one pipeline") {
  NamedModel builder = conv(4, 8, 1, "Conv", false);
  builder.weight("c", {8, 1, 1}).node("Add", {"t", "c"}, {"u"});
  normalization(builder, "u", "v", 8).weight("d", {8, 1, 1}, 1, 2).node("Mul", {"d", "v"}, {"w2"});
  builder.weight("e", {1, 8, 1, 1}).node("Add", {"w2", "e"}, {"y"}).node("Relu", {"y"}, {"z"}).output("z");
  const Model before = builder.build();
  Model model = before;
  prepare(model, {}, [](const Pass& pass, const Model& current) {
    INFO(pass.name);
    REQUIRE_NOTHROW(validate(current));
  });
  REQUIRE(types_of(model) == "Conv Relu");
  REQUIRE(relative_difference(before, model, random_inputs(before)) < 1e-5);
}

TEST_CASE("MatMul and the Add of a bias after it become Gemm") {
  for (const Ints& dims : {Ints{7}, Ints{1, 7}, Ints{1}, Ints{}}) {
    NamedModel builder;
    builder.input("x", {3, 5}).weight("w", {5, 7}).weight("b", dims);
    const Model model = builder.node("MatMul", {"x", "w"}, {"t"}).node("Add", {"b", "t"}, {"y"}).output("y").build();
    REQUIRE(after(join_matmul_add, model, 1) == "Gemm");
  }
}

TEST_CASE("Gemms that were given the same bias have one each") {
  NamedModel builder;
  builder.input("x", {3, 5}).weight("w", {5, 7}).weight("v", {5, 7}).weight("b", {7});
  builder.node("MatMul", {"x", "w"}, {"s"}).node("Add", {"s", "b"}, {"y"}).output("y");
  Model model = builder.node("MatMul", {"x", "v"}, {"t"}).node("Add", {"t", "b"}, {"z"}).output("z").build();
  REQUIRE(join_matmul_add(model) == 2);
  REQUIRE(model.graph.nodes()[0].inputs[2] != model.graph.nodes()[1].inputs[2]);
}

TEST_CASE("MatMul stays where its input has three axes or the Add is no bias") {
  NamedModel three;
  three.input("x", {2, 3, 5}).weight("w", {5, 7}).weight("b", {7}).node("MatMul", {"x", "w"}, {"t"});
  REQUIRE(after(join_matmul_add, three.node("Add", {"t", "b"}, {"y"}).output("y").build(), 0) == "MatMul Add");
  NamedModel rows;
  rows.input("x", {3, 5}).weight("w", {5, 7}).weight("b", {3, 7}).node("MatMul", {"x", "w"}, {"t"});
  REQUIRE(after(join_matmul_add, rows.node("Add", {"t", "b"}, {"y"}).output("y").build(), 0) == "MatMul Add");
}

TEST_CASE("alpha and beta of a Gemm fold into weight and bias") {
  for (const Ints& dims : {Ints{7}, Ints{1, 7}, Ints{1}, Ints{}}) {
    NamedModel builder;
    builder.input("x", {3, 5}).weight("w", {5, 7}).weight("b", dims);
    builder.node("Gemm", {"x", "w", "b"}, {"y"}, {{"alpha", 0.25f}, {"beta", -3.0f}}).output("y");
    Model result;
    REQUIRE(after(fold_gemm_scalars, builder.build(), 1, &result) == "Gemm");
    const Node& node = result.graph.nodes()[0];
    REQUIRE(node.float_or("alpha", 1) == 1);
    REQUIRE(node.float_or("beta", 1) == 1);
    REQUIRE(result.graph.initializer(node.inputs[2])->shape() == Shape{7});
  }
}

TEST_CASE("folding into a weight that two nodes share changes one of them only") {
  NamedModel builder;
  builder.input("x", {1, 4, 5, 5}).weight("w", {4, 4, 3, 3}).weight("c", {4, 1, 1}, 2, 3);
  builder.node("Conv", {"x", "w"}, {"t"}).node("Mul", {"t", "c"}, {"u"}).node("Conv", {"u", "w"}, {"y"}).output("y");
  REQUIRE(after(fold_constant_affine, builder.build(), 1) == "Conv Conv");
}

TEST_CASE("every kernel operator gets a weight of its own") {
  NamedModel builder;
  builder.input("x", {1, 4, 5, 5}).weight("w", {4, 4, 1, 1}).weight("b", {4});
  builder.node("Conv", {"x", "w", "b"}, {"t"}).node("Conv", {"t", "w", "b"}, {"u"});
  builder.node("Mul", {"u", "w"}, {"y"}).output("y");
  Model result;
  after(copy_shared_weights, builder.build(), 3, &result);  // both weights (Mul reads it too), the second bias
  const auto& nodes = result.graph.nodes();
  REQUIRE(nodes[0].inputs[1] != nodes[1].inputs[1]);
  REQUIRE(nodes[0].inputs[1] != nodes[2].inputs[1]);
  REQUIRE(nodes[0].inputs[2] != nodes[1].inputs[2]);
  REQUIRE(result.graph.initializer(nodes[0].inputs[1])->bytes().data() ==
          result.graph.initializer(nodes[1].inputs[1])->bytes().data());
}

TEST_CASE("Identity and an idle Dropout disappear and outputs keep their names") {
  NamedModel builder;
  builder.input("x", {2, 3}).node("Relu", {"x"}, {"a"}).node("Identity", {"a"}, {"b"});
  builder.node("Dropout", {"b"}, {"c"}).node("Identity", {"c"}, {"y"}).node("Relu", {"b"}, {"z"});
  builder.output("y").output("z");
  REQUIRE(after(remove_identities, builder.build(), 3) == "Relu Relu");
}

TEST_CASE("an Identity from an input to an output stays") {
  NamedModel builder;
  builder.input("x", {2, 3}).node("Identity", {"x"}, {"y"}).output("y");
  REQUIRE(after(remove_identities, builder.build(), 0) == "Identity");
  NamedModel twice;
  twice.input("x", {2, 3}).node("Relu", {"x"}, {"a"}).node("Identity", {"a"}, {"y"}).output("a").output("y");
  REQUIRE(after(remove_identities, twice.build(), 0) == "Relu Identity");
}

TEST_CASE("what depends on constants alone is computed beforehand") {
  NamedModel builder;
  builder.input("x", {1, 4}).constant("shape", Tensor::of<int64_t>(Shape{2}, {4, 3})).weight("flat", {12});
  builder.node("Reshape", {"flat", "shape"}, {"w"}).node("Transpose", {"w"}, {"wt"}, {{"perm", Ints{1, 0}}});
  builder.node("Gemm", {"x", "wt"}, {"y"}, {{"transB", int64_t{1}}}).output("y");
  Model result;
  REQUIRE(after(fold_constants, builder.build(), 2, &result) == "Gemm");
  REQUIRE(result.graph.initializer(result.graph.nodes()[0].inputs[1])->shape() == Shape{3, 4});
}

TEST_CASE("a constant that is a graph output stays a node") {
  NamedModel builder;
  builder.input("x", {1, 4}).weight("w", {4}).node("Relu", {"w"}, {"y"}).node("Relu", {"x"}, {"z"});
  builder.output("y").output("z");
  REQUIRE(after(fold_constants, builder.build(), 0) == "Relu Relu");
}

TEST_CASE("nodes and constants that nothing needs are dropped") {
  NamedModel builder;
  builder.input("x", {1, 4}).weight("w", {4}).node("Relu", {"x"}, {"y"}).node("Mul", {"y", "w"}, {"unused"});
  builder.output("y");
  Model result;
  REQUIRE(after(remove_unused, builder.build(), 1, &result) == "Relu");
  REQUIRE(result.graph.initializers().empty());
}

TEST_CASE("an If with a constant condition gives way to its branch") {
  const auto branch = [](const std::string& type, const std::string& inner_output) {
    NamedModel inner;
    inner.weight("w", {3}).node(type, {"x", "w"}, {"t"}).node("Relu", {"t"}, {inner_output}).output(inner_output);
    inner.output("x").output(inner_output).output("w");
    return std::make_shared<const Graph>(inner.build().graph);
  };
  for (const bool holds : {true, false}) {
    NamedModel builder(3);
    builder.input("x", {2, 3}).weight("w", {3}).constant("c", Tensor::scalar(holds)).node("Mul", {"x", "w"}, {"t"});
    builder.node("If", {"c"}, {"made", "same", "again", "weight"},
                 {{"then_branch", branch("Add", "y")}, {"else_branch", branch("Sub", "z")}});
    for (const char* name : {"t", "made", "same", "again", "weight"}) builder.output(name);
    Model result;
    const std::string tail = " Relu Identity Identity Identity";
    REQUIRE(after(inline_constant_if, builder.build(), 1, &result) == (holds ? "Mul Add" : "Mul Sub") + tail);
    REQUIRE(result.graph.find("t_2"));
  }
}

TEST_CASE("an If inside a branch goes too, and what stays reads the new names") {
  const auto graph = [](NamedModel& inner) { return std::make_shared<const Graph>(inner.build().graph); };
  NamedModel plus, minus, kept, constant, taken, never;
  plus.node("Add", {"s", "s"}, {"p"}).output("p");
  minus.node("Sub", {"s", "x"}, {"m"}).output("m");
  taken.constant("yes", Tensor::scalar(true)).node("Identity", {"yes"}, {"still"}).node("Tanh", {"x"}, {"s"});
  taken.node("If", {"still"}, {"u"}, {{"then_branch", graph(minus)}, {"else_branch", graph(plus)}});
  taken.node("If", {"open"}, {"v"}, {{"then_branch", graph(plus)}, {"else_branch", graph(minus)}});
  taken.output("u").output("v");
  never.node("Nothing", {"x"}, {"q"}).output("q").output("q");
  NamedModel builder;
  builder.input("x", {2, 3}).node("Relu", {"x"}, {"s"}).node("ReduceSum", {"x"}, {"sum"}, {{"keepdims", int64_t{0}}});
  builder.node("Greater", {"sum", "sum"}, {"open"}).constant("yes", Tensor::scalar(true));
  builder.node("If", {"yes"}, {"a", "b"}, {{"then_branch", graph(taken)}, {"else_branch", graph(never)}});
  builder.node("Add", {"a", "b"}, {"y"}).output("s").output("y");
  Model result;
  REQUIRE(after(inline_constant_if, builder.build(), 2, &result) == "Relu ReduceSum Greater Tanh Sub If Add");
  REQUIRE(result.graph.find("s_2"));
}

}  // namespace passes_test
