// SPDX-License-Identifier: Apache-2.0
// Boxes of hundreds beside scores up to 1: what one scale for both would leave of the scores.
#include <algorithm>
#include <cmath>
#include <string>

#include "tests/catch.h"
#include "tests/support/corrected.h"

namespace unlike_joins_test {
using namespace tersor;
using test::NamedModel;
using Ints = std::vector<int64_t>;

namespace {

constexpr int64_t kBoxes = 4, kScores = 3, kPlaces = 16;

/// Boxes of about `size` and scores [1, 3, 16] of one backbone, under the names "boxes" and "scores".
NamedModel heads(float size) {
  NamedModel model;
  model.input("x", {1, 3, 4, 4}).weight("w0", {8, 3, 1, 1}).weight("wb", {4, 8, 1, 1}).weight("ws", {3, 8, 1, 1});
  model.constant("size", Tensor::scalar(size)).constant("flat", Tensor::of<int64_t>(Shape{3}, {1, -1, kPlaces}));
  model.node("Conv", {"x", "w0"}, {"c0"}).node("Relu", {"c0"}, {"r0"});
  model.node("Conv", {"r0", "wb"}, {"cb"})
      .node("Reshape", {"cb", "flat"}, {"rb"})
      .node("Mul", {"rb", "size"}, {"boxes"});
  model.node("Conv", {"r0", "ws"}, {"cs"}).node("Reshape", {"cs", "flat"}, {"rs"}).node("Sigmoid", {"rs"}, {"scores"});
  return model;
}

/// What follows the heads, up to the output "y" of which axis `axis` has boxes first.
struct Ending {
  std::string name;
  int axis;
  NamedModel (*build)(NamedModel model);
};

const Ending kEndings[] = {
    {"axis 1", 1,
     [](NamedModel m) {
       return m.node("Concat", {"boxes", "scores"}, {"y"}, {{"axis", int64_t{1}}});
     }},
    {"axis 2", 2,
     [](NamedModel m) {
       m.node("Transpose", {"boxes"}, {"bt"}, {{"perm", Ints{0, 2, 1}}});
       m.node("Transpose", {"scores"}, {"st"}, {{"perm", Ints{0, 2, 1}}});
       return m.node("Concat", {"bt", "st"}, {"y"}, {{"axis", int64_t{-1}}});
     }},
    {"movers after it", 1,
     [](NamedModel m) {
       m.constant("rows", Tensor::of<int64_t>(Shape{2}, {-1, kBoxes + kScores}));
       m.node("Concat", {"boxes", "scores"}, {"j"}, {{"axis", int64_t{1}}});
       m.node("Transpose", {"j"}, {"t"}, {{"perm", Ints{0, 2, 1}}});
       return m.node("Reshape", {"t", "rows"}, {"y"});
     }},
    {"joined again", 1,
     [](NamedModel m) {
       m.node("Concat", {"boxes", "scores"}, {"j"}, {{"axis", int64_t{1}}});
       return m.node("Concat", {"j", "j"}, {"y"}, {{"axis", int64_t{2}}});
     }},
    {"multiplied after it", 1,
     [](NamedModel m) {
       m.constant("two", Tensor::scalar(2.0f));
       m.node("Concat", {"boxes", "scores"}, {"j"}, {{"axis", int64_t{1}}});
       return m.node("Mul", {"j", "two"}, {"y"});
     }},
    {"sizes in the factors", 1,
     [](NamedModel m) {
       std::vector<float> sizes(kBoxes + kScores, 1.0f);
       std::fill(sizes.begin(), sizes.begin() + kBoxes, 100.0f);
       m.constant("sizes", Tensor::of<float>(Shape{1, kBoxes + kScores, 1}, sizes));
       m.node("Concat", {"rb", "scores"}, {"j"}, {{"axis", int64_t{1}}});
       return m.node("Mul", {"j", "sizes"}, {"y"});
     }},
};

double decibels(double signal, double noise) {
  return 10 * std::log10(signal / std::max(noise, 1e-30));
}

/// SQNR of what lies before index kBoxes of that axis of "y", and of the rest, on samples of their own.
std::pair<double, double> sqnr_of_parts(const Job& job, const Model& quantized, int axis) {
  run::Runner exact(run::Program::compile(job.opened->model, ops::standard()));
  run::Runner simulated(simulate::compile(quantized, simulate::Profile::kX64));
  double signal[2] = {}, noise[2] = {};
  for (uint64_t k = 1000; k < 1010; ++k) {
    const auto inputs = test::sample(job, k);
    const Tensor a = exact.run(inputs).back(), b = simulated.run(inputs).back();
    const auto length = static_cast<size_t>(a.shape()[axis]);
    const auto inner = static_cast<size_t>(a.shape().elements(axis + 1, a.shape().rank()));
    for (size_t i = 0; i < a.data<float>().size(); ++i) {
      const size_t part = i / inner % length < kBoxes ? 0 : 1;
      signal[part] += std::pow(a.data<float>()[i], 2);
      noise[part] += std::pow(a.data<float>()[i] - b.data<float>()[i], 2);
    }
  }
  return {decibels(signal[0], noise[0]), decibels(signal[1], noise[1])};
}

std::pair<double, double> parts_of(const Model& model, const char* platform, int axis, bool automatically = true) {
  config::QuantizationConfig config = test::plain_config();
  config.keep_float_automatically = automatically;
  const auto job = test::job_of(model, platform, config);
  return sqnr_of_parts(*job, quantize(*job, test::statistics_of(*job)).model, axis);
}

ptq::NodeOutcome outcome_of(const Model& model, const char* platform, const char* type) {
  const auto job = test::job_of(model, platform, test::plain_config());
  const Draft decided = draft(*job, test::statistics_of(*job));
  const auto& nodes = decided.model.graph.nodes();
  const auto node = std::find_if(nodes.begin(), nodes.end(), [&](const Node& one) { return one.is(type); });
  REQUIRE(node != nodes.end());
  const auto found = std::find_if(decided.plan.outcomes.begin(), decided.plan.outcomes.end(),
                                  [&](const ptq::NodeOutcome& one) { return one.node == node->id; });
  REQUIRE(found != decided.plan.outcomes.end());
  return *found;
}

}  // namespace

TEST_CASE("scores that are joined with boxes keep a scale of their own") {
  const char* platform = GENERATE("qnn", "tflite", "qnnpack", "imx500", "any");
  for (const Ending& ending : kEndings) {
    INFO(platform << ", " << ending.name);
    const Model model = ending.build(heads(100)).output("y").build();
    const auto lost = parts_of(model, platform, ending.axis, false), kept = parts_of(model, platform, ending.axis);
    CHECK(std::min(lost.first, lost.second) < 10);
    CHECK(kept.second > 25);
    CHECK(kept.first > 25);
  }
}

TEST_CASE("parts of one size keep theirs") {
  const char* platform = GENERATE("qnn", "tflite", "qnnpack", "imx500", "any");
  for (const Ending& ending : kEndings) {
    if (ending.name == "sizes in the factors") continue;
    INFO(platform << ", " << ending.name);
    const auto kept = parts_of(ending.build(heads(2)).output("y").build(), platform, ending.axis);
    CHECK(kept.first > 25);
    CHECK(kept.second > 25);
  }
}

TEST_CASE("a join of parts of one size, or before a kernel, runs in integers") {
  const Model alike = kEndings[0].build(heads(1)).output("y").build();
  const Model unlike = kEndings[0].build(heads(100)).output("y").build();
  for (const char* platform : {"qnn", "tflite"}) {
    INFO(platform);
    CHECK(outcome_of(alike, platform, "Concat").arithmetic == ptq::NodeOutcome::Arithmetic::kInteger);
    const ptq::NodeOutcome outcome = outcome_of(unlike, platform, "Concat");
    CHECK(outcome.arithmetic == ptq::NodeOutcome::Arithmetic::kFloat);
    CHECK(outcome.reason.find("\"boxes\" reaches to") != std::string::npos);
    CHECK(outcome.reason.find("\"scores\" to 0.") != std::string::npos);

    NamedModel before = heads(100);
    before.node("Concat", {"boxes", "scores"}, {"j"}, {{"axis", int64_t{1}}}).weight("w", {2, 7, 1});
    before.node("Conv", {"j", "w"}, {"y"}).output("y");
    CHECK(outcome_of(before.build(), platform, "Concat").arithmetic == ptq::NodeOutcome::Arithmetic::kInteger);
  }
}

TEST_CASE("scores that are cut out of such a join are quantized again") {
  NamedModel model = kEndings[0].build(heads(100));
  model.constant("sizes", Tensor::of<int64_t>(Shape{2}, {kBoxes, kScores}));
  model.node("Split", {"y", "sizes"}, {"b", "s"}, {{"axis", int64_t{1}}}).node("Relu", {"s"}, {"z"});
  model.output("b").output("z");
  const auto job = test::job_of(model.build(), "qnn", test::plain_config());
  const QuantizeResult made = quantize(*job, test::statistics_of(*job));
  const Graph& graph = made.model.graph;
  const Uses uses(graph);
  const auto maker = [&](size_t output) { return graph.nodes()[*uses.producer_index(graph.outputs[output])].op_type; };
  CHECK(maker(0) == "Split");
  CHECK(maker(1) == "DequantizeLinear");
}

}  // namespace unlike_joins_test
