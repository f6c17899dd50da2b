// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "core/onnx/read.h"
#include "core/onnx/recognize.h"
#include "core/onnx/write.h"
#include "tests/catch.h"
#include "tests/onnx/encoded.h"
#include "tests/support/shared.h"

using namespace tersor;
using namespace tersor::onnx;
using namespace tersor::test;
using namespace std::string_literals;

namespace {

std::vector<std::byte> bytes_of(const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text.data(), text.size()));
  return {bytes.begin(), bytes.end()};
}

Error refusal_of(const std::vector<Message>& nodes) {
  return read_error(model_file(graph_of(nodes)));
}

/// Where the top-level fields of a file end: cutting there leaves a message that is complete as far as it goes.
std::vector<size_t> ends_of_fields(const std::vector<std::byte>& file) {
  Fields fields({reinterpret_cast<const char*>(file.data()), file.size()});
  std::vector<size_t> ends;
  size_t end = 0;
  while (fields.next()) ends.push_back(end += fields.encoded().size());
  return ends;
}

/// Reads the first `size` bytes, held apart so that a sanitizer sees every step beyond. True when there was an Error.
bool prefix_fails(const std::vector<std::byte>& file, size_t size) {
  auto cut = std::make_shared<std::vector<std::byte>>(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size));
  try {
    read({cut, std::span<const std::byte>(*cut)});
    return false;
  } catch (const Error& error) {
    REQUIRE_FALSE(error.message.empty());
    REQUIRE(error.code == ErrorCode::kInvalidModel);
    return true;
  }
}

}  // namespace

TEST_CASE("what is no ONNX model is called by its name") {
  struct Case {
    std::string bytes;
    const char* says;
  };
  const Case cases[] = {
      {"\x1c\0\0\0TFL3\x14\0\x20\0"s, "TFLite"},
      {"PK\x03\x04\x14\0\0\0archive/data.pkl"s, "PyTorch"},
      {"PK\x03\x04\x14\0\0\0model.weights.h5"s, "Keras"},
      {"PK\x03\x04\x14\0\0\0x.npy"s, "NumPy archive"},
      {"PK\x03\x04\x14\0\0\0readme.md"s, "zip archive"},
      {"<!DOCTYPE html>\n<html><body>404</body></html>"s, "HTML"},
      {"\n  <HTML lang=en>"s, "HTML"},
      {"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"s, "Git LFS"},
      {"\x80\x02}q\0X\x05\0\0\0"s, "pickle"},
      {"\x89HDF\r\n\x1a\n\0\0"s, "HDF5"},
      {"\x08\x01\x12\x85\x10"s, "SavedModel"},
      {"\x10\0\0\0ORTM\0\0"s, "ONNX Runtime's own format"},
      {"\x1f\x8b\x08\0"s, "gzip"},
      {"\x93NUMPY\x01\0"s, "NumPy array"},
      {"\x89PNG\r\n\x1a\n"s, "PNG"},
      {"\xff\xd8\xff\xe0"s, "JPEG"},
      {"GGUF\x03\0\0\0"s, "GGUF"},
      {"\x40\0\0\0\0\0\0\0{\"a\":1}        "s, "safetensors"},
      {"{\"format\": \"layers-model\"}"s, "JSON"},
      {"ir_version: 7\nproducer_name: \"x\"\n"s, "text form"},
      {"hello\n"s, "text file"},
  };
  for (const Case& one : cases) {
    INFO(one.says);
    const Error error = read_error(bytes_of(one.bytes));
    INFO(error.message);
    REQUIRE(error.code == ErrorCode::kInvalidModel);
    REQUIRE(error.message.find("not an ONNX model") != std::string::npos);
    REQUIRE(error.message.find(one.says) != std::string::npos);
    REQUIRE_FALSE(error.hint.empty());
  }
  REQUIRE(read_error({}).message == "The file is empty.");
}

TEST_CASE("protobuf that is no ONNX model is refused") {
  const std::string tensorflow_graph = "\x0a\x05hello"s;
  for (const std::string& bytes : {tensorflow_graph, "\x08\x03\x10\x01\x22\x04\0\0\0\0"s, "\x08\x08"s,
                                   "\x08\x03\x08\x04\x10\x01"s, "\xff\xff\xff\xff"s, "\0\0\0\0"s}) {
    const Error error = read_error(bytes_of(bytes));
    INFO(error.message);
    REQUIRE(error.code == ErrorCode::kInvalidModel);
    REQUIRE_FALSE(error.hint.empty());
  }
}

TEST_CASE("a field that claims more bytes than there are is refused") {
  // Lengths of 2^31, 2^32 and 2^63 in the graph, a node and a tensor: each would wrap somewhere.
  for (const std::string& length :
       {"\x80\x80\x80\x80\x08"s, "\xff\xff\xff\xff\x0f"s, "\x80\x80\x80\x80\x10"s,
        "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"s, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"s}) {
    REQUIRE(read_error(bytes_of("\x08\x08\x3a" + length + "abc")).message.find("cut short") != std::string::npos);
    for (const std::string& field : {"\x0a" + length + "ab", "\x2a" + length + "ab", "\x0a\x08\x0a" + length + "ab"}) {
      const std::string graph = "\x3a" + std::string(1, static_cast<char>(field.size())) + field;
      REQUIRE(read_error(bytes_of("\x08\x08" + graph)).code == ErrorCode::kInvalidModel);
    }
    // In a field that is skipped.
    REQUIRE(read_error(bytes_of("\x08\x08\xfa\x01" + length + "abc")).code == ErrorCode::kInvalidModel);
  }
}

TEST_CASE("every prefix of a model is refused") {
  Message tensor;
  tensor.integer(tensor_field::kDims, 2);
  tensor.integer(tensor_field::kDataType, 1);
  tensor.text(tensor_field::kName, "w");
  tensor.text(tensor_field::kRaw, "12345678");
  const std::vector<std::byte> file = model_with_initializer(tensor);
  for (size_t size = 0; size < file.size(); ++size) {
    INFO(size);
    REQUIRE(prefix_fails(file, size));
  }
}

TEST_CASE("prefixes of zoo models are refused, but where only metadata is lost") {
  struct Case {
    const char* path;
    size_t step;  // every how many bytes, with the surroundings of the fields' ends besides
  };
  for (const Case& one : {Case{"zoo/hand-keypoint-mlp/model.onnx", 1}, Case{"zoo/mnist-cntk/model.onnx", 1},
                          Case{"zoo/mlperf-kws-dscnn/int8-qdq.onnx", 1}, Case{"zoo/silero-vad-16k/model.onnx", 997},
                          Case{"zoo/yolox-nano-416/model.onnx", 19997}}) {
    const auto path = shared_file(one.path);
    if (!path) return;
    const std::vector<std::byte> file = read_file(*path);
    INFO(*path);
    const std::vector<size_t> ends = ends_of_fields(file);
    REQUIRE(ends.back() == file.size());
    size_t survived = 0;
    for (size_t size = 0; size < file.size(); size += one.step) survived += prefix_fails(file, size) ? 0 : 1;
    // Between two complete fields after the operator sets nothing shows that more was to come.
    size_t complete = 0;
    for (size_t k = 0; k + 1 < ends.size(); ++k) {
      REQUIRE(prefix_fails(file, ends[k] - 1));
      REQUIRE(prefix_fails(file, ends[k] + 1));
      complete += prefix_fails(file, ends[k]) ? 0 : 1;
    }
    REQUIRE(survived <= complete);
    REQUIRE(complete <= 1);
  }
}

TEST_CASE("a cycle, a missing tensor and a name defined twice are refused with the node's place") {
  const Error cycle = refusal_of(
      {plain_node("Add", {"x", "b"}, {"a"}), plain_node("Relu", {"a"}, {"b"}), plain_node("Abs", {"b"}, {"y"})});
  REQUIRE(cycle.message.find("cycle") != std::string::npos);
  REQUIRE(cycle.place == "graph.node[0] (Add)");
  const Error missing = refusal_of({plain_node("Conv", {"x", "weight"}, {"y"})});
  REQUIRE(missing.message.find("\"weight\"") != std::string::npos);
  REQUIRE(missing.place == "graph.node[0] (Conv)");
  const Error twice = refusal_of({plain_node("Abs", {"x"}, {"y"}), plain_node("Relu", {"x"}, {"y"})});
  REQUIRE(twice.message.find("defined twice") != std::string::npos);
  REQUIRE(twice.place == "graph.node[1] (Relu)");
  REQUIRE(refusal_of({plain_node("Abs", {"w"}, {"x"}), plain_node("Abs", {"x"}, {"y"})}).code ==
          ErrorCode::kInvalidModel);
  REQUIRE(refusal_of({plain_node("Twist", {"x"}, {"y"}, "com.example")}).message.find("com.example") !=
          std::string::npos);
}

TEST_CASE("attributes without a name or given twice are refused") {
  Message attribute, nameless;
  attribute.text(attribute_field::kName, "axis");
  attribute.integer(attribute_field::kInt, 1);
  attribute.integer(attribute_field::kType, 2);
  nameless.integer(attribute_field::kInt, 1);
  Message twice = plain_node("Softmax", {"x"}, {"y"}), without = twice;
  twice.message(node_field::kAttribute, attribute);
  twice.message(node_field::kAttribute, attribute);
  without.message(node_field::kAttribute, nameless);
  REQUIRE(refusal_of({twice}).message.find("\"axis\" is given twice") != std::string::npos);
  REQUIRE(refusal_of({without}).message.find("no name") != std::string::npos);
}

TEST_CASE("errors inside a subgraph carry the whole path") {
  Message inner, attribute, node = plain_node("If", {"x"}, {"y"}), tensor;
  tensor.integer(tensor_field::kDims, 2);
  tensor.integer(tensor_field::kDataType, 1);
  tensor.text(tensor_field::kName, "w");
  inner.message(graph_field::kInitializer, tensor);
  attribute.text(attribute_field::kName, "then_branch");
  attribute.message(attribute_field::kGraph, inner);
  attribute.integer(attribute_field::kType, 5);
  node.message(node_field::kAttribute, attribute);
  REQUIRE(refusal_of({node}).place == "graph.node[0] (If).then_branch.initializer[0] \"w\"");
}

TEST_CASE("subgraphs nested without end are refused") {
  Message inner = graph_of({plain_node("Relu", {"x"}, {"y"})});
  for (int level = 0; level < 300; ++level) {
    Message attribute, node = plain_node("If", {"x"}, {"y"});
    attribute.text(attribute_field::kName, "then_branch");
    attribute.message(attribute_field::kGraph, inner);
    attribute.integer(attribute_field::kType, 5);
    node.message(node_field::kAttribute, attribute);
    inner = graph_of({node});
  }
  REQUIRE(read_error(model_file(inner)).message.find("deeper") != std::string::npos);
}

TEST_CASE("newer versions are read with a warning, missing ones refused") {
  Message model, opset;
  model.integer(model_field::kIrVersion, 99);
  model.message(model_field::kGraph, graph_of({plain_node("Relu", {"x"}, {"y"})}));
  const Message without = model;
  opset.text(opset_field::kDomain, "ai.onnx");
  opset.integer(opset_field::kVersion, 99);
  model.message(model_field::kOpsetImport, opset);
  const Model read_back = read(Source::of(model.bytes()));
  REQUIRE(read_back.opset() == 99);
  REQUIRE(read_back.warnings.size() == 2);
  REQUIRE(read_back.warnings[0].code == "newer_ir");
  REQUIRE(read_back.warnings[1].code == "newer_opset");
  REQUIRE(read_error(without.bytes()).place == "opset_import");
}

TEST_CASE("of a domain that is imported twice the last version counts, under either name") {
  const auto opset_of = [](const std::vector<std::pair<std::string, int64_t>>& imports) {
    Message model;
    model.integer(model_field::kIrVersion, 8);
    model.message(model_field::kGraph, graph_of({plain_node("Relu", {"x"}, {"y"})}));
    for (const auto& [domain, version] : imports) {
      Message opset;
      opset.text(opset_field::kDomain, domain);
      opset.integer(opset_field::kVersion, version);
      model.message(model_field::kOpsetImport, std::move(opset));
    }
    const Model found = read(Source::of(model.bytes()));
    REQUIRE(found.opset_imports.size() == 1);
    return found.opset();
  };
  REQUIRE(opset_of({{"", 13}, {"", 13}}) == 13);
  REQUIRE(opset_of({{"", 13}, {"ai.onnx", 17}}) == 17);
  REQUIRE(opset_of({{"ai.onnx", 17}, {"", 13}}) == 13);
}

TEST_CASE("damage anywhere in a model gives a model or an error, never worse") {
  const auto path = shared_file("zoo/mnist-cntk/model.onnx");
  if (!path) return;
  const std::vector<std::byte> whole = read_file(*path);
  uint32_t state = 12345;
  const auto random = [&](size_t below) {
    state = state * 1664525u + 1013904223u;
    return static_cast<size_t>(state >> 8) % below;
  };
  size_t refused = 0;
  for (int round = 0; round < 3000; ++round) {
    std::vector<std::byte> file = whole;
    // The structure lies in the first and last kilobytes, weights in between.
    for (int k = 0; k < 3; ++k) {
      const size_t at = random(2) == 0 ? random(2500) : file.size() - 1 - random(2500);
      file[at] = static_cast<std::byte>(random(256));
    }
    try {
      const Model model = read(Source::of(std::move(file)));
      REQUIRE_FALSE(write(model).empty());
    } catch (const Error& error) {
      REQUIRE(error.code != ErrorCode::kInternal);
      ++refused;
    }
  }
  REQUIRE(refused > 1000);
  REQUIRE(refused < 3000);
}

TEST_CASE("a first output that has no default must be there") {
  const Error missing = refusal_of({plain_node("MaxPool", {"x"}, {"", "y"})});
  REQUIRE(missing.message.find("first output of MaxPool") != std::string::npos);
  REQUIRE(missing.place == "graph.node[0] (MaxPool)");
  REQUIRE(
      read(Source::of(model_file(graph_of({plain_node("GRU", {"x", "x", "x"}, {"", "y"})})))).graph.nodes().size() ==
      1);
}
