// SPDX-License-Identifier: Apache-2.0
// Layouts: conversions, and that an operator gives the same values whichever layout its input has.
#include "core/ops/layout.h"

#include <algorithm>
#include <numeric>

#include "core/ops/registry.h"
#include "core/run/program.h"
#include "tests/catch.h"
#include "tests/support/model_builder.h"

using namespace tersor;
using ops::Layout;
using ops::TensorType;
using tersor::test::ModelBuilder;

namespace {

std::vector<float> ramp(int64_t count) {
  std::vector<float> values(static_cast<size_t>(count));
  std::iota(values.begin(), values.end(), 0.0f);
  return values;
}

/// The operator on a value that a pool of one pixel has put channels last, or on the same value as it came.
Tensor result(const std::string& op, const Shape& shape, const std::vector<Tensor>& more,
              const ModelBuilder::Attributes& attributes, bool channels_last) {
  ModelBuilder builder(13);
  std::vector<int64_t> dims = shape.dims();
  const ValueId x = builder.input("x", dims);
  const std::vector<int64_t> ones(dims.size() - 2, 1);
  std::vector<ValueId> inputs{channels_last ? builder.node("MaxPool", {x}, {{"kernel_shape", ones}}) : x};
  for (const Tensor& tensor : more) inputs.push_back(builder.weight(tensor));
  builder.output(builder.node(op, inputs, attributes));
  run::Runner runner(run::Program::compile(builder.model, ops::standard()));
  const std::vector<float> values = ramp(shape.elements());
  return runner.run(std::vector<Tensor>{Tensor::of<float>(shape, values)})[0];
}

Tensor ints(const std::vector<int64_t>& values) {
  return Tensor::of<int64_t>(Shape{static_cast<int64_t>(values.size())}, values);
}

}  // namespace

TEST_CASE("axes find their place in memory and back") {
  for (int rank = 3; rank <= 5; ++rank)
    for (int axis = 0; axis < rank; ++axis)
      REQUIRE(ops::logical_axis(ops::physical_axis(axis, rank, Layout::kChannelsLast), rank, Layout::kChannelsLast) ==
              axis);
  REQUIRE(ops::physical_dims({DType::kFloat32, {2, 3, 4, 5}, Layout::kChannelsLast}) ==
          std::vector<int64_t>{2, 4, 5, 3});
  REQUIRE(ops::logical_shape({2, 4, 5, 3}, Layout::kChannelsLast) == Shape{2, 3, 4, 5});
  REQUIRE(ops::logical_shape({2, 3, 4, 5}, Layout::kPlain) == Shape{2, 3, 4, 5});
}

TEST_CASE("a layout is converted element by element, and back") {
  const TensorType plain{DType::kFloat32, {2, 3, 20, 17}, Layout::kPlain},
      last{DType::kFloat32, {2, 3, 20, 17}, Layout::kChannelsLast};
  const std::vector<float> values = ramp(2 * 3 * 20 * 17);
  std::vector<float> turned(values.size()), back(values.size());
  ops::convert_layout(plain, values.data(), Layout::kChannelsLast, turned.data());
  for (int64_t n = 0; n < 2; ++n)
    for (int64_t c = 0; c < 3; ++c)
      for (int64_t p = 0; p < 340; ++p)
        REQUIRE(turned[static_cast<size_t>((n * 340 + p) * 3 + c)] ==
                values[static_cast<size_t>((n * 3 + c) * 340 + p)]);
  ops::convert_layout(last, turned.data(), Layout::kPlain, back.data());
  REQUIRE(back == values);
  REQUIRE(ops::layouts_coincide({2, 1, 4, 4}));
  REQUIRE(ops::layouts_coincide({2, 7, 1, 1}));
  REQUIRE_FALSE(ops::layouts_coincide({2, 7, 1, 2}));
}

TEST_CASE("every order of five axes is permuted right") {
  const std::vector<int64_t> dims{2, 3, 1, 4, 5};
  const std::vector<float> values = ramp(120);
  std::vector<int> order{0, 1, 2, 3, 4};
  do {
    std::vector<float> got(120);
    ops::permute(values.data(), dims, order, sizeof(float), got.data());
    int64_t at = 0, index[5];
    std::vector<int64_t> lengths;
    for (const int axis : order) lengths.push_back(dims[static_cast<size_t>(axis)]);
    for (at = 0; at < 120; ++at) {
      int64_t rest = at, source = 0;
      for (size_t k = 5; k-- > 0; rest /= lengths[k]) index[order[k]] = rest % lengths[k];
      for (size_t k = 0; k < 5; ++k) source = source * dims[k] + index[k];
      REQUIRE(got[static_cast<size_t>(at)] == static_cast<float>(source));
    }
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST_CASE("operators give the same values in both layouts") {
  struct Case {
    std::string op;
    std::vector<Tensor> more;
    ModelBuilder::Attributes attributes;
  };
  const auto axes = [](std::vector<int64_t> list) { return ModelBuilder::Attributes{{"axes", list}}; };
  ModelBuilder::Attributes dropping = axes({1});
  dropping.emplace_back("keepdims", int64_t{0});
  ModelBuilder::Attributes dropping_batch = axes({0});
  dropping_batch.emplace_back("keepdims", int64_t{0});
  const std::vector<float> seven = ramp(7), three = ramp(3);
  const std::vector<Case> cases{
      {"Slice", {ints({1, 3}), ints({3, -9}), ints({1, 3}), ints({1, -2})}, {}},
      {"Pad", {ints({0, 1, 2, 0, 0, 2, 0, 1})}, {}},
      {"Pad", {ints({0, 1, 2, 0, 0, 2, 0, 1})}, {{"mode", std::string("reflect")}}},
      {"Transpose", {}, {{"perm", std::vector<int64_t>{0, 2, 3, 1}}}},
      {"Transpose", {}, {{"perm", std::vector<int64_t>{3, 1, 0, 2}}}},
      {"ReduceMean", {}, axes({2, 3})},
      {"ReduceMax", {}, dropping},
      {"ReduceMax", {}, dropping_batch},
      {"ArgMax", {}, {{"axis", int64_t{1}}}},
      {"Softmax", {}, {{"axis", int64_t{1}}}},
      {"Softmax", {}, {{"axis", int64_t{2}}}},
      {"Add", {Tensor::of<float>({7}, seven)}, {}},
      {"Mul", {Tensor::of<float>({3, 1, 1}, three)}, {}},
      {"Concat", {Tensor::of<float>({2, 1, 5, 7}, ramp(70))}, {{"axis", int64_t{1}}}},
      {"Reshape", {ints({2, 5, 21})}, {}},
      {"Relu", {}, {}},
      {"Cast", {}, {{"to", int64_t{7}}}},
      {"BatchNormalization",
       {Tensor::of<float>({3}, three), Tensor::of<float>({3}, three), Tensor::of<float>({3}, three),
        Tensor::of<float>({3}, three)},
       {}},
      {"Split", {}, {{"axis", int64_t{1}}}},
      {"QuantizeLinear",
       {Tensor::of<float>({3}, {1, 2, 4}), Tensor::of<uint8_t>({3}, {1, 2, 3})},
       {{"axis", int64_t{1}}}},
  };
  for (const Case& one : cases) {
    INFO(one.op);
    const Tensor plain = result(one.op, {2, 3, 5, 7}, one.more, one.attributes, false);
    const Tensor last = result(one.op, {2, 3, 5, 7}, one.more, one.attributes, true);
    REQUIRE(plain.shape() == last.shape());
    REQUIRE(plain == last);
  }
}
