// SPDX-License-Identifier: Apache-2.0
#include "core/onnx/usage_notes.h"

#include "tests/catch.h"
#include "tests/support/model_builder.h"

namespace usage_notes_test {
using namespace tersor;
using test::ModelBuilder;

namespace {

Model normalized(bool of_input, bool trains, size_t outputs = 1) {
  ModelBuilder builder(15);
  const ValueId x = builder.input("x", {1, 2, 4});
  const ValueId from = of_input ? x : builder.floats({1, 2, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
  std::vector<ValueId> inputs{from};
  for (int k = 0; k < 4; ++k) inputs.push_back(builder.floats({2}, {0.5f, 1}));
  ModelBuilder::Attributes attributes;
  if (trains) attributes.emplace_back("training_mode", int64_t{1});
  const std::vector<ValueId> made = builder.nodes("BatchNormalization", inputs, outputs, attributes);
  builder.output(builder.node("Add", {made[0], x}));
  if (outputs > 1) builder.output(made[1]);
  return builder.model;
}

std::string codes_of(const std::vector<Diagnostic>& notes) {
  std::string codes;
  for (const Diagnostic& note : notes) codes += note.code + " ";
  return codes;
}

}  // namespace

TEST_CASE("nodes in training mode are told, but not where weights are standardized in the graph") {
  REQUIRE(codes_of(onnx::usage_notes(normalized(true, true).graph)) == "training_mode ");
  REQUIRE(codes_of(onnx::usage_notes(normalized(true, false).graph)).empty());
  REQUIRE(codes_of(onnx::usage_notes(normalized(false, true).graph)).empty());
}

TEST_CASE("random numbers are told, and how many nodes draw them") {
  ModelBuilder builder;
  const ValueId x = builder.input("x", {4});
  builder.output(builder.node("Add", {builder.node("RandomNormalLike", {x}), builder.node("RandomUniformLike", {x})}));
  const auto notes = onnx::usage_notes(builder.model.graph);
  REQUIRE(codes_of(notes) == "random_numbers ");
  REQUIRE(notes[0].message.find("RandomNormalLike \"RandomNormalLike\" and 1 node more") != std::string::npos);
}

TEST_CASE("what was exported in training mode is set to inference") {
  Model model = normalized(true, true);
  model.warnings = onnx::usage_notes(model.graph);
  REQUIRE(onnx::set_inference_mode(model) == 1);
  REQUIRE(model.graph.nodes()[0].attributes == normalized(true, false).graph.nodes()[0].attributes);
  REQUIRE(model.warnings.empty());
  REQUIRE(onnx::set_inference_mode(model) == 0);
}

TEST_CASE("running statistics that are read are left alone") {
  Model model = normalized(true, true, 3);
  model.warnings = onnx::usage_notes(model.graph);
  REQUIRE(onnx::set_inference_mode(model) == 0);
  REQUIRE(codes_of(model.warnings) == "training_mode ");
  REQUIRE(model.graph.nodes()[0].int_or("training_mode", 0) == 1);
}

}  // namespace usage_notes_test
