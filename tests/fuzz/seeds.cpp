// SPDX-License-Identifier: Apache-2.0
// Writes seeds for the fuzzers into FOLDER/<target>/: `fuzz_seeds FOLDER` those that are committed in corpus/,
// `fuzz_seeds FOLDER CASES` those of ONNX's conformance cases, for a run of the fuzzers, and `fuzz_seeds FILE` says
// what an operators' seed holds.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "core/graph/print.h"
#include "core/onnx/external_files.h"
#include "core/onnx/read.h"
#include "core/onnx/read_tensor.h"
#include "core/onnx/write.h"
#include "tests/fuzz/operator_case.h"
#include "tests/samples/make_files.h"
#include "tests/samples/material.h"
#include "tests/support/model_builder.h"
#include "tests/support/right_nodes.h"

using namespace tersor;
namespace fs = std::filesystem;

namespace {

using FileBytes = std::vector<std::byte>;

FileBytes read_whole(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const auto bytes = std::as_bytes(std::span(text.data(), text.size()));
  return {bytes.begin(), bytes.end()};
}

void write_whole(const fs::path& path, const FileBytes& bytes) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

// ---- operators ----

void write_operators(const fs::path& folder) {
  std::map<std::string, int> numbers;
  for (const test::RightNode& right : test::right_nodes()) {
    fuzz::OperatorCase one;
    const size_t colons = right.type.find("::");
    if (colons != std::string::npos) one.domain = right.type.substr(0, colons);
    one.type = right.type.substr(colons == std::string::npos ? 0 : colons + 2);
    one.opset = right.opset;
    one.outputs = right.outputs;
    for (size_t k = 0; k < right.inputs.size(); ++k) one.inputs.push_back({right.inputs[k], k % 2 == 1});
    for (const auto& [key, value] : right.attributes) one.attributes[key] = value;
    const int number = ++numbers[right.type];
    write_whole(folder / "operators" / (right.type + (number == 1 ? "" : "_" + std::to_string(number))),
                fuzz::encode(one));
  }
}

// ---- models, for the reader and for the engine ----

std::shared_ptr<const Graph> branch(const std::string& op, const std::string& reads) {
  test::ModelBuilder builder(17);
  const ValueId outer = builder.model.graph.add_value(reads);
  builder.output(builder.node(op, {outer}));
  return std::make_shared<const Graph>(builder.model.graph);
}

std::vector<std::pair<std::string, Model>> small_models() {
  std::vector<std::pair<std::string, Model>> made;
  test::ModelBuilder net(11);
  ValueId x = net.input("x", {-1, 2, 5, 5});
  x = net.node("Conv", {x, net.floats({2, 2, 3, 3}, std::vector<float>(36, 0.25f)), net.floats({2}, {0, 1})});
  x = net.node("BatchNormalization",
               {x, net.floats({2}, {1, 2}), net.floats({2}, {0, 1}), net.floats({2}, {0, 1}), net.floats({2}, {1, 1})});
  x = net.node("Clip", {x, net.floats({}, {0}), net.floats({}, {6})});
  x = net.node("Flatten", {x});
  net.output(net.node("Gemm", {x, net.floats({3, 18}, std::vector<float>(54, 0.5f))}, {{"transB", int64_t{1}}}));
  made.emplace_back("net", net.model);

  test::ModelBuilder shapes(13);
  x = shapes.input("x", {-1, 6});
  const ValueId first = shapes.node("Gather", {shapes.node("Shape", {x}), shapes.ints({0})}, {{"axis", int64_t{0}}});
  const ValueId to = shapes.node("Concat", {first, shapes.ints({2, 3})}, {{"axis", int64_t{0}}});
  shapes.output(shapes.node("Reshape", {x, to}));
  made.emplace_back("shapes", shapes.model);

  test::ModelBuilder choice(17);
  const ValueId condition = choice.input("c", {}, DType::kBool);
  choice.input("x", {2});
  choice.output(
      choice.node("If", {condition}, {{"then_branch", branch("Relu", "x")}, {"else_branch", branch("Neg", "x")}}));
  made.emplace_back("choice", choice.model);
  return made;
}

void write_models(const fs::path& folder) {
  for (const auto& [name, model] : small_models())
    for (const char* target : {"reader", "model"}) write_whole(folder / target / name, onnx::write(model));
}

// ---- samples ----

enum Path { kNpy, kNpz, kPng, kJpeg, kCsv, kWav, kProto, kLabels };

void write_sample(const fs::path& folder, const std::string& name, Path path, int input, const FileBytes& file) {
  FileBytes bytes = {static_cast<std::byte>(path), static_cast<std::byte>(input)};
  bytes.insert(bytes.end(), file.begin(), file.end());
  write_whole(folder / "samples" / name, bytes);
}

template <size_t N>
FileBytes bytes_of(const uint8_t (&material)[N]) {
  return test::bytes_of(std::span<const uint8_t>(material));
}

void write_samples(const fs::path& folder) {
  using namespace tersor::test;
  namespace given = tersor::test::material;
  const std::vector<float> four = {1, 2, 3, 4};
  write_sample(folder, "npy", kNpy, 2, npy("<f4", "(2, 2)", four));
  write_sample(folder, "npy_fortran", kNpy, 2, npy("<f4", "(2, 2)", four, true));
  write_sample(folder, "npy_long", kNpy, 4, npy<int64_t>("<i8", "(1, 4)", {1, 2, 3, 4}));
  write_sample(folder, "npz_stored", kNpz, 2, zip_of({{"x.npy", npy("<f4", "(2, 2)", four)}}));
  write_sample(folder, "npz_deflated", kNpz, 2, bytes_of(given::kNpzDeflated));
  write_sample(folder, "png", kPng, 3, bytes_of(given::kPngRgb));
  write_sample(folder, "png_palette", kPng, 0, bytes_of(given::kPngPalette));
  write_sample(folder, "png_bits", kPng, 1, bytes_of(given::kPngBits));
  write_sample(folder, "jpeg", kJpeg, 3, bytes_of(given::kJpegSquare420));
  write_sample(folder, "jpeg_progressive", kJpeg, 0, bytes_of(given::kJpegProgressiveGrey));
  write_sample(folder, "jpeg_restarts", kJpeg, 0, bytes_of(given::kJpeg444Restarts));
  write_sample(folder, "csv", kCsv, 2, test::bytes_of(std::string_view("a,b\n1,2.5\n-3e2,4\n")));
  write_sample(folder, "labels", kLabels, 0, test::bytes_of(std::string_view("cat\ndog\n")));
  write_sample(
      folder, "wav", kWav, 2,
      test::bytes_of(std::string_view("RIFF\x2c\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0\x40\x1f\0\0\x80\x3e\0\0\2\0\x10\0"
                                      "data\x08\0\0\0\1\0\2\0\xff\xff\0\x80",
                                      52)));
  write_sample(folder, "proto", kProto, 2,
               test::bytes_of(std::string_view("\x08\1\x08\2\x10\1\x4a\x08\0\0\x80\x3f\0\0\0\x40", 16)));
}

// ---- ONNX's conformance cases ----

Tensor read_tensor_file(const fs::path& path) {
  const onnx::Source source = onnx::Source::of(read_whole(path));
  const onnx::ExternalData nothing;
  onnx::ExternalFiles external(nothing);
  return onnx::read_tensor({reinterpret_cast<const char*>(source.bytes.data()), source.bytes.size()}, source, external)
      .tensor;
}

/// The only node of a case, its inputs as given. False for a model of several nodes or with an input that is no tensor.
bool one_node(const Model& model, const fs::path& data, fuzz::OperatorCase& one) {
  if (model.graph.nodes().size() != 1) return false;
  const Node& node = model.graph.nodes()[0];
  one.domain = node.domain;
  one.type = node.op_type;
  one.opset = model.opset(node.domain);
  one.outputs = node.outputs.size();
  one.attributes = node.attributes;
  for (const ValueId id : node.inputs) {
    fuzz::GivenInput input;
    const auto place = std::find(model.graph.inputs.begin(), model.graph.inputs.end(), id);
    if (place != model.graph.inputs.end())
      input.tensor = read_tensor_file(data / ("input_" + std::to_string(place - model.graph.inputs.begin()) + ".pb"));
    else if (id.valid() && model.graph.initializer(id) != nullptr)
      input = {*model.graph.initializer(id), true};
    one.inputs.push_back(input);
  }
  return true;
}

void write_case(const fs::path& folder, const fs::path& from) {
  const FileBytes file = read_whole(from / "model.onnx");
  const std::string name = from.filename().string();
  for (const char* target : {"reader", "model"}) write_whole(folder / target / name, file);
  fuzz::OperatorCase one;
  if (!one_node(onnx::read(onnx::Source::of(file)), from / "test_data_set_0", one)) return;
  for (uint8_t registry = 0; registry < 2; ++registry) {
    one.registry = registry;
    write_whole(folder / "operators" / (name + "_" + std::to_string(registry)), fuzz::encode(one));
  }
}

void write_cases(const fs::path& folder, const fs::path& cases) {
  int left_out = 0;
  for (const auto& entry : fs::directory_iterator(cases)) {
    if (!entry.is_directory()) continue;
    try {
      write_case(folder, entry.path());
    } catch (const Error& error) {
      ++left_out;
    }
  }
  std::printf("%d cases left out\n", left_out);
}

void describe(const fs::path& path) {
  const fuzz::OperatorCase one = fuzz::decode(read_whole(path));
  std::printf("%s%s%s, opset %d, registry %d, %d outputs\n", one.domain.c_str(),
              one.domain.empty() ? "" : "::", one.type.c_str(), static_cast<int>(one.opset), one.registry,
              static_cast<int>(one.outputs));
  for (const auto& [tensor, constant] : one.inputs)
    std::printf("  %s%s%s\n", constant ? "constant " : "", std::string(name_of(tensor.dtype())).c_str(),
                (" " + tensor.shape().text()).c_str());
  for (const auto& [name, value] : one.attributes) {
    std::printf("  %s", name.c_str());
    if (const auto* number = std::get_if<int64_t>(&value)) std::printf(" = %lld", static_cast<long long>(*number));
    if (const auto* number = std::get_if<float>(&value)) std::printf(" = %g", static_cast<double>(*number));
    if (const auto* text = std::get_if<std::string>(&value)) std::printf(" = \"%s\"", text->c_str());
    if (const auto* list = std::get_if<std::vector<int64_t>>(&value))
      for (const int64_t number : *list) std::printf(" %lld", static_cast<long long>(number));
    std::printf("\n");
  }
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) return 2;
  const fs::path target = arguments[1];
  if (count == 3) {
    write_cases(target, arguments[2]);
  } else if (fs::is_regular_file(target)) {
    describe(target);
  } else {
    write_operators(target);
    write_models(target);
    write_samples(target);
  }
  return 0;
}
