// SPDX-License-Identifier: Apache-2.0
// What a runtime would make of the file must be what the report says of it, and every runtime must open it.
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "core/base/error.h"
#include "core/graph/uses.h"
#include "tests/catch.h"
#include "tests/support/corrected.h"

namespace right_in_runtimes_test {
using namespace tersor;
using test::count;
using test::NamedModel;

namespace {

using Ints = std::vector<int64_t>;

const char* const kAllPlatforms[] = {"ort-cpu",  "ort-cpu-s8s8", "ort-cpu-avx2", "ort-web", "openvino",
                                     "tensorrt", "qnn",          "tflite",       "qnnpack", "imx500"};

struct Made {
  std::shared_ptr<const Job> job;
  QuantizeResult result;

  Made(const Model& model, const char* platform, const config::QuantizationConfig& config = test::plain_config())
      : job(test::job_of(model, platform, config)), result(quantize(*job, test::statistics_of(*job))) {}
  const Graph& graph() const { return result.model.graph; }
  double sqnr() const { return test::sqnr(*job, result.model); }
  /// The scale of the tensor of that name; 0 where it has no quantizer.
  double scale(const std::string& name) const {
    const auto id = graph().find(name + "_scale");
    return id ? static_cast<double>(graph().initializer(*id)->aligned().data<float>()[0]) : 0;
  }
  const Node* maker(const Node& node, size_t input) const {
    const Uses uses(graph());
    const auto index = uses.producer_index(node.inputs[input]);
    return index ? &graph().nodes()[*index] : nullptr;
  }
};

/// Attention over `keys` keys whose scores lie close together.
Model attention(int64_t keys) {
  NamedModel model;
  model.input("x", {1, 4, 16}).weight("wq", {16, 8}, -0.05f, 0.05f).weight("k", {8, keys}).weight("v", {keys, 8});
  model.node("MatMul", {"x", "wq"}, {"q"}).node("MatMul", {"q", "k"}, {"s"});
  model.node("Softmax", {"s"}, {"p"}, {{"axis", int64_t{-1}}}).node("MatMul", {"p", "v"}, {"y"});
  return model.output("y").build();
}

Model padded_below(float filling) {
  NamedModel model;
  model.input("x", {1, 3, 8, 8}).weight("w", {8, 3, 3, 3}).weight("b", {8}).weight("v", {4, 8, 3, 3});
  model.constant("pads", Tensor::of<int64_t>(Shape{8}, {0, 0, 1, 1, 0, 0, 1, 1}));
  model.constant("filling", Tensor::scalar(filling));
  model.node("Conv", {"x", "w", "b"}, {"c"}, {{"pads", Ints{1, 1, 1, 1}}}).node("LeakyRelu", {"c"}, {"r"});
  model.node("Pad", {"r", "pads", "filling"}, {"p"});
  model.node("MaxPool", {"p"}, {"m"}, {{"kernel_shape", Ints{3, 3}}, {"strides", Ints{2, 2}}});
  return model.node("Conv", {"m", "v"}, {"y"}).output("y").build();
}

/// A LayerNormalization in parts whose input is small in most rows.
Model normalized(const char* root) {
  NamedModel model;
  model.input("x", {1, 6, 16}).weight("w", {16, 16}).weight("rows", {1, 6, 1}, 0.001f, 0.002f).weight("v", {16, 8});
  Tensor sizes = Tensor::of<float>(Shape{1, 6, 1}, {1, 0.01f, 0.02f, 0.005f, 0.01f, 0.1f});
  model.constant("sizes", std::move(sizes)).constant("two", Tensor::scalar(2.0f));
  model.constant("epsilon", Tensor::scalar(1e-9f)).constant("power", Tensor::scalar(-0.5f));
  model.node("MatMul", {"x", "w"}, {"a"}).node("Mul", {"a", "sizes"}, {"b"});
  model.node("ReduceMean", {"b"}, {"mean"}, {{"axes", Ints{-1}}}).node("Sub", {"b", "mean"}, {"d"});
  model.node("Pow", {"d", "two"}, {"e"}).node("ReduceMean", {"e"}, {"f"}, {{"axes", Ints{-1}}});
  model.node("Add", {"f", "epsilon"}, {"g"});
  if (std::string(root) == "Div") {
    model.node("Sqrt", {"g"}, {"h"}).node("Div", {"d", "h"}, {"n"});
  } else if (std::string(root) == "Reciprocal") {
    model.node("Sqrt", {"g"}, {"h"}).node("Reciprocal", {"h"}, {"i"}).node("Mul", {"d", "i"}, {"n"});
  } else {
    model.node("Pow", {"g", "power"}, {"i"}).node("Mul", {"d", "i"}, {"n"});
  }
  return model.node("MatMul", {"n", "v"}, {"y"}).output("y").build();
}

}  // namespace

TEST_CASE("a Softmax over many keys has the range that was seen where it is computed in float") {
  for (const char* platform : {"ort-cpu", "ort-cpu-s8s8", "ort-web", "openvino", "tensorrt"}) {
    CAPTURE(platform);
    const Made made(attention(400), platform);
    REQUIRE(made.scale("p") > 0);
    REQUIRE(made.scale("p") < 0.2 / 256);
    REQUIRE(made.sqnr() > 30);
  }
  REQUIRE(Made(attention(400), "tflite").scale("p") == 1.0 / 256);  // its integer kernel asks for it
}

TEST_CASE("a Softmax that stays float is hidden from the runtime's integer kernel") {
  NamedModel model;
  model.input("x", {1, 3, 4, 4}).weight("w", {40, 3, 1, 1}).weight("v", {4, 40, 1, 1}).weight("u", {4, 40, 1, 1});
  model.node("Conv", {"x", "w"}, {"c"}).node("Conv", {"c", "u"}, {"z"}).output("z");
  model.node("Softmax", {"c"}, {"s"}, {{"axis", int64_t{1}}}).node("Conv", {"s", "v"}, {"y"}).output("y");
  const Made made(model.build(), "ort-cpu");
  const auto& nodes = made.graph().nodes();
  const auto softmax = std::find_if(nodes.begin(), nodes.end(), [](const Node& node) { return node.is("Softmax"); });
  REQUIRE(made.maker(*softmax, 0)->is("Sum"));
}

TEST_CASE("a filling that never wins in a MaxPool takes no place in the range") {
  for (const float filling : {-1e9f, -1e4f, std::numeric_limits<float>::lowest()})
    for (const char* platform : kAllPlatforms) {
      CAPTURE(platform, filling);
      REQUIRE(Made(padded_below(filling), platform).sqnr() > 25);
    }
}

TEST_CASE("what is divided by, and what it is computed from, is not rounded to even steps") {
  for (const char* root : {"Div", "Reciprocal", "Pow"})
    for (const char* platform : kAllPlatforms) {
      CAPTURE(platform, root);
      const Made made(normalized(root), platform);
      for (const char* name : {"e", "f", "g", "h"}) REQUIRE(made.scale(name) == 0);
    }
}

TEST_CASE("numbers that a mask hides inside the model may be none") {
  // 0 / 0 in each row where x is 0 or less, taken out again.
  NamedModel model;
  model.input("x", {1, 4, 8}).constant("zero", Tensor::scalar(0.0f)).weight("w", {8, 6}).weight("v", {8, 8});
  model.node("MatMul", {"x", "v"}, {"a"}).node("Relu", {"a"}, {"r"}).node("Div", {"r", "r"}, {"q"});
  model.node("IsNaN", {"q"}, {"none"}).node("Where", {"none", "zero", "q"}, {"s"}).node("Add", {"s", "x"}, {"t"});
  model.node("MatMul", {"t", "w"}, {"y"}).output("y");
  for (const char* platform : kAllPlatforms) {
    CAPTURE(platform);
    REQUIRE(Made(model.build(), platform).sqnr() > 20);
  }
}

TEST_CASE("a sample that makes the outputs not finite is refused as before") {
  NamedModel model;
  model.input("x", {1, 8}).weight("w", {8, 8}).weight("v", {8, 4}).node("MatMul", {"x", "w"}, {"a"});
  model.node("Log", {"a"}, {"q"}).node("MatMul", {"q", "v"}, {"y"}).output("y");
  const auto job = test::job_of(model.build(), "ort-cpu", test::plain_config());
  REQUIRE_THROWS_AS(test::statistics_of(*job), Error);
}

TEST_CASE("no scale by channel reaches what fuses into an operator with scalar scales") {
  for (const char* type : {"Mul", "Add", "Concat", "Sub"})
    for (const bool same : {true, false}) {
      NamedModel model(3);
      model.input("x", {1, 3, 6, 6}).weight("w", {16, 3, 1, 1}).weight("b", {16}).weight("u", {16, 3, 1, 1});
      model.scale_along("w", 0, 1.4).scale_along("u", 0, 1.3);
      model.node("Conv", {"x", "w", "b"}, {"h"}).node("Conv", {"x", "u"}, {"g"});
      std::map<std::string, Attribute> attributes;
      if (std::string(type) == "Concat") attributes["axis"] = int64_t{1};
      model.node(type, {"h", same ? "h" : "g"}, {"m"}, attributes);
      model.weight("v", {4, attributes.empty() ? 16 : 32, 1, 1}).node("Conv", {"m", "v"}, {"y"}).output("y");
      config::QuantizationConfig config;
      config.weights_bias_correction_method = config::BiasCorrectionMethod::kAnalytic;
      CAPTURE(type, same);
      const Made made(model.build(), "ort-cpu", config);
      for (const Node& node : made.graph().nodes()) {
        if (!node.is(type)) continue;
        for (size_t k = 0; k < node.inputs.size(); ++k) {
          const Node* const maker = made.maker(node, k);
          if (maker != nullptr && maker->is("DequantizeLinear"))
            REQUIRE(made.graph().initializer(maker->inputs[1])->elements() == 1);
        }
      }
    }
}

TEST_CASE("every node of the file has a name of its own") {
  NamedModel builder;
  builder.input("x", {1, 3, 6, 6}).weight("w", {8, 3, 3, 3}).weight("v", {8, 8, 3, 3}).weight("b", {8});
  builder.node("Conv", {"x", "w"}, {"c"}).node("Relu", {"c"}, {"r"}).node("Conv", {"r", "v", "b"}, {"d"});
  Model model = builder.node("Sigmoid", {"d"}, {"y"}).output("y").build();
  for (Node& node : model.graph.nodes()) node.name.clear();
  for (const char* platform : kAllPlatforms) {
    const Made made(model, platform);
    std::set<std::string> names;
    for (const Node& node : made.graph().nodes()) {
      REQUIRE(!node.name.empty());
      REQUIRE(names.insert(node.name).second);
    }
  }
}

TEST_CASE("a float weight is hidden after movers, and where a product and its bias become one") {
  config::QuantizationConfig config = test::plain_config();
  config.enable_weights_quantization = false;
  NamedModel model;
  model.input("x", {1, 6, 16}).weight("w", {16, 16}).weight("b", {16}).weight("v", {16, 16}).weight("u", {96, 5});
  model.constant("split", Tensor::of<int64_t>(Shape{4}, {1, 6, 2, 8}));
  model.constant("join", Tensor::of<int64_t>(Shape{3}, {1, 6, 16}));
  model.node("MatMul", {"x", "w"}, {"m"}).node("Add", {"b", "m"}, {"a"}).node("Reshape", {"a", "split"}, {"s"});
  model.node("Transpose", {"s"}, {"t"}, {{"perm", Ints{0, 2, 1, 3}}});
  model.node("Transpose", {"t"}, {"tt"}, {{"perm", Ints{0, 2, 1, 3}}}).node("Reshape", {"tt", "join"}, {"j"});
  model.node("MatMul", {"j", "v"}, {"n"}).node("Flatten", {"n"}, {"f"}).node("Gemm", {"f", "u"}, {"y"}).output("y");
  const Made made(model.build(), "ort-cpu", config);
  int guarded = 0;
  for (const Node& node : made.graph().nodes()) {
    if (!(node.is("MatMul") || node.is("Gemm"))) continue;
    const Node* const maker = made.maker(node, 0);
    REQUIRE(maker != nullptr);
    guarded += maker->is("Sum") ? 1 : 0;
    // A quantizer reaches the product and its bias: Add, Reshape, Transpose and then QuantizeLinear.
    if (node.name == "m") REQUIRE(maker->is("Sum"));
  }
  REQUIRE(guarded >= 1);
}

TEST_CASE("an Einsum that changes nothing keeps layouts from a cubic Resize") {
  NamedModel model;
  model.input("x", {1, 3, 6, 6}).weight("w", {8, 3, 3, 3}).weight("v", {4, 8, 3, 3});
  model.constant("scales", Tensor::of<float>(Shape{4}, {1, 1, 2, 2}));
  model.node("Conv", {"x", "w"}, {"c"}).node("Resize", {"c", "", "scales"}, {"r"}, {{"mode", std::string("cubic")}});
  model.node("Conv", {"r", "v"}, {"y"}).output("y");
  for (const char* platform : kAllPlatforms) {
    CAPTURE(platform);
    const Made made(model.build(), platform);
    for (const Node& node : made.graph().nodes())
      if (node.is("Resize")) REQUIRE(made.maker(node, 0)->is("Einsum"));
    REQUIRE(made.sqnr() > 25);
  }
}

}  // namespace right_in_runtimes_test
