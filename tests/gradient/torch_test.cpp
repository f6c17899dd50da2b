// SPDX-License-Identifier: Apache-2.0
// Gradients of three networks against PyTorch's (torch_gradients.py).
#include <cmath>
#include <string>

#include "core/gradient/add_gradients.h"
#include "tests/catch.h"
#include "tests/gradient/torch_gradients.h"
#include "tests/support/named_model.h"

using namespace tersor;
using tersor::test::NamedModel;

namespace {

/// As numbers() of torch_gradients.py.
std::vector<float> numbers(const std::string& name, size_t count, double low = -1, double high = 1) {
  uint64_t state = 0xcbf29ce484222325ULL;
  for (const char byte : name) state = (state ^ static_cast<uint8_t>(byte)) * 0x100000001b3ULL;
  std::vector<float> values(count);
  for (float& value : values) {
    uint64_t z = (state += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    z ^= z >> 31;
    const double part = static_cast<double>(z >> 40) * 0x1p-24;
    value = static_cast<float>(std::nearbyint((low + (high - low) * part) * 4096) / 4096);
  }
  return values;
}

/// A network whose values carry numbers that follow from its name and theirs.
struct Network {
  Network(std::string of, std::vector<int64_t> x) : name(std::move(of)), input(std::move(x)) {
    model.input("x", input.dims());
  }

  Network& value(const std::string& of, std::vector<int64_t> dims, double low = -1) {
    const Shape shape(dims);
    model.constant(of, Tensor::of<float>(shape, numbers(name + "." + of, static_cast<size_t>(shape.elements()), low)));
    return *this;
  }
  Network& ints(const std::string& of, std::vector<int64_t> list) {
    model.constant(of, Tensor::of<int64_t>({static_cast<int64_t>(list.size())}, list));
    return *this;
  }
  Network& node(const std::string& type, std::vector<std::string> inputs, const std::string& output,
                std::map<std::string, Attribute> attributes = {}) {
    model.node(type, std::move(inputs), {output}, std::move(attributes));
    return *this;
  }

  std::string name;
  Shape input;
  NamedModel model;
  int64_t opset = 13;
};

using List = std::vector<int64_t>;

Network residual() {
  Network n("residual", {1, 3, 12, 12});
  n.value("a", {6, 3, 3, 3}).value("ab", {6}).value("b", {6, 1, 3, 3}).value("bb", {6});
  n.value("c", {8, 6, 1, 1}).value("cb", {8}).value("d", {8, 6, 1, 1}).value("e", {5, 8}).value("eb", {5});
  n.node("Conv", {"x", "a", "ab"}, "1", {{"pads", List{1, 1, 1, 1}}}).node("Relu", {"1"}, "2");
  n.node("Conv", {"2", "b", "bb"}, "3", {{"pads", List{1, 1, 1, 1}}, {"strides", List{2, 2}}, {"group", int64_t{6}}});
  n.node("Relu", {"3"}, "4").node("Conv", {"4", "c", "cb"}, "5");
  n.node("MaxPool", {"2"}, "6", {{"kernel_shape", List{2, 2}}, {"strides", List{2, 2}}}).node("Conv", {"6", "d"}, "7");
  n.node("Add", {"5", "7"}, "8").node("Relu", {"8"}, "9").node("GlobalAveragePool", {"9"}, "10");
  n.node("Flatten", {"10"}, "11").node("Gemm", {"11", "e", "eb"}, "y", {{"transB", int64_t{1}}});
  return n;
}

Network gated() {
  Network n("gated", {1, 3, 10, 10});
  n.opset = 14;
  n.value("a", {6, 3, 3, 3}).value("ab", {6}).value("s", {3, 6, 1, 1}).value("sb", {3});
  n.value("t", {6, 3, 1, 1}).value("tb", {6}).value("b", {6, 4, 3, 3}).value("bb", {4}).value("m", {4});
  n.value("var", {4}, 0.5).value("g", {4}).value("gb", {4}).value("e", {5, 36}).value("eb", {5});
  n.node("Conv", {"x", "a", "ab"}, "1", {{"pads", List{1, 1, 1, 1}}, {"strides", List{2, 2}}});
  n.node("HardSwish", {"1"}, "2").node("GlobalAveragePool", {"2"}, "3").node("Conv", {"3", "s", "sb"}, "4");
  n.node("Relu", {"4"}, "5").node("Conv", {"5", "t", "tb"}, "6");
  n.node("HardSigmoid", {"6"}, "7", {{"alpha", 1.0f / 6}, {"beta", 0.5f}}).node("Mul", {"2", "7"}, "8");
  n.node("ConvTranspose", {"8", "b", "bb"}, "9", {{"pads", List{1, 1, 1, 1}}, {"strides", List{2, 2}}});
  n.node("BatchNormalization", {"9", "g", "gb", "m", "var"}, "10", {{"epsilon", 1e-5f}});
  n.node("Sigmoid", {"10"}, "11").node("Mul", {"10", "11"}, "12").node("LeakyRelu", {"12"}, "13", {{"alpha", 0.1f}});
  n.node("AveragePool", {"13"}, "14", {{"kernel_shape", List{3, 3}}, {"strides", List{3, 3}}});
  n.node("Flatten", {"14"}, "15").node("Gemm", {"15", "e", "eb"}, "16", {{"transB", int64_t{1}}});
  n.node("LogSoftmax", {"16"}, "y", {{"axis", int64_t{1}}});
  return n;
}

Network attention() {
  Network n("attention", {1, 6, 8});
  n.opset = 20;
  n.value("n", {8}).value("nb", {8}).value("o", {8, 8}).value("l", {8}).value("lb", {8});
  n.value("f", {8, 12}).value("r", {12, 8}).value("e", {8, 5}).ints("heads", {1, 6, 2, 4}).ints("all", {1, 6, 8});
  n.model.constant("half", Tensor::scalar(0.5f));
  n.node("LayerNormalization", {"x", "n", "nb"}, "h", {{"axis", int64_t{-1}}, {"epsilon", 1e-5f}});
  for (const std::string of : {"q", "k", "w"}) {
    n.value(of, {8, 8})
        .value(of + "b", {8})
        .node("MatMul", {"h", of}, of + "1")
        .node("Add", {of + "1", of + "b"}, of + "2");
    n.node("Reshape", {of + "2", "heads"}, of + "3");
    n.node("Transpose", {of + "3"}, of + "4", {{"perm", of == "k" ? List{0, 2, 3, 1} : List{0, 2, 1, 3}}});
  }
  n.node("MatMul", {"q4", "k4"}, "1").node("Mul", {"1", "half"}, "2").node("Softmax", {"2"}, "3");
  n.node("MatMul", {"3", "w4"}, "4").node("Transpose", {"4"}, "5", {{"perm", List{0, 2, 1, 3}}});
  n.node("Reshape", {"5", "all"}, "6").node("MatMul", {"6", "o"}, "7").node("Add", {"x", "7"}, "8");
  n.node("LayerNormalization", {"8", "l", "lb"}, "9", {{"axis", int64_t{-1}}, {"epsilon", 1e-5f}});
  n.node("MatMul", {"9", "f"}, "10").node("Gelu", {"10"}, "11").node("MatMul", {"11", "r"}, "12");
  n.node("Add", {"8", "12"}, "13").ints("tokens", {1});
  n.node("ReduceMean", {"13", "tokens"}, "14", {{"keepdims", int64_t{0}}}).node("Tanh", {"14"}, "15");
  n.node("MatMul", {"15", "e"}, "y");
  return n;
}

}  // namespace

TEST_CASE("gradients of three networks are PyTorch's") {
  for (Network& network : std::vector<Network>{residual(), gated(), attention()}) {
    INFO(network.name);
    network.model.output("y");
    Model model = network.model.build();
    model.opset_imports[0].version = network.opset;
    const Shape shape{1, 5};
    const ValueId seed =
        model.graph.add_initializer("by_y", Tensor::of<float>(shape, numbers(network.name + ".by_y", 5)));
    std::vector<const TorchGradient*> expected;
    std::vector<ValueId> wanted;
    for (const TorchGradient& one : kTorchGradients)
      if (one.network == network.name) {
        expected.push_back(&one);
        wanted.push_back(*model.graph.find(one.value));
      }
    REQUIRE(!wanted.empty());
    const auto found =
        gradient::add_gradients(model, {{model.graph.outputs[0], seed}}, wanted,
                                gradient::ranks_of(model, gradient::operators(), std::vector<Shape>{network.input}));
    for (const gradient::Frozen& frozen : found.frozen) FAIL(frozen.place << " " << frozen.reason);
    run::ProgramOptions options;
    options.fetched = found.by_value;
    const Tensor x =
        Tensor::of<float>(network.input, numbers(network.name + ".x", static_cast<size_t>(network.input.elements())));
    const std::vector<Tensor> results =
        run::Runner(run::Program::compile(model, gradient::operators(), options)).run(std::vector<Tensor>{x});
    for (size_t k = 0; k < expected.size(); ++k) {
      INFO(expected[k]->value);
      const std::span<const float> got = results[1 + k].data<float>();
      REQUIRE(got.size() == expected[k]->gradient.size());
      double distance = 0, length = 0;
      for (size_t i = 0; i < got.size(); ++i) {
        const double exact = expected[k]->gradient[i], error = static_cast<double>(got[i]) - exact;
        distance += error * error;
        length += exact * exact;
      }
      constexpr double kRounding = 1e-6;  // of keys all moved alike softmax knows nothing: their gradient is 0
      CHECK(std::sqrt(distance) <= 1e-4 * std::sqrt(length) + kRounding);
    }
  }
}
