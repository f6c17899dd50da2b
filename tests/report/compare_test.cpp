// SPDX-License-Identifier: Apache-2.0
#include "core/report/compare.h"

#include <cmath>
#include <numeric>
#include <utility>

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/simulate/program.h"
#include "tests/catch.h"

using namespace tersor;
using namespace tersor::report;

namespace {

constexpr float kInputScale = 0.0078125f, kHiddenScale = 0.03125f, kOutputScale = 0.0625f;

ValueId add_node(Graph& graph, std::string type, std::vector<ValueId> inputs, const std::string& output,
                 std::string name = {}) {
  Node node;
  node.op_type = std::move(type);
  node.name = std::move(name);
  node.inputs = std::move(inputs);
  const ValueId id = graph.add_value(output, DType::kFloat32);
  node.outputs = {id};
  graph.append(std::move(node));
  return id;
}

Tensor weights() {
  return Tensor::of<float>({2, 3}, {0.5f, -0.25f, 0.75f, 1.0f, 0.125f, -0.5f});
}

/// input [N, 2] -> Gemm -> Relu -> Gemm -> output [N, 2], quantized by hand where `quantized`.
Model make_model(bool quantized) {
  Model model;
  model.opset_imports = {{"", 13}};
  Graph& graph = model.graph;
  const ValueId input = graph.add_value("input", DType::kFloat32, std::vector<Dim>{{-1, "N"}, {2, {}}});
  graph.inputs = {input};
  const auto through = [&](ValueId id, const std::string& name, float scale, uint8_t zero, const std::string& out) {
    if (!quantized) return id;
    const ValueId s = graph.add_initializer(name + "_scale", Tensor::scalar(scale)),
                  z = graph.add_initializer(name + "_zero_point", Tensor::scalar(zero));
    const ValueId raw = add_node(graph, "QuantizeLinear", {id, s, z}, name + "_quantized");
    graph.value(raw).dtype = DType::kUint8;
    return add_node(graph, "DequantizeLinear", {raw, s, z}, out);
  };
  const auto weight = [&](const std::string& name, const Tensor& tensor) {
    if (!quantized) return graph.add_initializer(name, tensor);
    // The weights are multiples of 1/8, so int8 with that scale holds them exactly.
    Tensor integers = Tensor::make(DType::kInt8, tensor.shape());
    for (size_t i = 0; i < 6; ++i)
      integers.mutable_data<int8_t>()[i] = static_cast<int8_t>(tensor.data<float>()[i] * 8);
    const ValueId raw = graph.add_initializer(name + "_quantized", std::move(integers));
    const ValueId s = graph.add_initializer(name + "_scale", Tensor::scalar(0.125f)),
                  z = graph.add_initializer(name + "_zero_point", Tensor::scalar(int8_t{0}));
    return add_node(graph, "DequantizeLinear", {raw, s, z}, name + "_dequantized");
  };
  const ValueId x = through(input, "input", kInputScale, 128, "input_dequantized");
  const ValueId sum = add_node(graph, "Gemm", {x, weight("w1", weights())}, "sum", "first");
  const ValueId hidden =
      through(add_node(graph, "Relu", {sum}, "hidden"), "hidden", kHiddenScale, 0, "hidden_dequantized");
  const ValueId last = add_node(graph, "Gemm", {hidden, weight("w2", weights().reshaped({3, 2}))},
                                quantized ? "output_real" : "output", "second");
  graph.outputs = {through(last, quantized ? "output_real" : "output", kOutputScale, 64, "output")};
  return model;
}

Tensor sample(int index) {
  const float a = static_cast<float>(index % 7) * 0.1f - 0.3f, b = static_cast<float>(index % 5) * 0.17f - 0.33f;
  return Tensor::of<float>({1, 2}, {a, b});
}

Comparison compare(int first, int last) {
  Comparer comparer(CompareProgram::make(make_model(false), make_model(true), simulate::Profile::kX64));
  for (int i = first; i < last; ++i) comparer.add(i, std::vector<Tensor>{sample(i)});
  return comparer.result();
}

const LayerRow& row(const Comparison& comparison, const std::string& output) {
  for (const LayerRow& one : comparison.layers)
    if (one.output == output) return one;
  FAIL("no row for " + output);
  return comparison.layers[0];
}

}  // namespace

TEST_CASE("a comparison has a row for each quantized tensor, named for its layer, in graph order") {
  const Comparison comparison = compare(0, 35);
  REQUIRE(comparison.layers.size() == 3);
  REQUIRE(comparison.layers[0].op == "Input");
  REQUIRE(comparison.layers[1].name == "first");
  REQUIRE(comparison.layers[1].output == "hidden");
  REQUIRE(comparison.layers[2].output == "output");
  REQUIRE(comparison.layers[1].range == std::vector<double>{0, 255 * 0.03125});
  REQUIRE(comparison.layers[1].weight_max == std::vector<double>{1.0, 0.25, 0.75});
  REQUIRE(comparison.samples == 35);
}

TEST_CASE("a layer alone loses less than with everything before it, and shares add up to one") {
  const Comparison comparison = compare(0, 35);
  const LayerRow& hidden = row(comparison, "hidden");
  REQUIRE(hidden.isolated_sqnr_db.has_value());
  // Values of up to about 1 in steps of 1/32: rounding noise of step^2/12 lies some 20 to 40 dB below them.
  REQUIRE(*hidden.isolated_sqnr_db > 20);
  REQUIRE(*hidden.isolated_sqnr_db < 45);
  REQUIRE(*row(comparison, "output").accumulated_sqnr_db == Approx(*comparison.output_sqnr_db));
  double shares = 0;
  for (const LayerRow& one : comparison.layers) shares += one.error_share;
  REQUIRE(shares == Approx(1.0));
}

TEST_CASE("parts merge in any order, by object and by bytes, to what one pass gives") {
  const auto program = CompareProgram::make(make_model(false), make_model(true), simulate::Profile::kX64);
  Comparer whole(program), first(program), second(program);
  std::vector<int64_t> samples(40);
  std::iota(samples.begin(), samples.end(), 0);
  const std::vector<int64_t> layered = layer_samples(samples);
  REQUIRE(layered == std::vector<int64_t>{0, 5, 10, 15, 20, 25, 30, 35});
  for (int i = 0; i < 40; ++i) {
    const Depth depth = depth_of(layered, i);
    whole.add(i, std::vector<Tensor>{sample(i)}, depth);
    (i % 3 == 0 ? first : second).add(i, std::vector<Tensor>{sample(i)}, depth);
  }
  Comparer merged(program);
  merged.merge_saved(second.save());
  merged.merge(std::move(first));
  const Comparison a = whole.result(), b = merged.result();
  REQUIRE(a.samples == 40);
  REQUIRE(a.distinct == 35);  // sample(i) begins again after 35
  REQUIRE(a.layer_samples == 8);
  REQUIRE(row(a, "hidden").values == 8 * 3);
  REQUIRE(to_text(to_json(a)) == to_text(to_json(b)));  // to the last digit
  // The output has the input's shape: a reconstruction, which has no answer to agree on.
  REQUIRE_FALSE(a.agreement.has_value());
  REQUIRE_FALSE(b.agreement.has_value());
  REQUIRE(row(a, "hidden").lost == row(b, "hidden").lost);
}

TEST_CASE("copies of a sample are counted, whichever part compared them") {
  const auto program = CompareProgram::make(make_model(false), make_model(true), simulate::Profile::kX64);
  Comparer first(program), second(program);
  for (const int i : {0, 1, 2}) first.add(i, std::vector<Tensor>{sample(i)}, Depth::kOutputs);
  for (const int i : {1, 3}) second.add(10 + i, std::vector<Tensor>{sample(i)}, Depth::kLayers);
  first.merge_saved(second.save());
  REQUIRE(first.result().samples == 5);
  REQUIRE(first.result().distinct == 4);
}

TEST_CASE("what is lost in a channel that was raised counts as it does in the float model") {
  Model quantized = make_model(true);
  Graph& graph = quantized.graph;
  // The second channel of "hidden" is 32 times what it was, and beyond the range.
  graph.set_initializer(*graph.find("w1_quantized"), Tensor::of<int8_t>({2, 3}, {4, -64, 6, 8, 32, -4}));
  quantized.metadata.emplace_back("tersor.channel_scales", "AUA hidden");
  Comparer comparer(CompareProgram::make(make_model(false), quantized, simulate::Profile::kX64));
  comparer.add(0, std::vector<Tensor>{Tensor::of<float>({1, 2}, {-1.0f, 0.9921875f})});
  // 0.492 becomes 0.5, and of 0.374 the 255 steps that there are leave 0.249.
  REQUIRE(*row(comparer.result(), "hidden").isolated_sqnr_db == Approx(13.87).margin(0.02));
}

TEST_CASE("values beyond the range are counted as lost") {
  Comparer comparer(CompareProgram::make(make_model(false), make_model(true), simulate::Profile::kX64));
  comparer.add(0, std::vector<Tensor>{Tensor::of<float>({1, 2}, {0.5f, 3.0f})});
  REQUIRE(row(comparer.result(), "input").lost == 1);
  REQUIRE(row(comparer.result(), "input").values == 2);
}

TEST_CASE("outputs that are not finite go from worker to worker") {
  const auto program = CompareProgram::make(make_model(false), make_model(true), simulate::Profile::kX64);
  Comparer one(program), other(program);
  other.add(0, std::vector<Tensor>{Tensor::of<float>({1, 2}, {std::nanf(""), 3.0f})});
  one.merge_saved(other.save());
  const Comparison comparison = one.result();
  REQUIRE(std::isnan(*comparison.output_sqnr_db));
  REQUIRE_FALSE(comparison.outputs[0].mse.has_value());
}

TEST_CASE("outputs of other types are compared too, and class numbers count where nothing else does") {
  const auto compared = [](const std::vector<int64_t>& types) {
    Model exact = make_model(false), quantized = make_model(true);
    for (Model* model : {&exact, &quantized}) {
      Graph& graph = model->graph;
      const ValueId output = std::exchange(graph.outputs, {})[0];
      const ValueId large = add_node(graph, "Mul", {output, graph.add_initializer("k", Tensor::scalar(100.0f))}, "k_y");
      for (const int64_t type : types) {
        graph.outputs.push_back(add_node(graph, "Cast", {large}, "as_" + std::to_string(type)));
        graph.nodes().back().attributes["to"] = type;
        graph.value(graph.outputs.back()).dtype = static_cast<DType>(type);
      }
    }
    Comparer comparer(CompareProgram::make(exact, quantized, simulate::Profile::kX64));
    for (int i = 0; i < 10; ++i) comparer.add(i, std::vector<Tensor>{sample(i)});
    return comparer.result();
  };
  constexpr int64_t kInt32 = 6, kInt64 = 7, kDouble = 11;
  const Comparison both = compared({kDouble, kInt64});
  REQUIRE(*both.outputs[0].sqnr_db < 60);
  REQUIRE(*both.outputs[1].max_error >= 1);
  REQUIRE(*both.output_sqnr_db == *both.outputs[0].sqnr_db);
  REQUIRE(compared({kInt64}).output_sqnr_db.has_value());
  REQUIRE(compared({kInt32}).output_sqnr_db.has_value());
}

TEST_CASE("a tensor whose shape depends on data is compared where both models give it the same") {
  Model exact = make_model(false), quantized = make_model(true);
  for (Model* model : {&exact, &quantized}) {
    Graph& graph = model->graph;
    const ValueId output = std::exchange(graph.outputs, {})[0];
    const ValueId flat =
        add_node(graph, "Reshape", {output, graph.add_initializer("all", Tensor::of<int64_t>(Shape{1}, {-1}))}, "flat");
    const ValueId limit = graph.add_initializer("limit", Tensor::scalar(0.02f));
    const ValueId above = add_node(graph, "Greater", {flat, limit}, "above");
    graph.value(above).dtype = DType::kBool;
    graph.outputs = {add_node(graph, "Compress", {flat, above}, "kept")};
  }
  Comparer comparer(CompareProgram::make(exact, quantized, simulate::Profile::kX64));
  int other_shapes = 0;
  for (int i = 0; i < 35; ++i) {
    const std::vector<Tensor> inputs{sample(i)};
    run::Runner a(run::Program::compile(exact, ops::standard())),
        b(simulate::compile(quantized, simulate::Profile::kX64));
    other_shapes += a.run(inputs)[0].shape() == b.run(inputs)[0].shape() ? 0 : 1;
    comparer.add(i, inputs);
  }
  REQUIRE(other_shapes > 0);
  REQUIRE(other_shapes < 35);
  REQUIRE(comparer.result().samples == 35);
  REQUIRE(std::isfinite(*comparer.result().output_sqnr_db));
}

TEST_CASE("one value for each of many positions is no list of classes") {
  const auto answers = [](std::vector<int64_t> shape) {
    Model model;
    model.opset_imports = {{"", 13}};
    Graph& graph = model.graph;
    const ValueId x = graph.add_value("x", DType::kFloat32, std::vector<Dim>{{1, {}}, {8, {}}});
    const ValueId to =
        graph.add_initializer("to", Tensor::of<int64_t>(Shape{static_cast<int64_t>(shape.size())}, shape));
    graph.inputs = {x};
    graph.outputs = {add_node(graph, "Reshape", {x, to}, "y")};
    const auto answers_with = [&](bool classes) {
      Comparer comparer(CompareProgram::make(model, model, simulate::Profile::kX64, classes));
      comparer.add(0, std::vector<Tensor>{Tensor::of<float>({1, 8}, {1, 2, 3, 4, 5, 6, 7, 8})});
      return comparer.result().agreement.has_value();
    };
    REQUIRE_FALSE(answers_with(false));  // nothing says that they are classes
    return answers_with(true);
  };
  REQUIRE(answers({1, 8, 1, 1}));
  REQUIRE(answers({1, 1, 8}));
  REQUIRE_FALSE(answers({1, 8, 1}));
  REQUIRE_FALSE(answers({1, 4, 2}));
}

TEST_CASE("models with other inputs are refused") {
  Model other = make_model(true);
  other.graph.rename(other.graph.inputs[0], "picture");
  try {
    CompareProgram::make(make_model(false), other, simulate::Profile::kX64);
    FAIL("no error");
  } catch (const Error& error) {
    REQUIRE(error.code == ErrorCode::kMismatch);
    REQUIRE(error.message.find("picture") != std::string::npos);
  }
}
