// SPDX-License-Identifier: Apache-2.0
#include "core/onnx/defer.h"

#include <memory>
#include <vector>

#include "core/onnx/read.h"
#include "core/onnx/write.h"
#include "tests/catch.h"
#include "tests/support/model_builder.h"

using namespace tersor;

namespace {

Tensor numbers(int64_t count, float first) {
  std::vector<float> values(static_cast<size_t>(count));
  for (size_t k = 0; k < values.size(); ++k) values[k] = first + static_cast<float>(k);
  return Tensor::of<float>({count}, std::span<const float>(values));
}

/// Tensors in every place where one can be: weights of both sizes, an attribute, a weight in a subgraph.
std::vector<std::byte> file_with_tensors() {
  test::ModelBuilder branch, builder;
  branch.output(branch.node("Identity", {branch.weight(numbers(100, 5))}));
  const ValueId x = builder.input("x", {100});
  const ValueId large = builder.node("Add", {x, builder.weight(numbers(100, 1))});
  const ValueId small = builder.node("Mul", {large, builder.weight(numbers(1, 2))});
  const ValueId constant = builder.node("Constant", {}, {{"value", numbers(100, 3)}});
  const auto graph = std::make_shared<const Graph>(branch.model.graph);
  const ValueId condition = builder.weight(Tensor::of<uint8_t>({}, {1}));
  Tensor truth = Tensor::make(DType::kBool, {});
  builder.model.graph.set_initializer(condition, truth);
  const ValueId chosen = builder.node("If", {condition}, {{"then_branch", graph}, {"else_branch", graph}});
  builder.output(builder.node("Sum", {small, constant, chosen}));
  return onnx::write(builder.model);
}

}  // namespace

TEST_CASE("a model lets go of its file, reads large tensors again where they are needed, and stays the same") {
  const std::vector<std::byte> bytes = file_with_tensors();
  int reads = 0;
  const onnx::ReadAgain again = [&](uint64_t offset, uint64_t length) {
    ++reads;
    const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(offset);
    return onnx::Source::of({begin, begin + static_cast<std::ptrdiff_t>(length)});
  };
  onnx::Source source = onnx::Source::of(bytes);
  std::weak_ptr<const void> file = source.owner;
  Model model = onnx::read(source);
  onnx::defer_tensors(model, source.bytes, again, 400);
  source = {};
  REQUIRE(file.expired());
  REQUIRE(reads == 0);
  size_t deferred = 0;
  for (const auto& [id, tensor] : model.graph.initializers()) deferred += tensor.is_deferred() ? 1 : 0;
  REQUIRE(deferred == 1);
  REQUIRE(onnx::write(model) == bytes);
  REQUIRE(reads == 4);
}

TEST_CASE("tensors of another file are left as they are") {
  Model model = onnx::read(onnx::Source::of(file_with_tensors()));
  const std::vector<std::byte> other(1000);
  onnx::defer_tensors(model, other, {}, 1);
  for (const auto& [id, tensor] : model.graph.initializers()) REQUIRE(!tensor.is_deferred());
}
