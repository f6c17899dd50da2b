// SPDX-License-Identifier: Apache-2.0
#include "core/onnx/left_out.h"

#include "core/onnx/read.h"
#include "core/report/report_of.h"
#include "tests/catch.h"
#include "tests/support/corrected.h"

namespace left_out_test {
using namespace tersor;
using test::count;
using test::NamedModel;

namespace {

/// A Conv with a Relu, and behind it (or before) an operator that nobody knows, which reads a constant, and a Neg.
Model with_unknown(bool first = false) {
  NamedModel model;
  model.input("x", {1, 3, 6, 6}).weight("w", {4, 3, 3, 3}).weight("k", {4});
  const char* const from = first ? "u" : "x";
  if (first) model.node("Mystery", {"x", "k"}, {"u"});
  model.node("Conv", {from, "w"}, {"c"}).node("Relu", {"c"}, {"r"});
  if (first) return model.output("r").build();
  model.node("Mystery", {"r", "k"}, {"u"}).node("Neg", {"u"}, {"y"});
  return model.node("MaxPool", {"r"}, {"z"}, {{"kernel_shape", std::vector<int64_t>{2, 2}}})
      .output("y")
      .output("z")
      .build();
}

}  // namespace

TEST_CASE("what cannot be run stays as it is, with what follows, and what is before is quantized") {
  const auto job = test::job_of(with_unknown(), "ort-cpu", [] {
    config::QuantizationConfig config = test::plain_config();
    config.prefer = config::Preference::kIntegers;
    return config;
  }());
  REQUIRE(job->left_out != nullptr);
  REQUIRE(job->left_out->nodes.size() == 2);
  const QuantizeResult result = quantize(*job, test::statistics_of(*job));
  const Model file = onnx::read(onnx::Source::of(result.bytes));
  REQUIRE(count(file, "Mystery") == 1);
  REQUIRE(count(file, "QuantizeLinear") >= 2);
  const Graph& graph = file.graph;
  REQUIRE(graph.outputs.size() == 2);
  REQUIRE(graph.name_of(graph.outputs[0]) == "y");
  REQUIRE(graph.name_of(graph.outputs[1]) == "z");
  const Node& neg = graph.nodes().back();
  REQUIRE(neg.is("Neg"));
  const Node& mystery = graph.nodes()[graph.nodes().size() - 2];
  REQUIRE(graph.name_of(mystery.inputs[0]) == "r");
  const Model float_model = with_unknown();
  REQUIRE(*graph.initializer(mystery.inputs[1]) == *float_model.graph.initializer(*float_model.graph.find("k")));
  const auto note =
      std::find_if(job->notes.begin(), job->notes.end(), [](const Diagnostic& one) { return one.code == "left_out"; });
  REQUIRE(note != job->notes.end());
  REQUIRE(note->place == "graph.node[2] \"u_node\" (Mystery)");
}

TEST_CASE("where everything follows from what cannot be run, it is refused by name") {
  try {
    test::job_of(with_unknown(true), "ort-cpu", test::plain_config());
    FAIL("no error");
  } catch (const Error& error) {
    REQUIRE(error.code == ErrorCode::kUnsupportedModel);
    REQUIRE(error.place == "graph.node[0] \"u_node\" (Mystery)");
  }
}

TEST_CASE("weights alone need no run") {
  const auto job = test::job_of(with_unknown(true), "weight-only-int8", test::plain_config());
  REQUIRE(job->program == nullptr);
  const QuantizeResult result = quantize(*job, empty_statistics(*job));
  const Model file = onnx::read(onnx::Source::of(result.bytes));
  REQUIRE(count(file, "Mystery") == 1);
  const auto& initializers = file.graph.initializers();
  REQUIRE(std::any_of(initializers.begin(), initializers.end(),
                      [](const auto& one) { return one.second.dtype() == DType::kInt8; }));
}

}  // namespace left_out_test
