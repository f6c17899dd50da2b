// SPDX-License-Identifier: Apache-2.0
// What exporters' forms become. That results stay is judged by a runtime: tests/zoo.
#include "core/onnx/rewrite_forms.h"

#include <cstring>

#include "core/graph/print.h"
#include "core/onnx/read.h"
#include "core/onnx/write.h"
#include "core/tensor/float16.h"
#include "tests/catch.h"

using namespace tersor;

namespace {

Tensor halves(std::vector<float> values, DType dtype = DType::kFloat16) {
  Tensor tensor = Tensor::make(dtype, Shape{static_cast<int64_t>(values.size())});
  for (size_t k = 0; k < values.size(); ++k) {
    uint32_t bits = 0;
    std::memcpy(&bits, &values[k], sizeof bits);
    const uint16_t half = dtype == DType::kFloat16 ? half_from_float(values[k]) : static_cast<uint16_t>(bits >> 16);
    tensor.mutable_bytes()[2 * k] = static_cast<std::byte>(half & 0xff);
    tensor.mutable_bytes()[2 * k + 1] = static_cast<std::byte>(half >> 8);
  }
  return tensor;
}

struct Small {
  Model model;
  Graph& graph = model.graph;

  explicit Small(int64_t opset = 13, DType dtype = DType::kFloat32, std::vector<Dim> dims = {{2, {}}, {6, {}}}) {
    model.ir_version = 8;
    model.opset_imports = {{"", opset}, {"ai.onnx.ml", 2}, {"com.microsoft", 1}};
    graph.name = "g";
    graph.inputs = {graph.add_value("x", dtype, std::move(dims))};
  }
  ValueId value(const std::string& name) {
    const auto found = graph.find(name);
    return found ? *found : graph.add_value(name);
  }
  Small& node(const char* type, std::vector<std::string> inputs, const std::string& output, Attributes attributes = {},
              const char* domain = "") {
    Node node;
    node.op_type = type;
    node.domain = domain;
    for (const std::string& name : inputs) node.inputs.push_back(value(name));
    node.outputs = {value(output)};
    node.attributes = std::move(attributes);
    graph.append(std::move(node));
    return *this;
  }
  Small& constant(const std::string& name, Tensor tensor) {
    graph.set_initializer(value(name), std::move(tensor));
    return *this;
  }
  Small& output(const std::string& name) {
    graph.outputs.push_back(value(name));
    return *this;
  }
  /// The graph's nodes after the rewriting, which a second one leaves alone.
  std::string rewritten() {
    onnx::rewrite_forms(model);
    const std::string text = to_text(graph);
    onnx::rewrite_forms(model);
    REQUIRE(to_text(graph) == text);
    const Model back = onnx::read(onnx::Source::of(onnx::write(model)));
    REQUIRE(to_text(back.graph) == text);
    std::string nodes;
    for (const Node& node : graph.nodes()) nodes += (nodes.empty() ? "" : " ") + node.op_type;
    return nodes;
  }
};

Attributes with(std::initializer_list<std::pair<const char*, Attribute>> entries) {
  Attributes attributes;
  for (const auto& [key, value] : entries) attributes.emplace(key, value);
  return attributes;
}

Tensor numbers(std::vector<int64_t> values) {
  return Tensor::of<int64_t>(Shape{static_cast<int64_t>(values.size())}, values);
}

}  // namespace

TEST_CASE("constants of 16 bits after a Cast become float32, inputs and outputs keep their type") {
  for (const DType dtype : {DType::kFloat16, DType::kBfloat16}) {
    Small small;
    small.constant("h", halves({0.5f, -2.0f, 65280.0f}, dtype));
    small.node("Cast", {"h"}, "w", with({{"to", int64_t{1}}})).node("Add", {"x", "w"}, "y").output("y");
    REQUIRE(small.rewritten() == "Cast Add");
    const Tensor* wide = small.graph.initializer(*small.graph.find("h"));
    REQUIRE(wide->dtype() == DType::kFloat32);
    REQUIRE(std::vector<float>(wide->data<float>().begin(), wide->data<float>().end()) ==
            std::vector<float>{0.5f, -2.0f, 65280.0f});
    REQUIRE(small.model.narrow.empty());
  }
}

TEST_CASE("a model of float16 is run in float32 and written with the inputs and outputs that it had") {
  Small small(13, DType::kFloat16);
  small.constant("w", halves({1, 2, 3, 4, 5, 6}));
  small.node("Mul", {"x", "w"}, "y").output("y");
  small.graph.value(*small.graph.find("y")).dtype = DType::kFloat16;
  REQUIRE(small.rewritten() == "Mul");
  REQUIRE(small.graph.value(small.graph.inputs[0]).dtype == DType::kFloat32);
  REQUIRE(small.model.narrow.size() == 2);
  Model file = onnx::restore_edges(small.model);
  REQUIRE(file.graph.value(file.graph.inputs[0]).dtype == DType::kFloat16);
  REQUIRE(file.graph.name_of(file.graph.outputs[0]) == "y");
  REQUIRE(file.graph.value(file.graph.outputs[0]).dtype == DType::kFloat16);
  std::string nodes;
  for (const Node& node : file.graph.nodes()) nodes += node.op_type + " ";
  REQUIRE(nodes == "Cast Mul Cast ");
  onnx::rewrite_forms(file);
  REQUIRE(file.narrow == small.model.narrow);
}

TEST_CASE("sequences that are known before a run become tensors") {
  SECTION("equal parts of a known axis") {
    Small small;
    small.constant("size", Tensor::scalar(int64_t{2})).constant("one", Tensor::scalar(int64_t{1}));
    small.constant("last", Tensor::scalar(int64_t{-1}));
    small.node("SplitToSequence", {"x", "size"}, "s", with({{"axis", int64_t{1}}}));
    small.node("SequenceAt", {"s", "one"}, "a").node("SequenceAt", {"s", "last"}, "b").node("Add", {"a", "b"}, "y");
    REQUIRE(small.output("y").rewritten() == "Split Identity Identity Add");
    REQUIRE(small.graph.nodes()[0].outputs.size() == 3);
  }
  SECTION("parts of an axis whose size is not known") {
    Small small(13, DType::kFloat32, {{-1, "N"}, {-1, "T"}});
    small.constant("size", Tensor::scalar(int64_t{2})).constant("one", Tensor::scalar(int64_t{1}));
    small.node("SplitToSequence", {"x", "size"}, "s", with({{"axis", int64_t{1}}}));
    REQUIRE(small.node("SequenceAt", {"s", "one"}, "y").output("y").rewritten() == "Slice");
    REQUIRE(small.graph.initializer(small.graph.nodes()[0].inputs[1])->to_int64s() == std::vector<int64_t>{2});
    REQUIRE(small.graph.initializer(small.graph.nodes()[0].inputs[2])->to_int64s() == std::vector<int64_t>{4});
  }
  SECTION("unbind") {
    Small small(13, DType::kFloat32, {{-1, "N"}, {3, {}}});
    small.constant("one", Tensor::scalar(int64_t{1}));
    small.node("SplitToSequence", {"x"}, "s", with({{"axis", int64_t{0}}, {"keepdims", int64_t{0}}}));
    REQUIRE(small.node("SequenceAt", {"s", "one"}, "y").output("y").rewritten() == "Gather");
  }
  SECTION("lists that are put together") {
    Small small;
    small.node("Relu", {"x"}, "r").node("SequenceEmpty", {}, "e").node("SequenceInsert", {"e", "x"}, "s1");
    small.node("SequenceInsert", {"s1", "r"}, "s2");
    small.node("ConcatFromSequence", {"s2"}, "y", with({{"axis", int64_t{1}}}));
    REQUIRE(small.output("y").rewritten() == "Relu Concat");
    Small stacked;
    stacked.node("Relu", {"x"}, "r").node("SequenceConstruct", {"x", "r"}, "s");
    stacked.node("ConcatFromSequence", {"s"}, "y", with({{"axis", int64_t{0}}, {"new_axis", int64_t{1}}}));
    REQUIRE(stacked.output("y").rewritten() == "Relu Unsqueeze Unsqueeze Concat");
  }
  SECTION("what only a run tells stays") {
    Small small;
    small.graph.inputs.push_back(small.graph.add_value("k", DType::kInt64, std::vector<Dim>{}));
    small.constant("size", Tensor::scalar(int64_t{2}));
    small.node("SplitToSequence", {"x", "size"}, "s", with({{"axis", int64_t{1}}}));
    small.node("SequenceAt", {"s", "k"}, "y").output("y");
    onnx::rewrite_forms(small.model);
    REQUIRE(small.graph.nodes().back().is("SequenceAt"));
    REQUIRE(small.graph.nodes()[1].is("SplitToSequence"));
  }
}

TEST_CASE("names and maps that a model ends in are left out of the run, and come back in the file") {
  Small small;
  small.node("Softmax", {"x"}, "p").node("ArgMax", {"p"}, "k", with({{"axis", int64_t{1}}}));
  small.constant("shape", numbers({-1}));
  small.node("ZipMap", {"p"}, "map", with({{"classlabels_int64s", std::vector<int64_t>{0, 1}}}), "ai.onnx.ml");
  small.node("LabelEncoder", {"k"}, "l", with({{"keys_int64s", std::vector<int64_t>{0, 1}}}), "ai.onnx.ml");
  small.node("Reshape", {"l", "shape"}, "label").output("label").output("map");
  small.graph.value(*small.graph.find("label")).dtype = DType::kString;
  REQUIRE(small.rewritten() == "Softmax ArgMax");
  REQUIRE(small.graph.name_of(small.graph.outputs[0]) == "k");
  REQUIRE(small.graph.name_of(small.graph.outputs[1]) == "p");
  const Model file = onnx::restore_edges(small.model);
  std::string types;
  for (const Node& node : file.graph.nodes()) types += node.op_type + " ";
  REQUIRE(types == "Softmax ArgMax ZipMap LabelEncoder Reshape ");
  REQUIRE(file.graph.name_of(file.graph.outputs[0]) == "label");
  REQUIRE(file.graph.name_of(file.graph.outputs[1]) == "map");
  REQUIRE(file.graph.initializer(*file.graph.find("shape")) != nullptr);
}

TEST_CASE("arithmetic of ai.onnx.ml becomes ONNX's own") {
  Small small(13, DType::kInt64);
  small.node("Scaler", {"x"}, "s", with({{"offset", std::vector<float>{1}}, {"scale", std::vector<float>{2}}}),
             "ai.onnx.ml");
  small.node("Normalizer", {"s"}, "y", with({{"norm", std::string("L2")}}), "ai.onnx.ml").output("y");
  REQUIRE(small.rewritten() == "Cast Sub Mul ReduceL2 Equal Where Div");
  Small classes;
  classes.constant("names", numbers({10, 20, 30}));
  classes.node("ArgMax", {"x"}, "k", with({{"axis", int64_t{1}}}));
  classes.node("ArrayFeatureExtractor", {"names", "k"}, "y", {}, "ai.onnx.ml").output("y");
  REQUIRE(classes.rewritten() == "ArgMax Reshape Gather Reshape");
}

TEST_CASE("operators of com.microsoft that hold weights are taken apart") {
  const Tensor weights = Tensor::of<float>({6, 6}, std::vector<float>(36));
  Small product;
  product.constant("w", weights);
  product
      .node("FusedMatMul", {"x", "w"}, "y", with({{"transB", int64_t{1}}, {"transA", int64_t{1}}, {"alpha", 0.5f}}),
            "com.microsoft")
      .output("y");
  REQUIRE(product.rewritten() == "Transpose Transpose MatMul Mul");
  Small unknown;
  unknown.constant("w", weights).node("Zap", {"x"}, "a", {}, "com.microsoft");
  unknown.node("FusedMatMul", {"a", "w"}, "y", with({{"transA", int64_t{1}}}), "com.microsoft").output("y");
  REQUIRE(unknown.rewritten() == "Zap Einsum");
  Small attention;
  attention.constant("w", weights);
  attention.node("Attention", {"x", "w"}, "y", with({{"num_heads", int64_t{1}}}), "com.microsoft").output("y");
  REQUIRE(attention.rewritten() == "MatMul Split MultiHeadAttention");
  // Kept as it is, and refused by name where it is run.
  Small turned;
  turned.constant("w", weights);
  turned
      .node("Attention", {"x", "w"}, "y", with({{"num_heads", int64_t{1}}, {"do_rotary", int64_t{1}}}), "com.microsoft")
      .output("y");
  REQUIRE(turned.rewritten() == "Attention");
}
