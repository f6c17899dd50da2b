// SPDX-License-Identifier: Apache-2.0
#include "core/evaluate/evaluation.h"

#include <limits>

#include "core/base/json.h"
#include "tests/catch.h"

using namespace tersor;
using namespace tersor::evaluate;
using Catch::Matchers::Contains;

namespace {

const float kNan = std::numeric_limits<float>::quiet_NaN();

std::vector<Tensor> row(std::initializer_list<float> values) {
  return {Tensor::of<float>({1, static_cast<int64_t>(values.size())}, values)};
}

template <class Call>
std::string message_of(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return std::string(to_word(error.code)) + ": " + error.message;
  }
  return "no error";
}

/// AUC of (score, label) pairs by counting every pair.
double slow_area(const std::vector<std::pair<float, int64_t>>& pairs) {
  double won = 0, all = 0;
  for (const auto& positive : pairs)
    for (const auto& negative : pairs) {
      if (positive.second != 1 || negative.second != 0) continue;
      won += positive.first > negative.first ? 1 : positive.first == negative.first ? 0.5 : 0;
      all += 1;
    }
  return won / all;
}

}  // namespace

TEST_CASE("top1 counts the largest output, the first of equals") {
  Evaluation evaluation(Metric::kTop1);
  evaluation.add(0, 1, {}, row({0, 3, 1}));
  evaluation.add(1, 0, {}, row({2, 2, 1}));
  evaluation.add(2, 1, {}, row({2, 2, 1}));
  evaluation.add(3, 2, {}, row({kNan, 0, 1}));
  const EvaluationResult result = evaluation.result();
  REQUIRE(result.count == 4);
  REQUIRE(result.correct == 2);
  REQUIRE(result.value == 0.5);
  REQUIRE(*result.answers == std::vector<int64_t>{1, 0, 0, -1});
  REQUIRE(*result.chance == Approx(1.0 / 3));
  REQUIRE(result.interval->lower < 0.5);
}

TEST_CASE("top1 takes scores in any shape, and an output that is the class itself") {
  Evaluation evaluation(Metric::kTop1);
  const Tensor map = Tensor::of<float>({1, 3, 1, 1}, {0, 0, 5});
  evaluation.add(0, 2, {}, std::vector<Tensor>{map});
  REQUIRE(evaluation.result().correct == 1);
  Evaluation classes(Metric::kTop1);
  classes.add(0, 7, {}, std::vector<Tensor>{Tensor::of<int64_t>({1}, {7})});
  classes.add(1, 7, {}, std::vector<Tensor>{Tensor::of<int64_t>({1}, {6})});
  REQUIRE(classes.result().correct == 1);
  REQUIRE_FALSE(classes.result().chance);
}

TEST_CASE("top5 counts a label among the five largest outputs") {
  Evaluation evaluation(Metric::kTop5);
  evaluation.add(0, 4, {}, row({9, 8, 7, 6, 5, 4}));
  evaluation.add(1, 5, {}, row({9, 8, 7, 6, 5, 4}));
  evaluation.add(2, 5, {}, row({1, 1, 1, 1, 1, 1}));
  evaluation.add(3, 4, {}, row({1, 1, 1, 1, 1, 1}));
  REQUIRE(evaluation.result().correct == 2);
  REQUIRE(*evaluation.result().chance == Approx(5.0 / 6));
  REQUIRE_THAT(message_of([&] { evaluation.add(9, 0, {}, row({1, 2, 3})); }), Contains("With 3 classes every answer"));
}

TEST_CASE("answers need no labels") {
  Evaluation evaluation(Metric::kAnswers);
  evaluation.add(5, std::nullopt, {}, row({0, 1}));
  evaluation.add(2, std::nullopt, {}, row({1, 0}));
  const EvaluationResult result = evaluation.result();
  REQUIRE(*result.answers == std::vector<int64_t>{0, 1});
  REQUIRE_FALSE(result.value);
  REQUIRE_FALSE(result.correct);
  REQUIRE(result.count == 2);
}

TEST_CASE("auc equals the share of pairs in order, ties as half") {
  const std::vector<std::pair<float, int64_t>> pairs = {{0.1f, 0}, {0.4f, 0}, {0.35f, 1}, {0.8f, 1},
                                                        {0.4f, 1}, {0.4f, 0}, {-2, 1}};
  Evaluation single(Metric::kAuc), two(Metric::kAuc);
  for (size_t i = 0; i < pairs.size(); ++i) {
    single.add(static_cast<int64_t>(i), pairs[i].second, {}, row({pairs[i].first}));
    two.add(static_cast<int64_t>(i), pairs[i].second, {}, row({1.5f, pairs[i].first + 1.5f}));
  }
  REQUIRE(*single.result().value == slow_area(pairs));
  REQUIRE(*two.result().value == slow_area(pairs));
  REQUIRE_FALSE(single.result().interval);
}

TEST_CASE("reconstruction-auc scores groups by their mean squared error") {
  Evaluation evaluation(Metric::kReconstructionAuc, 2);
  const auto add = [&](int64_t sample, int64_t label, float difference) {
    const std::vector<Tensor> input = row({1, 2}), output = row({1 + difference, 2});
    evaluation.add(sample, label, input, output);
  };
  add(0, 0, 1), add(1, 0, 1);    // 0.5
  add(2, 1, 0), add(3, 1, 2);    // 1
  add(4, 1, 0), add(5, 1, 0.5);  // 0.0625
  REQUIRE(evaluation.result().count == 3);
  REQUIRE(*evaluation.result().value == 0.5);
  add(6, 0, 1);
  REQUIRE_THAT(message_of([&] { evaluation.result(); }), Contains("The group 3 of 2 samples is incomplete."));
}

TEST_CASE("any partition in any grouping merges to the same result") {
  const auto filled = [](int workers, int offset, Metric metric) {
    std::vector<Evaluation> parts(static_cast<size_t>(workers), Evaluation(metric));
    for (int64_t i = 0; i < 60; ++i) {
      const float a = static_cast<float>(i * 37 % 11) * 0.1f, b = static_cast<float>(i * 53 % 7) * 0.13f;
      parts[static_cast<size_t>((i * 7 + offset) % workers)].add(i, i % 3 == 0, {}, row({a, b}));
    }
    while (parts.size() > 1) {
      // every other one as bytes, as between workers that share no memory
      parts[0].merge(parts.size() % 2 == 0 ? std::move(parts.back()) : Evaluation::load(parts.back().save()));
      parts.pop_back();
    }
    return to_text(to_json(parts[0].result()));
  };
  for (Metric metric : {Metric::kTop1, Metric::kAuc}) {
    const std::string one = filled(1, 0, metric);
    REQUIRE(filled(4, 0, metric) == one);
    REQUIRE(filled(7, 3, metric) == one);
  }
}

TEST_CASE("labels and outputs that do not go together are refused") {
  Evaluation top(Metric::kTop1), area(Metric::kAuc), group(Metric::kReconstructionAuc, 2);
  REQUIRE_THAT(message_of([&] {
                 top.add(0, 3, {}, row({0, 1, 2}));
               }),
               Contains("invalid_labels: The label is 3, and the model's output has the classes 0 to 2."));
  REQUIRE_THAT(message_of([&] { top.add(0, std::nullopt, {}, row({0, 1})); }), Contains("needs labels"));
  REQUIRE_THAT(message_of([&] { top.add(0, 0, {}, row({0})); }), Contains("no score for each of several classes"));
  REQUIRE_THAT(message_of([&] { area.add(0, 2, {}, row({0})); }), Contains("The label is 2"));
  REQUIRE_THAT(message_of([&] { area.add(0, 1, {}, row({0, 1, 2})); }), Contains("1x3"));
  REQUIRE_THAT(message_of([&] { area.add(0, 1, {}, row({kNan})); }), Contains("NaN"));
  REQUIRE_THAT(message_of([&] {
                 group.add(0, 1, row({1, 2}), row({1}));
               }),
               Contains("the output has the shape 1x1 and the input 1x2"));
  area.add(0, 1, {}, row({0}));
  REQUIRE_THAT(message_of([&] { area.result(); }), Contains("All 1 labels are 1"));
  REQUIRE_THAT(message_of([] { Evaluation(Metric::kTop1, 5); }), Contains("A group of 5"));
  REQUIRE_THAT(message_of([&] { top.add(0, 0, {}, {}); }), Contains("no output"));
}

TEST_CASE("agreement counts equal answers") {
  Evaluation a(Metric::kAnswers), b(Metric::kAnswers);
  for (int64_t i = 0; i < 4; ++i) {
    a.add(i, std::nullopt, {}, row({0, 1}));
    b.add(i, std::nullopt, {}, i == 2 ? row({1, 0}) : row({0, 1}));
  }
  REQUIRE(agreement(a.result(), b.result())->same == 3);
  REQUIRE(agreement(a.result(), b.result())->count == 4);
  REQUIRE_FALSE(agreement(EvaluationResult{}, b.result()));
}
