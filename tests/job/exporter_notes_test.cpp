// SPDX-License-Identifier: Apache-2.0
// What exporters note in a file, and what of it a quantized file holds.
#include <algorithm>
#include <string_view>

#include "tests/catch.h"
#include "tests/support/corrected.h"

using namespace tersor;

namespace {

/// An encoded StringStringEntryProto of one key and value, as field `tag` of a message.
std::string metadata_field(int tag, const std::string& key, const std::string& value) {
  const auto text = [](int field, const std::string& content) {
    return std::string{static_cast<char>(field << 3 | 2), static_cast<char>(content.size())} + content;
  };
  std::string key_bytes;
  for (int rest = tag << 3 | 2; rest != 0; rest >>= 7)
    key_bytes += static_cast<char>((rest & 127) | (rest > 127 ? 128 : 0));
  const std::string entry = text(1, key) + text(2, value);
  return key_bytes + static_cast<char>(entry.size()) + entry;
}

Model noted() {
  test::NamedModel builder;
  builder.input("x", {2, 16}).weight("w", {16, 8}).node("MatMul", {"x", "w"}, {"y"}).output("y");
  Model model = builder.build();
  model.doc = "doc of the model";
  model.graph.doc = "doc of the graph";
  model.graph.rest = metadata_field(16, "pkg.torch.graph", "/home/somebody/graph");
  model.graph.nodes()[0].doc = "doc of the node";
  model.graph.nodes()[0].rest = metadata_field(9, "pkg.torch.onnx.stack_trace", "/home/somebody/train.py");
  model.metadata = {{"classes", "cat,dog"}, {"pkg.torch.export", "/home/somebody/export"}};
  return model;
}

bool holds(const std::vector<std::byte>& bytes, std::string_view text) {
  const std::string_view all(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return all.find(text) != std::string_view::npos;
}

std::vector<std::byte> quantized(bool keeps) {
  config::QuantizationConfig config = test::plain_config();
  config.keep_metadata = keeps;
  const auto job = test::job_of(noted(), "ort-cpu", config);
  return quantize(*job, test::statistics_of(*job, 8)).bytes;
}

}  // namespace

TEST_CASE("what an exporter notes is left out, and what a person gave the model stays") {
  const std::vector<std::byte> bytes = quantized(false);
  REQUIRE_FALSE(holds(bytes, "somebody"));
  REQUIRE_FALSE(holds(bytes, "doc of the"));
  REQUIRE(holds(bytes, "cat,dog"));
}

TEST_CASE("keep_metadata keeps what an exporter notes") {
  const std::vector<std::byte> bytes = quantized(true);
  for (const char* text : {"doc of the model", "doc of the graph", "doc of the node", "somebody/train.py", "cat,dog",
                           "somebody/graph", "somebody/export"})
    REQUIRE(holds(bytes, text));
}
