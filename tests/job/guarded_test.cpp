// SPDX-License-Identifier: Apache-2.0
// What the guards of the written graph and its check make of each other, on every platform.
#include "core/job/tersor.h"
#include "core/onnx/read.h"
#include "core/tpc/builtin.h"
#include "tests/catch.h"
#include "tests/support/quantized.h"

namespace guarded_test {
using namespace tersor;
using tersor::test::NamedModel;
using Arithmetic = ptq::NodeOutcome::Arithmetic;

namespace {

using Ints = std::vector<int64_t>;

struct Made : test::Quantized {
  Arithmetic outcome_of(const char* type) const {
    for (size_t i = 0; i < job->model.graph.nodes().size(); ++i)
      if (job->model.graph.nodes()[i].is(type)) return result.plan.outcomes[i].arithmetic;
    FAIL("no such node");
    return Arithmetic::kFloat;
  }
};

Made make(const Model& model, const std::string& platform) {
  Settings settings{tpc::get_target_platform_capabilities_by_label(platform), {}};
  settings.config.weights_bias_correction_method = config::BiasCorrectionMethod::kAnalytic;  // needs no samples
  return {test::quantize_on_noise(model, std::move(settings), 16)};
}

void require_every_platform(const Model& model) {
  for (const tpc::PlatformLabel& label : tpc::builtin_platforms()) {
    const std::string name = label.name + "@v" + std::to_string(label.version);
    INFO(name);
    const Made made = make(model, name);
    const double most = label.name.rfind("weight-only", 0) == 0 || label.name == "ort-matmul-nbits" ? 0.4
                        : label.name == "imx500"                                                    ? 0.3
                                                                                                    : 0.1;
    REQUIRE(test::relative_difference(model, onnx::read(onnx::Source::of(made.result.bytes)),
                                      test::random_inputs(model, 100)) < most);
  }
}

/// A feature map that is given out and goes on as tokens.
Model tokens(bool with_relu) {
  NamedModel model;
  model.input("x", {1, 3, 6, 6}).weight("w1", {8, 3, 3, 3}).weight("b1", {8}).weight("w2", {6, 4});
  model.node("Conv", {"x", "w1", "b1"}, {with_relu ? "c" : "feat"}, {{"pads", Ints{1, 1, 1, 1}}});
  if (with_relu) model.node("Relu", {"c"}, {"feat"});
  model.node("Transpose", {"feat"}, {"t"}, {{"perm", Ints{0, 2, 3, 1}}});
  model.weight("w3", {8, 4}).node("MatMul", {"t", "w3"}, {"y"});
  return model.output("feat").output("y").build();
}

}  // namespace

TEST_CASE("a feature map that is given out and transposed quantizes on every platform") {
  require_every_platform(tokens(false));
  require_every_platform(tokens(true));
}

TEST_CASE("a node that a guard keeps apart is reported in float") {
  REQUIRE(make(tokens(false), "ort-cpu").outcome_of("Transpose") == Arithmetic::kFloat);
}

TEST_CASE("a Conv whose bias is computed quantizes on every platform") {
  NamedModel model;
  model.input("x", {1, 3, 6, 6}).weight("w", {4, 3, 3, 3}).input("z", {1, 5}).weight("m", {5, 4});
  model.node("MatMul", {"z", "m"}, {"p"}).constant("shape", Tensor::of<int64_t>(Shape{1}, {4}));
  model.node("Reshape", {"p", "shape"}, {"b"}).node("Conv", {"x", "w", "b"}, {"c"}).node("Relu", {"c"}, {"y"});
  require_every_platform(model.output("y").build());
}

TEST_CASE("int8 activations that go on moved have their pair written, from operator set 21 on") {
  NamedModel model;
  model.input("x", {1, 3, 6, 6}).weight("w", {4, 3, 3, 3}).node("Conv", {"x", "w"}, {"c"});
  model.constant("shape", Tensor::of<int64_t>({3}, Ints{1, 4, 16})).node("Reshape", {"c", "shape"}, {"r"});
  model.node("Transpose", {"r"}, {"t"}, {{"perm", Ints{0, 2, 1}}}).node("Sin", {"t"}, {"y"}).output("y");
  for (const int64_t opset : {int64_t{13}, int64_t{21}}) {
    Model built = model.build();
    built.opset_imports[0].version = opset;
    built.ir_version = 10;
    const Made made = make(built, "ort-cpu-s8s8");
    const std::string types = test::types_of(onnx::read(onnx::Source::of(made.result.bytes)));
    INFO(types);
    const bool paired = types.find(
                            "Reshape QuantizeLinear DequantizeLinear Transpose QuantizeLinear DequantizeLinear "
                            "Sin") != std::string::npos;
    const bool moved = types.find("DequantizeLinear Reshape") != std::string::npos;
    REQUIRE(moved);
    REQUIRE(paired == (opset == 21));
  }
}

}  // namespace guarded_test
