// SPDX-License-Identifier: Apache-2.0
// Codes of 2 to 7 bits: the file holds them in as many bits, and every runtime computes the integers of 8 bits again.
#include "core/export/pack_codes.h"

#include <algorithm>
#include <random>

#include "core/ops/registry.h"
#include "core/run/program.h"
#include "core/simulate/fuse.h"
#include "core/simulate/program.h"
#include "core/tpc/builtin.h"
#include "tests/catch.h"
#include "tests/support/quantized.h"

namespace pack_codes_test {
using namespace tersor;
using test::NamedModel;

namespace {

std::vector<int8_t> random_codes(size_t count, int n_bits, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<int8_t> codes;
  for (size_t k = 0; k < count; ++k)
    codes.push_back(static_cast<int8_t>(static_cast<int>(random() % (1U << n_bits)) - (1 << (n_bits - 1))));
  return codes;
}

/// Three tensors that are outputs of the graph through Identities: two of odd sizes and one that is too small.
struct Stored {
  Model model;
  std::vector<Tensor> tensors;
  std::vector<ptq::FewBitCodes> codes;

  explicit Stored(int n_bits, const std::vector<Shape>& shapes) {
    model.opset_imports = {{"", 13}};
    for (size_t k = 0; k < shapes.size(); ++k) {
      const auto count = static_cast<size_t>(shapes[k].elements());
      tensors.push_back(Tensor::of<int8_t>(shapes[k], random_codes(count, n_bits, static_cast<uint32_t>(k + 1))));
      codes.push_back({model.graph.add_initializer("w" + std::to_string(k), tensors[k]), n_bits});
      Node node;
      node.op_type = "Identity";
      node.inputs = {codes[k].value};
      node.outputs = {model.graph.add_value("y" + std::to_string(k))};
      model.graph.outputs.push_back(node.outputs[0]);
      model.graph.append(std::move(node));
    }
  }
};

int64_t bytes_of_initializers(const Graph& graph) {
  int64_t bytes = 0;
  for (const auto& [id, tensor] : graph.initializers()) bytes += static_cast<int64_t>(tensor.bytes().size());
  return bytes;
}

/// Conv, Relu, Conv, Flatten, Gemm.
Model classifier() {
  const std::vector<int64_t> pads{1, 1, 1, 1};
  NamedModel model;
  model.input("x", {1, 8, 6, 6}).weight("w1", {64, 8, 3, 3}).weight("w2", {64, 64, 3, 3}).weight("b2", {64});
  model.node("Conv", {"x", "w1"}, {"c1"}, {{"pads", pads}}).node("Relu", {"c1"}, {"r1"});
  model.node("Conv", {"r1", "w2", "b2"}, {"c2"}, {{"pads", pads}}).node("Flatten", {"c2"}, {"f"});
  return model.weight("w3", {2304, 5}).node("Gemm", {"f", "w3"}, {"y"}).output("y").build();
}

test::Quantized quantized(const char* platform, int n_bits, bool of_weights_alone = false) {
  config::QuantizationConfig config;
  config.weights_bias_correction_method = config::BiasCorrectionMethod::kAnalytic;
  config.weights_n_bits = n_bits;
  if (of_weights_alone) config.enable_activation_quantization = false;
  return test::quantize_on_noise(classifier(), {tpc::get_target_platform_capabilities(platform), config}, 8);
}

}  // namespace

TEST_CASE("packed codes come back by plain operators, and take as many bits as they have") {
  for (int n_bits = 2; n_bits <= 7; ++n_bits) {
    INFO(n_bits);
    Stored stored(n_bits, {{7, 13, 91}, {3}, {12345}, {16, 1000}});
    ptq::pack_codes(stored.model.graph, stored.codes);
    const Graph& graph = stored.model.graph;
    REQUIRE(graph.initializer(stored.codes[1].value) != nullptr);
    for (const size_t k : {0, 2, 3}) REQUIRE(graph.initializer(stored.codes[k].value) == nullptr);
    const int64_t codes = 7 * 13 * 91 + 12345 + 16000;
    REQUIRE(bytes_of_initializers(graph) < codes * n_bits / 8 + 250);
    const auto values = run::Runner(run::Program::compile(stored.model, ops::standard())).run({});
    for (size_t k = 0; k < values.size(); ++k) {
      const auto wanted = stored.tensors[k].data<int8_t>(), found = values[k].data<int8_t>();
      REQUIRE(values[k].shape() == stored.tensors[k].shape());
      REQUIRE(std::equal(wanted.begin(), wanted.end(), found.begin(), found.end()));
    }
  }
}

TEST_CASE("nothing is packed that would not make the file smaller, and no codes of 8 bits") {
  for (const auto& [n_bits, count] : {std::pair{4, 900}, {7, 9000}, {2, 300}, {8, 100000}}) {
    INFO(n_bits);
    Stored stored(n_bits, {{count}});
    ptq::pack_codes(stored.model.graph, stored.codes);
    REQUIRE(stored.model.graph.initializer(stored.codes[0].value) != nullptr);
    REQUIRE(stored.model.graph.nodes().size() == 1);
  }
}

TEST_CASE("what packing is said to save is what the file is smaller by") {
  for (int n_bits = 2; n_bits <= 7; ++n_bits) {
    INFO(n_bits);
    Stored stored(n_bits, {{100, 100}, {50, 300}, {20000}});
    const auto before = static_cast<double>(onnx::write(stored.model).size());
    double said = static_cast<double>(-ptq::bytes_of_unpacking(n_bits));
    for (size_t k = 0; k < stored.tensors.size(); ++k)
      said += static_cast<double>(ptq::bytes_packing_saves(stored.tensors[k].elements(), n_bits, 2));
    ptq::pack_codes(stored.model.graph, stored.codes);
    const auto saved = before - static_cast<double>(onnx::write(stored.model).size());
    REQUIRE(said == Approx(saved).margin(250));
  }
}

TEST_CASE("weights of few bits run in the kernels that those of 8 bits run in, and give the values of their codes") {
  const test::Quantized eight = quantized("any", 8);
  const size_t kernels = simulate::fuse(eight.file, simulate::Profile::kX64).integer_nodes.size();
  REQUIRE(kernels >= 3);
  for (int n_bits = 2; n_bits <= 7; ++n_bits) {
    INFO(n_bits);
    const test::Quantized made = quantized("any", n_bits);
    REQUIRE(made.file.opset() == eight.file.opset());
    const auto elements = static_cast<double>(64 * 8 * 9 + 64 * 64 * 9 + 2304 * 5);
    const auto saved = static_cast<double>(eight.result.bytes.size()) - static_cast<double>(made.result.bytes.size());
    REQUIRE(saved > elements * (8 - n_bits) / 8 - 2600);
    REQUIRE(simulate::fuse(made.file, simulate::Profile::kX64).integer_nodes.size() == kernels);
    // Runtimes refuse a value that is described without its type.
    const Graph& graph = made.file.graph;
    for (size_t v = 0; v < graph.value_count(); ++v) {
      const Value& value = graph.value(ValueId{static_cast<int32_t>(v)});
      REQUIRE((value.dtype != DType::kUndefined || !value.shape));
    }
    for (const ptq::KernelPlan& kernel : made.result.plan.kernels) REQUIRE(kernel.weight.grid.n_bits == n_bits);
    const std::vector<Tensor> inputs = test::random_inputs(made.file, 77);
    REQUIRE(test::relative_difference(made.result.model, made.file, inputs) == 0);
    const Tensor packed = run::Runner(simulate::compile(made.file, simulate::Profile::kX64)).run(inputs)[0];
    const Tensor plain = run::Runner(run::Program::compile(made.file, ops::standard())).run(inputs)[0];
    double most = 0, difference = 0;
    for (size_t k = 0; k < packed.data<float>().size(); ++k) {
      most = std::max<double>(most, std::abs(plain.data<float>()[k]));
      difference = std::max<double>(difference, std::abs(plain.data<float>()[k] - packed.data<float>()[k]));
    }
    REQUIRE(difference <= 0.02 * most);
  }
}

TEST_CASE("weights alone are packed too, where runtimes compute constants when they open the file") {
  const auto size = [](const char* platform, int n_bits) {
    return static_cast<double>(quantized(platform, n_bits, true).result.bytes.size());
  };
  const double eight = size("any", 8), elements = 64 * 8 * 9 + 64 * 64 * 9 + 2304 * 5;
  for (int n_bits = 2; n_bits <= 7; ++n_bits) REQUIRE(eight - size("any", n_bits) > elements * (8 - n_bits) / 8 - 2600);
  // A file for a device keeps types of ONNX.
  const test::Quantized device = quantized("imx500", 4);
  REQUIRE(std::none_of(device.file.graph.nodes().begin(), device.file.graph.nodes().end(),
                       [](const Node& node) { return node.is("BitShift"); }));
  const auto codes = device.file.graph.find("w2_quantized");
  REQUIRE((codes && device.file.graph.initializer(*codes)->dtype() == DType::kInt4));
}

}  // namespace pack_codes_test
