// SPDX-License-Identifier: Apache-2.0
// The branch of an If that all samples take is quantized as the graph around it is, and computed only where it is
// taken.
#include "core/trial/taken_branches.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "core/export/sink_branches.h"
#include "core/graph/uses.h"
#include "core/graph/validate.h"
#include "core/onnx/read.h"
#include "core/passes/passes.h"
#include "tests/catch.h"
#include "tests/support/corrected.h"

namespace taken_branches_test {
using namespace tersor;
using test::count;
using test::NamedModel;

namespace {

using Subgraph = std::shared_ptr<const Graph>;

/// A convolution, two more in each branch of an If on the sign of an input, and a dense layer after it. The branches
/// share a weight, and read what the first makes.
Model net() {
  const auto branch = [](const char* second) {
    NamedModel body;
    body.node("Conv", {"r", "shared"}, {"p"}, {{"pads", std::vector<int64_t>{1, 1, 1, 1}}}).node("Relu", {"p"}, {"pr"});
    body.node("Conv", {"pr", second}, {"q"}).node("Relu", {"q"}, {"z"});
    return std::make_shared<const Graph>(body.output("z").build().graph);
  };
  NamedModel model;
  model.input("x", {1, 3, 6, 6}).input("way", {}).weight("first", {8, 3, 3, 3}).weight("shared", {8, 8, 3, 3});
  model.weight("one", {8, 8, 1, 1}).weight("other", {8, 8, 1, 1}).weight("dense", {8, 4});
  model.node("Conv", {"x", "first"}, {"c"}, {{"pads", std::vector<int64_t>{1, 1, 1, 1}}}).node("Relu", {"c"}, {"r"});
  model.constant("zero", Tensor::scalar(0.0f)).node("Greater", {"way", "zero"}, {"is_above"});
  model.node("If", {"is_above"}, {"b"}, {{"then_branch", branch("one")}, {"else_branch", branch("other")}});
  model.node("GlobalAveragePool", {"b"}, {"g"}).node("Flatten", {"g"}, {"f"}).node("MatMul", {"f", "dense"}, {"y"});
  return model.output("y").build();
}

std::vector<Tensor> inputs_of(const Model& model, uint32_t seed, bool above) {
  std::vector<Tensor> inputs = test::random_inputs(model, seed);
  inputs[1].mutable_data<float>()[0] = above ? 1 : -1;
  return inputs;
}

const Node& if_of(const Graph& graph) {
  return *std::find_if(graph.nodes().begin(), graph.nodes().end(), [](const Node& node) { return node.is("If"); });
}

int64_t inside(const Model& model, const char* branch, const char* type) {
  const auto& nodes = (*if_of(model.graph).attribute<Subgraph>(branch))->nodes();
  return std::count_if(nodes.begin(), nodes.end(), [&](const Node& node) { return node.op_type == type; });
}

struct Made {
  std::shared_ptr<const Job> job;
  QuantizeResult result;
  Model file;
};

Made made(const Model& model, const char* platform, bool above) {
  config::QuantizationConfig config = test::plain_config();
  config.prefer = config::Preference::kIntegers;
  Settings settings{tpc::get_target_platform_capabilities(platform), config};
  settings.taken_branches = {{"b_node", above}};
  const std::vector<std::byte> bytes = onnx::write(model);
  const auto job = prepare(std::make_shared<const OpenedModel>(open_model(onnx::Source::of(bytes))), settings);
  calibrate::Calibrator calibrator = calibrator_of(*job, 24);
  for (uint32_t k = 0; k < 24; ++k) {
    const auto inputs = inputs_of(model, k + 1, above);
    calibrator.add({k, samples::sample_digest(inputs)}, "", inputs);
  }
  QuantizeResult result = quantize(*job, calibrator.statistics());
  Model file = onnx::read(onnx::Source::of(result.bytes));
  return {job, std::move(result), std::move(file)};
}

std::vector<float> outputs(const Model& model, const std::vector<Tensor>& inputs) {
  const Tensor y = run::Runner(simulate::compile(model, simulate::Profile::kX64)).run(inputs)[0];
  return {y.data<float>().begin(), y.data<float>().end()};
}

double decibels(const std::vector<float>& exact, const std::vector<float>& value) {
  double signal = 0, noise = 1e-30;
  for (size_t k = 0; k < exact.size(); ++k) signal += std::pow(exact[k], 2), noise += std::pow(exact[k] - value[k], 2);
  return 10 * std::log10(signal / noise);
}

}  // namespace

TEST_CASE("a branch that moves out and back in gives the same, and is all in the branch again") {
  for (const bool above : {true, false}) {
    const Model before = net();
    Model after = before;
    REQUIRE(passes::hoist_branches(after, {{"b_node", above}}) == 1);
    validate(after);
    REQUIRE(count(after, "Conv") == 3);
    const Model hoisted = after;
    ptq::sink_branches(after.graph, {{"b_node", above}});
    validate(after);
    // The first convolution stays, as the other branch reads it too.
    REQUIRE(count(after, "Conv") == 1);
    REQUIRE(inside(after, above ? "then_branch" : "else_branch", "Conv") == 2);
    REQUIRE(inside(after, above ? "else_branch" : "then_branch", "Conv") == 2);
    for (const bool way : {true, false})
      for (const Model* one : std::initializer_list<const Model*>{&hoisted, &after})
        REQUIRE(outputs(*one, inputs_of(before, 3, way)) == outputs(before, inputs_of(before, 3, way)));
    REQUIRE(passes::hoist_branches(after, {{"another", true}}) == 0);
  }
}

TEST_CASE("the branch that samples take runs in integers, and the other is there as it was") {
  const Model model = net();
  for (const char* platform : {"ort-cpu", "ort-web", "qnn"})
    for (const bool above : {true, false}) {
      INFO(platform << " " << above);
      const Made one = made(model, platform, above);
      REQUIRE(one.result.plan.kernels.size() == 4);
      const char* const taken = above ? "then_branch" : "else_branch";
      const char* const other = above ? "else_branch" : "then_branch";
      REQUIRE(inside(one.file, taken, "Conv") == 2);
      REQUIRE(inside(one.file, taken, "QuantizeLinear") >= 1);
      REQUIRE(inside(one.file, other, "QuantizeLinear") == 0);
      REQUIRE(inside(one.file, other, "Conv") == 2);
      REQUIRE(count(one.file, "Conv") == 1);
      // What is read of the branch's own weights is inside, once.
      const Graph& body = **if_of(one.file.graph).attribute<Subgraph>(taken);
      for (const std::string& name : captures(body)) {
        const auto value = one.file.graph.find(name);
        REQUIRE(value);
        const Tensor* const constant = one.file.graph.initializer(*value);
        REQUIRE((constant == nullptr || constant->elements() > 64));
      }
      for (uint32_t seed = 100; seed < 104; ++seed) {
        const auto inputs = inputs_of(model, seed, above);
        const std::vector<float> preview = outputs(one.result.model, inputs);
        REQUIRE(outputs(one.file, inputs) == preview);
        REQUIRE(decibels(outputs(model, inputs), preview) > 20);
        // Behind the If ranges are those of the taken branch; where everything has one, that is most of it.
        const auto elsewhere = inputs_of(model, seed, !above);
        if (platform != std::string_view("qnn"))
          REQUIRE(decibels(outputs(model, elsewhere), outputs(one.file, elsewhere)) > 5);
      }
      const auto& notes = one.job->notes;
      REQUIRE(std::any_of(notes.begin(), notes.end(), [&](const Diagnostic& note) {
        return note.code == "taken_branch" && note.message.find(taken) != std::string::npos;
      }));
    }
}

TEST_CASE("statistics say for which branch they are") {
  const auto opened = std::make_shared<const OpenedModel>(open_model(onnx::Source::of(onnx::write(net()))));
  const Settings plain{tpc::get_target_platform_capabilities("ort-cpu"), test::plain_config()};
  for (const std::map<std::string, bool>& taken :
       {std::map<std::string, bool>{}, {{"b_node", true}}, {{"b_node", false}}}) {
    Settings settings = plain;
    settings.taken_branches = taken;
    REQUIRE(taken_branches(opened, plain, empty_statistics(*prepare(opened, settings))) == taken);
  }
}

}  // namespace taken_branches_test
