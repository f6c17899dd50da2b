// SPDX-License-Identifier: Apache-2.0
// ONNX Runtime makes a float bias int32 at the scale of input times weight, wherever a quantized tensor reaches the
// operator: every bias of a file has to fit there.
#include <cmath>
#include <limits>

#include "core/decide/runtime_fusions.h"
#include "core/graph/uses.h"
#include "tests/catch.h"
#include "tests/support/corrected.h"

using namespace tersor;
using test::NamedModel;

namespace {

using Ints = std::vector<int64_t>;

/// A weight of that shape without what lies at places 1 and 4 of the axis, where only 1e-7 of it is left.
Tensor dead_along(const Shape& shape, int axis) {
  std::vector<float> values(static_cast<size_t>(shape.elements()));
  int64_t inner = 1;
  for (int64_t k = axis + 1; k < shape.rank(); ++k) inner *= shape[static_cast<int>(k)];
  for (size_t i = 0; i < values.size(); ++i) {
    const int64_t place = static_cast<int64_t>(i) / inner % shape[axis];
    values[i] = std::sin(static_cast<float>(i)) * (place == 1 || place == 4 ? 1e-9f : 0.3f);
  }
  return Tensor::of<float>(shape, values);
}

Tensor biases(int64_t count) {
  std::vector<float> values;
  for (int64_t k = 0; k < count; ++k) values.push_back(k % 2 == 0 ? 0.4f : -0.7f);
  return Tensor::of<float>(Shape{count}, values);
}

Model upsampling(int64_t groups) {
  NamedModel model;
  model.input("x", {1, 3, 8, 8}).weight("w1", {8, 3, 3, 3}).weight("b1", {8});
  model.node("Conv", {"x", "w1", "b1"}, {"c1"}, {{"pads", Ints{1, 1, 1, 1}}}).node("Relu", {"c1"}, {"r1"});
  model.constant("w2", dead_along(Shape{8, 6 / groups, 2, 2}, 1)).constant("b2", biases(6));
  model.node("ConvTranspose", {"r1", "w2", "b2"}, {"t"}, {{"strides", Ints{2, 2}}, {"group", groups}});
  model.node("Relu", {"t"}, {"r2"}).weight("w3", {4, 6, 3, 3}).weight("b3", {4});
  return model.node("Conv", {"r2", "w3", "b3"}, {"y"}).output("y").build();
}

Model movers_before() {
  NamedModel model;
  model.input("x", {1, 3, 8, 8}).weight("w1", {6, 3, 3, 3}).weight("b1", {6});
  model.node("Conv", {"x", "w1", "b1"}, {"c1"}, {{"pads", Ints{1, 1, 1, 1}}}).node("Relu", {"c1"}, {"r1"});
  model.node("MaxPool", {"r1"}, {"m"}, {{"kernel_shape", Ints{4, 4}}, {"strides", Ints{4, 4}}});
  model.node("Transpose", {"m"}, {"p"}, {{"perm", Ints{0, 2, 3, 1}}}).node("Flatten", {"p"}, {"f"});
  model.constant("w2", dead_along(Shape{24, 6}, 1)).constant("b2", biases(6));
  return model.node("Gemm", {"f", "w2", "b2"}, {"y"}).output("y").build();
}

/// The largest |bias| in steps of input times weight of all operators that a quantized tensor reaches.
double largest_bias_in_steps(const Model& file) {
  const Graph& graph = file.graph;
  const Uses uses(graph);
  const auto dequantizer = [&](ValueId value) -> const Node* {
    const auto maker = uses.producer_index(value);
    return maker && graph.nodes()[*maker].is("DequantizeLinear") ? &graph.nodes()[*maker] : nullptr;
  };
  double largest = 0;
  for (const Node& node : graph.nodes()) {
    if (!(node.is("Conv") || node.is("ConvTranspose") || node.is("Gemm"))) continue;
    const ValueId before = ptq::dequantized_before(graph, uses, node.inputs[0],
                                                   [&](ValueId value) { return dequantizer(value) != nullptr; });
    const Node* const weight = dequantizer(node.inputs[1]);
    if (!before.valid() || weight == nullptr) continue;
    const float step = graph.initializer(dequantizer(before)->inputs[1])->aligned().data<float>()[0];
    const Tensor scales = graph.initializer(weight->inputs[1])->aligned();
    if (const Node* const bias = dequantizer(node.inputs[2])) {
      for (const int32_t code : graph.initializer(bias->inputs[0])->aligned().data<int32_t>())
        largest = std::max(largest, std::fabs(static_cast<double>(code)));
      continue;
    }
    const Tensor bias = graph.initializer(node.inputs[2])->aligned();
    for (size_t o = 0; o < bias.data<float>().size(); ++o)
      largest = std::max(largest, std::fabs(static_cast<double>(bias.data<float>()[o]) / step /
                                            scales.data<float>()[o % scales.data<float>().size()]));
  }
  return largest;
}

double largest_bias_in_steps(const Model& model, const char* platform) {
  const auto job = test::job_of(model, platform, test::plain_config());
  return largest_bias_in_steps(quantize(*job, test::statistics_of(*job)).model);
}

}  // namespace

TEST_CASE("a dead channel's bias fits into int32 in a ConvTranspose and after movers, on every platform") {
  for (const char* platform : {"ort-cpu", "ort-cpu-s8s8", "ort-web", "openvino", "tensorrt", "qnn", "tflite", "imx500"})
    for (const Model& model : {upsampling(1), upsampling(2), movers_before()}) {
      CAPTURE(platform, test::types_of(model));
      const double largest = largest_bias_in_steps(model, platform);
      REQUIRE(largest > 0);
      REQUIRE(largest <= 1.0 * std::numeric_limits<int32_t>::max());
    }
}

TEST_CASE("a ConvTranspose's bias is int32 with a scale for each output channel, those of all groups") {
  for (const int64_t groups : {1, 2}) {
    const auto job = test::job_of(upsampling(groups), "ort-cpu", test::plain_config());
    const Model file = quantize(*job, test::statistics_of(*job)).model;
    const Tensor* const codes = file.graph.initializer(*file.graph.find("b2_quantized"));
    REQUIRE(codes != nullptr);
    REQUIRE(codes->dtype() == DType::kInt32);
    REQUIRE(file.graph.initializer(*file.graph.find("b2_scale"))->elements() == 6);
    REQUIRE(test::sqnr(*job, file) > 25);
  }
}
