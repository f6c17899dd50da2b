// SPDX-License-Identifier: Apache-2.0
#include "core/evaluate/doubt.h"

#include <cmath>

#include "core/evaluate/evaluation.h"
#include "tests/catch.h"

using namespace tersor;
using namespace tersor::evaluate;

namespace {

std::optional<Doubt> doubt(int64_t right, int64_t count, double chance) {
  return doubt_of_labelled(right, count, chance, {});
}

/// Samples of `classes` logits, of which `right` of `count` are answered by their label; `margin` is how far the
/// largest stands above the others.
EvaluationResult answered(Metric metric, int64_t right, int64_t count, float margin, bool has_softmax) {
  constexpr size_t kClasses = 10;
  Evaluation evaluation(metric);
  for (int64_t k = 0; k < count; ++k) {
    const auto answer = static_cast<size_t>(k) % kClasses;
    std::vector<float> scores(kClasses, -3.0f);
    scores[answer] += margin;
    if (has_softmax) {
      const float others = 1 / (std::exp(margin) + kClasses - 1);
      std::fill(scores.begin(), scores.end(), others);
      scores[answer] = 1 - others * (kClasses - 1);
    }
    const std::vector<Tensor> outputs = {Tensor::of<float>(Shape{1, kClasses}, scores)};
    const auto label = static_cast<int64_t>(k < right ? answer : (answer + 1) % kClasses);
    evaluation.add(k, metric == Metric::kAnswers ? std::nullopt : std::optional(label), {}, outputs);
  }
  return Evaluation::load(evaluation.save()).result();
}

}  // namespace

TEST_CASE("accuracies that no trained model has are known from few answers and from many") {
  CHECK(doubt(23, 128, 0.1) == Doubt::kWeak);
  CHECK(doubt(45, 128, 0.1) == std::nullopt);
  CHECK(doubt(10, 50, 0.1) == Doubt::kWeak);
  CHECK(doubt(5, 16, 0.1) == std::nullopt);
  CHECK(doubt(2, 100, 0.001) == Doubt::kWeak);
  CHECK(doubt(55, 100, 0.5) == Doubt::kGuessing);
  CHECK(doubt(75, 100, 0.5) == std::nullopt);
  CHECK(doubt(1, 15, 0.1) == Doubt::kWeak);
  CHECK(doubt(1, 4, 0.1) == std::nullopt);
}

TEST_CASE("a model that is far surer than right is doubted, before a softmax and after it") {
  for (const bool has_softmax : {false, true}) {
    const EvaluationResult half = answered(Metric::kTop1, 50, 100, 6, has_softmax);
    CHECK_THAT(*half.sureness, Catch::Matchers::WithinAbs(0.978, 0.001));
    CHECK(half.doubt == Doubt::kOverconfident);
    CHECK(answered(Metric::kTop1, 92, 100, 6, has_softmax).doubt == std::nullopt);
    // 60 % sure and 50 % right
    CHECK(answered(Metric::kTop1, 50, 100, 2.6f, has_softmax).doubt == std::nullopt);
    // a few answers do not tell
    CHECK(answered(Metric::kTop1, 8, 15, 6, has_softmax).doubt == std::nullopt);
    CHECK(answered(Metric::kTop5, 50, 100, 6, has_softmax).doubt != Doubt::kOverconfident);
  }
}

TEST_CASE(
    "without labels a model is doubted where its shares are hardly above guessing, and numbers that are none never") {
  CHECK(answered(Metric::kAnswers, 0, 40, 0.1f, true).doubt == Doubt::kUnsure);
  CHECK(answered(Metric::kAnswers, 0, 15, 0.1f, true).doubt == std::nullopt);
  CHECK(answered(Metric::kAnswers, 0, 40, 2, true).doubt == std::nullopt);
  const EvaluationResult values = answered(Metric::kAnswers, 0, 40, 0.1f, false);
  CHECK(values.doubt == std::nullopt);
  CHECK(values.sureness == std::nullopt);
}
