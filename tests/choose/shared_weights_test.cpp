// SPDX-License-Identifier: Apache-2.0
// Weights that several operators read: one set of integers for all, and a file that does not outgrow the float one.
#include "tests/catch.h"

#include "core/base/error.h"
#include "core/choose/shared_weights.h"
#include "core/onnx/read.h"
#include "core/report/expected_size.h"
#include "tests/support/corrected.h"
#include "tests/support/run_sweep.h"

namespace shared_weights_test {
using namespace tersor;
using test::NamedModel;

namespace {

using Ints = std::vector<int64_t>;

/// Layers that have one matrix, each transposing it for itself.
Model layers() {
  NamedModel model;
  model.input("x", {4, 32}).weight("w", {32, 32}, -0.3f, 0.3f);
  std::string value = "x";
  for (const std::string layer : {"1", "2", "3"}) {
    model.node("Transpose", {"w"}, {"t" + layer}, {{"perm", Ints{1, 0}}});
    model.weight("b" + layer, {32}, -0.1f, 0.1f).node("MatMul", {value, "t" + layer}, {"m" + layer});
    model.node("Add", {"m" + layer, "b" + layer}, {"a" + layer}).node("Tanh", {"a" + layer}, {"y" + layer});
    value = "y" + layer;
  }
  return model.output(value).build();
}

/// A head on two feature maps of unlike loudness, with a BatchNormalization of its own for each.
Model heads() {
  NamedModel model;
  model.input("x", {1, 8, 6, 6}).weight("w", {16, 8, 3, 3}).weight("front", {8, 8, 1, 1});
  model.node("Conv", {"x", "front"}, {"f"}).node("Relu", {"f"}, {"level1"});
  model.node("MaxPool", {"level1"}, {"level2"}, {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}});
  for (const std::string k : {"1", "2"}) {
    model.node("Conv", {"level" + k, "w"}, {"c" + k});
    for (const char* part : {"scale", "shift", "mean"}) model.weight(part + k, {16}, 0.2f, 2);
    model.weight("var" + k, {16}, 0.5f, 3);
    model.node("BatchNormalization", {"c" + k, "scale" + k, "shift" + k, "mean" + k, "var" + k}, {"n" + k});
    model.node("Relu", {"n" + k}, {"y" + k}).output("y" + k);
  }
  return model.build();
}

/// A word's row of the table, and the table's words by that row.
Model tied() {
  NamedModel model;
  model.input("x", {4, 700}).weight("table", {700, 32});
  model.node("ArgMax", {"x"}, {"ids"}, {{"axis", int64_t{1}}, {"keepdims", int64_t{0}}});
  model.node("Gather", {"table", "ids"}, {"rows"}).node("Tanh", {"rows"}, {"h"});
  model.node("Transpose", {"table"}, {"turned"}, {{"perm", Ints{1, 0}}});
  return model.node("MatMul", {"h", "turned"}, {"logits"}).output("logits").build();
}

/// 8-bit initializers of that many elements or more.
int64_t large_codes(const Model& model, int64_t elements) {
  int64_t count = 0;
  for (const auto& [id, tensor] : model.graph.initializers())
    count += bits_of(tensor.dtype()) == 8 && tensor.elements() >= elements ? 1 : 0;
  return count;
}

struct Made {
  std::shared_ptr<const Job> job;
  QuantizeResult result;
  Model file;
};

/// By all that the default does.
Made made_of(const Model& model, const char* platform, config::QuantizationConfig config = {}) {
  Made made;
  made.job = test::job_of(model, platform, config);
  const auto sample = [&](size_t k) { return test::sample(*made.job, k); };
  calibrate::Statistics statistics = test::statistics_of(*made.job, 16);
  test::run_sweep(*made.job, statistics, sample);
  made.result = quantize(*made.job, statistics);
  made.file = onnx::read(onnx::Source::of(made.result.bytes));
  return made;
}

}  // namespace

TEST_CASE("layers that share their weight have one set of integers") {
  for (const char* platform : {"ort-cpu", "ort-cpu-s8s8", "ort-web", "openvino", "weight-only-int8", "imx500", "qnn"}) {
    INFO(platform);
    const Model model = layers();
    const Made made = made_of(model, platform);
    REQUIRE(large_codes(made.file, 1024) == 1);
    REQUIRE(test::relative_difference(model, made.file, test::random_inputs(model)) < 0.15);
  }
}

TEST_CASE("heads that share their weight after BatchNormalizations of their own have one set of integers") {
  const Model model = heads();
  for (const char* platform : {"ort-cpu", "ort-cpu-avx2", "openvino"}) {
    INFO(platform);
    const Made made = made_of(model, platform);
    REQUIRE(test::count(made.file, "BatchNormalization") == 0);
    REQUIRE(large_codes(made.file, 1152) == 1);
    REQUIRE(test::relative_difference(model, made.file, test::random_inputs(model)) < 0.05);
  }
}

TEST_CASE("a weight is found again after positive factors of its output channels, and after no others") {
  NamedModel model;
  model.weight("a", {3, 4}).weight("b", {3, 4}).weight("c", {3, 4}).weight("d", {3, 4});
  Model built = model.build();
  Graph& graph = built.graph;
  const auto id = [&](const char* name) { return *graph.find(name); };
  passes::KernelOp op;
  op.outputs = 4, op.inputs = 3, op.output_axis = 1, op.input_axis = 0, op.weight = id("a");
  graph.set_initializer(id("b"), passes::scale_outputs(op, *graph.initializer(id("a")), {2, 0.3, 1, 7}));
  graph.set_initializer(id("c"), passes::scale_outputs(op, *graph.initializer(id("a")), {2, -0.3, 1, 7}));
  std::vector<passes::KernelOp> kernels(4, op);
  for (size_t k = 0; k < 4; ++k) kernels[k].weight = id(std::string(1, static_cast<char>('a' + k)).c_str());
  const auto found = ptq::find_shared_weights(graph, kernels);
  REQUIRE(found[1].first == 0);
  REQUIRE(found[1].factors.size() == 4);
  REQUIRE(found[1].factors[3] == Approx(7));
  REQUIRE_FALSE(found[0].is_one);
  REQUIRE(found[2].first == 2);
  REQUIRE(found[3].first == 3);
  REQUIRE(found[3].is_one);
}

TEST_CASE("a tied embedding is stored once, on every platform") {
  const Model model = tied();
  const size_t before = onnx::write(model).size();
  for (const tpc::PlatformLabel& label : tpc::builtin_platforms()) {
    const std::string name = label.name + "@v" + std::to_string(label.version);
    INFO(name);
    const auto job = test::job_of(model, label.name.c_str(), test::plain_config());
    const QuantizeResult result = quantize(*job, test::statistics_of(*job, 16));
    // The tables of IMX500 leave what a Gather reads in float, and 7 bits for a kernel are no 8 for a table.
    const bool twice = label.name == "imx500" || label.name == "ort-cpu-avx2";
    REQUIRE(result.bytes.size() < (twice ? before : before / 2));
    // Where the input is quantized another of its numbers may be the largest.
    const bool same_words = job->attachment.export_rules.placement == tpc::Placement::kOperands;
    const double most = label.name == "weight-only-int4" ? 0.4 : 0.1;
    if (same_words) REQUIRE(test::relative_difference(model, result.model, test::random_inputs(model)) < most);
    if (label.name == "weight-only-int4" || twice) continue;
    REQUIRE(large_codes(result.model, 700 * 32) == 1);
  }
}

TEST_CASE("a tied embedding runs in the integers of the runtime") {
  const auto job = test::job_of(tied(), "ort-cpu", test::plain_config());
  const QuantizeResult result = quantize(*job, test::statistics_of(*job, 16));
  REQUIRE(test::sqnr(*job, result.model) > 30);
}

TEST_CASE("the size that is expected counts a shared weight once, and tables in integers") {
  for (const Model& model : {layers(), heads(), tied()})
    for (const char* platform : {"ort-cpu", "qnn", "openvino"}) {
      INFO(platform << " " << model.graph.name_of(model.graph.outputs[0]));
      const config::QuantizationConfig config = test::plain_config();
      const auto job = test::job_of(model, platform, config);
      const auto before = static_cast<int64_t>(onnx::write(model).size());
      const auto made = static_cast<double>(quantize(*job, test::statistics_of(*job, 16)).bytes.size());
      const auto expected = static_cast<double>(report::expected_size(job->opened->model.graph, job->model.graph,
                                                                      job->attachment, job->placement, config, before));
      CHECK(expected == Approx(made).epsilon(0.12));
    }
}

TEST_CASE("a file that is larger than the float one is refused with what takes the bytes") {
  // A divisor stays in float: the quantizers around it are all that is new.
  NamedModel model;
  model.input("x", {128, 160}).weight("w", {128, 160}, 1, 2).weight("k", {160, 2});
  model.node("Div", {"x", "w"}, {"q"}).node("MatMul", {"q", "k"}, {"y"}).output("y");
  config::QuantizationConfig config = test::plain_config();
  const auto job = test::job_of(model.build(), "qnn", config);
  REQUIRE_THROWS_WITH(quantize(*job, test::statistics_of(*job, 16)),
                      Catch::Contains("more than the float one's") && Catch::Contains("the largest is \"w\""));
  config.allow_larger_file = true;
  const auto allowed = test::job_of(model.build(), "qnn", config);
  REQUIRE(quantize(*allowed, test::statistics_of(*allowed, 16)).bytes.size() > 128 * 160 * 4);
}

TEST_CASE("who asks for float weights may have a larger file") {
  NamedModel model;
  model.input("x", {2, 128}).weight("w", {128, 160}).node("MatMul", {"x", "w"}, {"y"}).output("y");
  config::QuantizationConfig config = test::plain_config();
  config.enable_weights_quantization = false;
  const auto job = test::job_of(model.build(), "qnn", config);
  REQUIRE(quantize(*job, test::statistics_of(*job, 16)).bytes.size() > 128 * 160 * 4);
}

}  // namespace shared_weights_test
