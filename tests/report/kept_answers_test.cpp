// SPDX-License-Identifier: Apache-2.0
#include "core/report/kept_answers.h"

#include "tests/catch.h"

namespace kept_answers_test {
using namespace tersor;
using report::OutputKind;

namespace {

void require_kept(const std::optional<report::Kept>& kept, int64_t same, int64_t count) {
  REQUIRE(kept);
  CHECK(kept->answers.same == same);
  CHECK(kept->answers.count == count);
}

}  // namespace

TEST_CASE("of a map those places count that either model gives another class than the commonest") {
  // Three classes at four places: the reference says 0 0 0 1, the other one 0 0 2 1.
  const Tensor reference = Tensor::of<float>(Shape{1, 3, 4}, {9, 9, 9, 1, 0, 0, 0, 5, 1, 1, 1, 1});
  const Tensor other = Tensor::of<float>(Shape{1, 3, 4}, {9, 9, 9, 1, 0, 0, 0, 5, 1, 1, 10, 1});
  for (const int axis : {1, -2})
    require_kept(report::kept_answers(OutputKind::kClasses, axis, 1, reference, other), 1, 2);
  // The same with the classes last, and as their numbers.
  const Tensor last = Tensor::of<float>(Shape{1, 2, 3}, {9, 0, 1, 0, 0, 4}),
               moved = Tensor::of<float>(Shape{1, 2, 3}, {0, 9, 1, 0, 0, 4});
  require_kept(report::kept_answers(OutputKind::kClasses, -1, 1, last, moved), 1, 2);
  const Tensor a = Tensor::of<int64_t>(Shape{1, 5}, {7, 7, 7, 2, 3}),
               b = Tensor::of<int64_t>(Shape{1, 5}, {7, 4, 7, 2, 7});
  require_kept(report::kept_answers(OutputKind::kClasses, 0, 1, a, b), 1, 3);
  CHECK_FALSE(report::kept_answers(OutputKind::kClasses, std::nullopt, 1, a, b));
  CHECK_FALSE(report::kept_answers(OutputKind::kClasses, 5, 1, reference, other));
}

TEST_CASE("a list of classes for each sample is no map, and values keep no answers") {
  const Tensor list = Tensor::of<float>(Shape{2, 3}, {1, 2, 3, 4, 5, 6});
  CHECK_FALSE(report::kept_answers(OutputKind::kClasses, 1, 2, list, list));
  CHECK(report::kept_answers(OutputKind::kClasses, 1, 1, list, list));
  CHECK_FALSE(report::kept_answers(OutputKind::kValues, 1, 1, list, list));
  CHECK_FALSE(report::kept_answers(OutputKind::kEmbedding, 1, 1, list, list));
}

TEST_CASE("of scores those count that either model gives a quarter or more, of a mask a half") {
  const std::vector<float> reference = {0.25F, 0.24F, 0.6F, 0.1F, 0.4F, 0.9F},
                           other = {0.25F, 0.3F, 0.2F, 0.2F, 0.6F, 0.8F};
  for (const auto& [shape, same, count] :
       {std::tuple(Shape{1, 2, 3}, 3, 5), std::tuple(Shape{1, 1, 2, 3}, 1, 3), std::tuple(Shape{1, 2, 3, 1}, 1, 3)}) {
    INFO(shape.text());
    require_kept(report::kept_answers(OutputKind::kScores, std::nullopt, 1, Tensor::of<float>(shape, reference),
                                      Tensor::of<float>(shape, other)),
                 same, count);
  }
}

TEST_CASE("a map that somebody names has its classes along the shorter axis, and one of one class is a mask") {
  const Tensor reference = Tensor::of<float>(Shape{1, 2, 2, 3}, {9, 9, 9, 1, 9, 9, 0, 0, 0, 5, 0, 0}),
               other = Tensor::of<float>(Shape{1, 2, 2, 3}, {9, 9, 0, 1, 9, 9, 0, 0, 1, 5, 0, 0});
  require_kept(report::kept_answers(OutputKind::kMap, std::nullopt, 1, reference, other), 1, 2);
  // As the same with channels last.
  const Tensor last = Tensor::of<float>(Shape{1, 3, 2, 2}, {9, 0, 9, 0, 9, 0, 1, 5, 9, 0, 9, 0}),
               moved = Tensor::of<float>(Shape{1, 3, 2, 2}, {9, 0, 9, 0, 0, 1, 1, 5, 9, 0, 9, 0});
  require_kept(report::kept_answers(OutputKind::kMap, std::nullopt, 1, last, moved), 1, 2);
  const auto kept_of_mask = [](std::vector<float> a, std::vector<float> b) {
    return report::kept_answers(OutputKind::kMap, std::nullopt, 1, Tensor::of<float>(Shape{1, 2, 2}, a),
                                Tensor::of<float>(Shape{1, 2, 2}, b));
  };
  require_kept(kept_of_mask({0.5F, 0.4F, 0.9F, 0}, {0.5F, 0.5F, 0.1F, 0}), 1, 3);
  require_kept(kept_of_mask({0.5F, -4, 9, 0}, {0.1F, 0.5F, -1, -1}), 1, 4);  // before its Sigmoid
}

}  // namespace kept_answers_test
