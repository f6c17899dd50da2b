// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "core/graph/print.h"
#include "core/onnx/read.h"
#include "core/onnx/write.h"
#include "tests/catch.h"
#include "tests/onnx/encoded.h"

using namespace tersor;
using namespace tersor::onnx;
using namespace tersor::test;

namespace {

constexpr const char* kDomain = "our.own";

Message attribute(const std::string& name, AttributeType type) {
  Message made;
  made.text(attribute_field::kName, name);
  made.integer(attribute_field::kType, static_cast<int64_t>(type));
  return made;
}

Message number(const std::string& name, float value) {
  Message made;
  made.text(attribute_field::kName, name);
  made.number(attribute_field::kFloat, value);
  made.integer(attribute_field::kType, static_cast<int64_t>(AttributeType::kFloat));
  return made;
}

Message reference(const std::string& name, const std::string& to) {
  Message made = attribute(name, AttributeType::kFloat);
  made.text(attribute_field::kReference, to);
  return made;
}

Message with(Message node, Message one) {
  node.message(node_field::kAttribute, std::move(one));
  return node;
}

Message function(const std::string& name, const std::vector<std::string>& inputs,
                 const std::vector<std::string>& outputs, const std::vector<Message>& nodes, int64_t opset = 13) {
  Message made, import;
  made.text(function_field::kName, name);
  for (const std::string& one : inputs) made.text(function_field::kInput, one);
  for (const std::string& one : outputs) made.text(function_field::kOutput, one);
  for (const Message& one : nodes) made.message(function_field::kNode, one);
  import.text(opset_field::kDomain, "");
  import.integer(opset_field::kVersion, opset);
  made.message(function_field::kOpsetImport, std::move(import));
  made.text(function_field::kDomain, kDomain);
  return made;
}

std::vector<std::byte> file_of(const std::vector<Message>& nodes, const std::vector<Message>& functions) {
  Message model;
  const auto plain = model_file(graph_of(nodes), kDomain);
  model.encoded({reinterpret_cast<const char*>(plain.data()), plain.size()});
  for (const Message& one : functions) model.message(model_field::kFunctions, one);
  return model.bytes();
}

std::string read_text(const std::vector<std::byte>& file) {
  const std::string text = to_text(read(Source::of(file)).graph);
  return text.substr(text.find('\n') + 1);
}

}  // namespace

TEST_CASE("calls of a model's own functions are replaced by their nodes") {
  const Message inner =
      function("Inner", {"a"}, {"b"}, {plain_node("Neg", {"a"}, {"t"}), plain_node("Abs", {"t"}, {"b"})});
  const Message outer = function(
      "Outer", {"a"}, {"b"}, {plain_node("Inner", {"a"}, {"t"}, kDomain), plain_node("Inner", {"t"}, {"b"}, kDomain)});
  const auto file =
      file_of({plain_node("Outer", {"x"}, {"h"}, kDomain), plain_node("Relu", {"h"}, {"y"})}, {inner, outer});
  REQUIRE(read_text(file) ==
          "  Inner.2/t = Neg(x)\n  Outer.1/t = Abs(Inner.2/t)\n  Inner.3/t = Neg(Outer.1/t)\n"
          "  h = Abs(Inner.3/t)\n  y = Relu(h)\n");
  const Model model = read(Source::of(file));
  REQUIRE(model.warnings.size() == 1);
  REQUIRE(model.warnings[0].code == "functions_inlined");
  REQUIRE(model.opset(kDomain) == 0);
  // What is written has no functions, and is read the same.
  const Model again = read(Source::of(onnx::write(model)));
  REQUIRE(again.warnings.empty());
  REQUIRE(to_text(again.graph) == to_text(model.graph));
}

TEST_CASE("attributes by reference are those of the call, else the function's default, else the operator's") {
  Message leaky =
      function("Leaky", {"a"}, {"b"}, {with(plain_node("LeakyRelu", {"a"}, {"b"}), reference("alpha", "slope"))});
  Message with_default = leaky;
  with_default.message(function_field::kDefault, number("slope", 0.25f));
  const Message call = with(plain_node("Leaky", {"x"}, {"y"}, kDomain), number("slope", 0.5f));
  const Message bare = plain_node("Leaky", {"x"}, {"y"}, kDomain);
  REQUIRE(read_text(file_of({call}, {with_default})) == "  y = LeakyRelu(x) {alpha = 0.5}\n");
  REQUIRE(read_text(file_of({bare}, {with_default})) == "  y = LeakyRelu(x) {alpha = 0.25}\n");
  REQUIRE(read_text(file_of({bare}, {leaky})) == "  y = LeakyRelu(x)\n");
}

TEST_CASE("subgraphs inside functions read the function's tensors under their new names") {
  Message branch;
  branch.message(graph_field::kNode, plain_node("Neg", {"t"}, {"r"}));
  branch.text(graph_field::kName, "branch");
  branch.message(graph_field::kOutput, tensor_value("r", 1, {2}));
  Message choice = plain_node("If", {"c"}, {"b"});
  for (const char* name : {"then_branch", "else_branch"}) {
    Message one;
    one.text(attribute_field::kName, name);
    one.message(attribute_field::kGraph, branch);
    one.integer(attribute_field::kType, static_cast<int64_t>(AttributeType::kGraph));
    choice = with(std::move(choice), std::move(one));
  }
  const Message chosen =
      function("Chosen", {"a"}, {"b"}, {plain_node("Abs", {"a"}, {"t"}), plain_node("IsNaN", {"a"}, {"c"}), choice});
  const std::string text = read_text(file_of({plain_node("Chosen", {"x"}, {"y"}, kDomain)}, {chosen}));
  INFO(text);
  REQUIRE(text.find("Chosen.1/r = Neg(Chosen.1/t)") != std::string::npos);
  REQUIRE(text.find("y = If(Chosen.1/c)") != std::string::npos);
}

TEST_CASE("an absent input stays absent, an input handed through is copied, an output that nobody takes is inner") {
  const Message clip =
      function("Bound", {"a", "low", "high"}, {"b", "a"}, {plain_node("Clip", {"a", "low", "high"}, {"b"})});
  REQUIRE(read_text(file_of({plain_node("Bound", {"x"}, {"", "y"}, kDomain)}, {clip})) ==
          "  y = Identity(x)\n  Bound.1/b = Clip(x, _, _)\n");
}

TEST_CASE("functions that cannot be put in place are refused with a sentence") {
  const Message call = plain_node("F", {"x"}, {"y"}, kDomain);
  const Message endless = function("F", {"a"}, {"b"}, {plain_node("F", {"a"}, {"b"}, kDomain)});
  REQUIRE(read_error(file_of({call}, {endless})).message.find("deep") != std::string::npos);
  const Message newer = function("F", {"a"}, {"b"}, {plain_node("Relu", {"a"}, {"b"})}, 14);
  REQUIRE(read_error(file_of({call}, {newer})).code == ErrorCode::kUnsupportedModel);
  const Message none = function("F", {}, {"b"}, {plain_node("Relu", {"a"}, {"b"})});
  REQUIRE(read_error(file_of({call}, {none})).message.find("more inputs") != std::string::npos);
  REQUIRE(read_error(file_of({call}, {none, none})).message.find("twice") != std::string::npos);
}
