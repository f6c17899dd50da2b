// SPDX-License-Identifier: Apache-2.0
// What is told of a .tflite file before any sample is what the file computes.
#include "core/job/tflite_nodes.h"

#include <set>

#include "core/report/report_of.h"
#include "tests/catch.h"
#include "tests/support/corrected.h"
#include "tests/support/shared.h"

using namespace tersor;
using test::NamedModel;

namespace tflite_nodes_test {
namespace {

using Ints = std::vector<int64_t>;
using Names = std::set<std::string>;

Names in_float(const report::Coverage& coverage) {
  Names names;
  for (const report::FloatNode& node : coverage.stays_float) names.insert(node.name);
  return names;
}

/// The nodes of a file that stay in float, after a look at what was told of it.
Names checked(const std::vector<std::byte>& model, const char* platform) {
  Settings settings{tpc::get_target_platform_capabilities(platform), test::plain_config()};
  settings.format = FileFormat::kTflite;
  const auto opened = std::make_shared<const OpenedModel>(open_model(onnx::Source::of(model)));
  const auto job = prepare(opened, std::move(settings));
  const report::Coverage before = expected_coverage(*job, 1000);
  const QuantizeResult result = quantize(*job, test::statistics_of(*job, 3));
  const report::Coverage after = report_of(*job, result, "m.onnx", 1000).coverage;
  REQUIRE(in_float(before) == in_float(after));
  REQUIRE(before.integer_core_nodes == after.integer_core_nodes);
  REQUIRE(before.core_nodes == after.core_nodes);
  const std::vector<NodeId>& nodes = result.tflite->integer_nodes;
  for (const ptq::NodeOutcome& outcome : result.plan.outcomes)
    if (result.model.graph.find(outcome.node) != nullptr && outcome.arithmetic != ptq::NodeOutcome::Arithmetic::kFolded)
      REQUIRE((outcome.arithmetic != ptq::NodeOutcome::Arithmetic::kFloat) ==
              (std::find(nodes.begin(), nodes.end(), outcome.node) != nodes.end()));
  return in_float(after);
}

/// Clamps that an operator applies, that it does not, and one that is read twice; a transposed convolution; operators
/// without int16 kernels.
NamedModel varied() {
  NamedModel model;
  model.constant("low", Tensor::scalar(0.0F)).constant("high", Tensor::scalar(6.0F));
  model.constant("pads", Tensor::of<int64_t>({8}, Ints{0, 0, 1, 1, 0, 0, 1, 1})).constant("half", Tensor::scalar(0.5F));
  model.input("x", {1, 4, 6, 6}).weight("w", {4, 4, 3, 3}).weight("v", {4, 4, 2, 2}).weight("u", {4, 4, 1, 1});
  model.node("Pad", {"x", "pads"}, {"padded"}).node("Conv", {"padded", "w"}, {"c"}).node("Relu", {"c"}, {"r"});
  model.node("ConvTranspose", {"r", "v"}, {"t"}, {{"strides", Ints{2, 2}}}).node("Clip", {"t", "low", "high"}, {"k"});
  model.node("Conv", {"k", "u"}, {"d"}).node("Clip", {"d", "low", "half"}, {"e"}).node("HardSwish", {"e"}, {"f"});
  model.node("Conv", {"f", "u"}, {"g"}).node("Relu", {"g"}, {"h"}).node("Add", {"g", "h"}, {"i"});
  return model.node("GlobalAveragePool", {"i"}, {"y"}).output("y");
}

}  // namespace

TEST_CASE("what a .tflite file computes in integers is told before any sample") {
  const std::vector<std::byte> model = onnx::write(varied().build());
  for (const char* platform : {"tflite", "tflite-micro"}) {
    INFO(platform);
    CHECK(checked(model, platform).empty());
  }
  CHECK(checked(model, "tflite-micro-16x8") == Names{"f_node", "g_node"});  // HardSwish, and what reads it
}

TEST_CASE("that is so of models of the zoo") {
  for (const char* name : {"mlperf-kws-dscnn", "mlperf-ic-resnet8", "yunet-n-320"}) {
    const auto file = test::shared_file(std::string("zoo/") + name + "/model.onnx");
    if (!file) return;
    for (const char* platform : {"tflite-micro", "tflite-micro-16x8"}) {
      INFO(name << " " << platform);
      CHECK(checked(test::read_file(*file), platform).empty());
    }
  }
}

}  // namespace tflite_nodes_test
