// SPDX-License-Identifier: Apache-2.0
// The same bytes on every machine: networks with seeded weights whose outputs have one digest, in the native build on
// any CPU, with sanitizers, and in WebAssembly.
#include <random>

#include "core/base/digest.h"
#include "core/run/program.h"
#include "tests/catch.h"
#include "tests/support/model_builder.h"

using namespace tersor;
using tersor::test::ModelBuilder;

namespace {

class Network {
 public:
  ModelBuilder builder;

  Tensor random(const Shape& shape) {
    std::vector<float> values(static_cast<size_t>(shape.elements()));
    for (float& value : values) value = static_cast<float>(bits_() >> 8) / 8388608.0f - 1.0f;
    return Tensor::of<float>(shape, std::span<const float>(values));
  }

  ValueId conv(ValueId x, int64_t in, int64_t out, int64_t size, int64_t stride, int64_t group = 1) {
    const int64_t pad = size / 2;
    return builder.node("Conv",
                        {x, builder.weight(random({out, in / group, size, size})), builder.weight(random({out}))},
                        {{"pads", std::vector<int64_t>{pad, pad, pad, pad}},
                         {"strides", std::vector<int64_t>{stride, stride}},
                         {"group", group}});
  }

  std::string digest(const std::vector<Tensor>& inputs) {
    run::Runner runner(run::Program::compile(builder.model, ops::standard()));
    const Tensor y = runner.run(inputs)[0];
    for (const float value : y.data<float>()) REQUIRE(value == value);
    return sha256_hex(y.bytes());
  }

 private:
  std::mt19937 bits_{20261};
};

}  // namespace

TEST_CASE("a convolutional network gives the same bytes in every build") {
  Network net;
  ValueId x = net.builder.input("x", {-1, 3, 19, 17});
  x = net.builder.node("Relu", {net.conv(x, 3, 24, 3, 2)});
  x = net.builder.node("Clip",
                       {net.conv(x, 24, 24, 3, 1, 24), net.builder.floats({}, {0}), net.builder.floats({}, {6})});
  const ValueId left = net.conv(x, 24, 40, 1, 1), right = net.conv(x, 24, 40, 5, 1, 4);
  x = net.builder.node("Relu", {net.builder.node("Add", {left, right})});
  x = net.builder.node("MaxPool", {x},
                       {{"kernel_shape", std::vector<int64_t>{3, 3}}, {"strides", std::vector<int64_t>{2, 2}}});
  x = net.builder.node("AveragePool", {x}, {{"kernel_shape", std::vector<int64_t>{2, 2}}});
  x = net.builder.node("Mul", {x, net.builder.weight(net.random({1, 40, 1, 1}))});
  x = net.builder.node("Flatten", {x});
  x = net.builder.node("Gemm", {x, net.builder.weight(net.random({37, 360}))}, {{"transB", int64_t{1}}});
  net.builder.output(x);
  REQUIRE(net.digest({net.random({3, 3, 19, 17})}) ==
          "31e0f03a662a07b9943c376ddab550b4097fd8f99d0ca4f3e3768e36482162f2");
}

TEST_CASE("a network of products and reductions gives the same bytes in every build") {
  Network net;
  ValueId x = net.builder.input("x", {-1, 11, 33});
  x = net.builder.node("MatMul", {x, net.builder.weight(net.random({33, 29}))});
  const ValueId mean = net.builder.node("ReduceMean", {x}, {{"axes", std::vector<int64_t>{-1}}});
  const ValueId centred = net.builder.node("Sub", {x, mean});
  const ValueId square = net.builder.node("ReduceMean", {net.builder.node("Mul", {centred, centred})},
                                          {{"axes", std::vector<int64_t>{-1}}});
  x = net.builder.node("Div", {centred, net.builder.node("Sqrt", {square})});
  const ValueId turned = net.builder.node("Transpose", {x}, {{"perm", std::vector<int64_t>{0, 2, 1}}});
  net.builder.output(net.builder.node("MatMul", {x, turned}));
  REQUIRE(net.digest({net.random({2, 11, 33})}) == "ed39e28b637ced85c236536b8935495e469d03740c3358e42c8c904e5707bb32");
}
