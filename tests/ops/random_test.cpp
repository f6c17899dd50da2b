// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "core/passes/pipeline.h"
#include "core/run/program.h"
#include "tests/catch.h"
#include "tests/support/model_builder.h"

namespace random_test {
using namespace tersor;
using tersor::test::ModelBuilder;

namespace {

std::vector<Tensor> results_of(const Model& model, std::vector<Tensor> inputs = {}) {
  return run::Runner(run::Program::compile(model, ops::standard())).run(inputs);
}

std::pair<double, double> mean_and_deviation(const Tensor& tensor) {
  double sum = 0, squares = 0;
  for (const float x : tensor.data<float>()) sum += x, squares += static_cast<double>(x) * x;
  const auto n = static_cast<double>(tensor.elements());
  return {sum / n, std::sqrt(squares / n - sum / n * (sum / n))};
}

void require_near(double found, double wanted, double room) {
  INFO(found << ", wanted " << wanted);
  REQUIRE(std::fabs(found - wanted) < room);
}

}  // namespace

TEST_CASE("noise has the distribution asked for, is the same in every run, and another in every node") {
  ModelBuilder builder;
  const ValueId x = builder.input("x", {-1, 100});
  builder.output(builder.node("RandomNormalLike", {x}, {{"mean", 3.0f}, {"scale", 2.0f}}));
  builder.output(builder.node("RandomNormalLike", {x}, {{"mean", 3.0f}, {"scale", 2.0f}}));
  builder.output(
      builder.node("RandomUniform", {}, {{"shape", std::vector<int64_t>{90, 100}}, {"low", -1.0f}, {"high", 5.0f}}));
  for (Node& node : builder.model.graph.nodes()) node.name.clear();  // named by their outputs
  const Tensor like = Tensor::make(DType::kFloat32, Shape{90, 100});
  const std::vector<Tensor> once = results_of(builder.model, {like}), again = results_of(builder.model, {like});
  REQUIRE(once == again);
  REQUIRE(!(once[0] == once[1]));
  for (size_t k : {0, 1}) {
    const auto [mean, deviation] = mean_and_deviation(once[k]);
    require_near(mean, 3, 0.1);
    require_near(deviation, 2, 0.1);
  }
  double both = 0;
  for (size_t k = 0; k < 9000; ++k) both += (once[0].data<float>()[k] - 3.0) * (once[1].data<float>()[k] - 3.0);
  require_near(both / 9000, 0, 0.2);
  const auto [mean, deviation] = mean_and_deviation(once[2]);
  require_near(mean, 2, 0.1);
  require_near(deviation, 6 / std::sqrt(12.0), 0.05);
  for (const float value : once[2].data<float>()) REQUIRE((value > -1 && value <= 5));
}

TEST_CASE("Bernoulli and Multinomial draw as often as probabilities say") {
  ModelBuilder builder;
  const ValueId p = builder.input("p", {4000}), odds = builder.input("odds", {2, 3});
  builder.output(builder.node("Bernoulli", {p}));
  builder.output(builder.node("Multinomial", {odds}, {{"sample_size", int64_t{4000}}, {"dtype", int64_t{7}}}));
  Tensor chances = Tensor::make(DType::kFloat32, Shape{4000});
  for (size_t k = 0; k < 3000; ++k) chances.mutable_data<float>()[k] = k < 1000 ? 0.0f : k < 2000 ? 1.0f : 0.3f;
  const float third = std::log(2.0f);  // 1 : 1 : 2, and never the last
  const auto results =
      results_of(builder.model, {chances, Tensor::of<float>(Shape{2, 3}, {0.0f, 0.0f, third, 5.0f, 5.0f, -200.0f})});
  double drawn = 0;
  for (size_t k = 0; k < 3000; ++k) {
    const float one = results[0].data<float>()[k];
    if (k < 2000) REQUIRE(one == (k < 1000 ? 0.0f : 1.0f));
    if (k >= 2000) drawn += one;
  }
  require_near(drawn / 1000, 0.3, 0.05);
  std::vector<std::vector<int>> counts(2, std::vector<int>(3));
  for (size_t k = 0; k < 8000; ++k) ++counts[k / 4000][static_cast<size_t>(results[1].data<int64_t>()[k])];
  require_near(counts[0][2] / 4000.0, 0.5, 0.03);
  require_near(counts[1][0] / 4000.0, 0.5, 0.03);
  REQUIRE(counts[1][2] == 0);
}

TEST_CASE("a Dropout in training mode drops its part and scales the others") {
  ModelBuilder builder;
  const ValueId x = builder.input("x", {8000});
  const ValueId ratio = builder.weight(Tensor::scalar(0.75f));
  Tensor yes = Tensor::make(DType::kBool, Shape{});
  yes.mutable_bytes()[0] = std::byte{1};
  for (const ValueId made : builder.nodes("Dropout", {x, ratio, builder.weight(yes)}, 2)) builder.output(made);
  Tensor ones = Tensor::make(DType::kFloat32, Shape{8000});
  for (float& one : ones.mutable_data<float>()) one = 1;
  const auto results = results_of(builder.model, {ones});
  int stay = 0;
  for (size_t k = 0; k < 8000; ++k) {
    const bool stays = results[1].data<uint8_t>()[k] != 0;
    REQUIRE(results[0].data<float>()[k] == (stays ? 4.0f : 0.0f));
    stay += stays ? 1 : 0;
  }
  require_near(stay / 8000.0, 0.25, 0.02);
}

TEST_CASE("no pass makes a constant of noise or joins two draws") {
  ModelBuilder builder;
  const ValueId like = builder.floats({2}, {1, 2});
  for (int k = 0; k < 2; ++k) builder.output(builder.node("Neg", {builder.node("RandomNormalLike", {like})}));
  builder.output(builder.node("Neg", {builder.node("RandomNormal", {}, {{"shape", std::vector<int64_t>{2}}})}));
  Model model = builder.model;
  passes::prepare(model, {});
  REQUIRE(model.graph.nodes().size() == 6);
}

}  // namespace random_test
