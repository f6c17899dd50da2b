// SPDX-License-Identifier: Apache-2.0
#include "core/evaluate/label_order.h"

#include <algorithm>
#include <random>
#include <set>

#include "tests/catch.h"

using namespace tersor;
using evaluate::LabelledAnswer;

namespace {

int64_t largest_sum(const std::vector<std::vector<int64_t>>& gains, size_t row = 0,
                    const std::set<size_t>& taken = {}) {
  if (row == gains.size()) return 0;
  int64_t best = INT64_MIN / 2;
  for (size_t column = 0; column < gains[row].size(); ++column) {
    if (taken.count(column) != 0) continue;
    std::set<size_t> more = taken;
    more.insert(column);
    best = std::max(best, gains[row][column] + largest_sum(gains, row + 1, more));
  }
  return best;
}

const std::vector<int64_t> kTurned = {0, 1, 4, 5, 7, 6, 3, 9, 8, 2}, kStraight = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};

/// `each` samples of every label, of which one in `wrong_every` gets a random answer.
std::vector<LabelledAnswer> answers_in(const std::vector<int64_t>& outputs, int64_t each, int64_t wrong_every) {
  std::mt19937 random(3);
  std::vector<LabelledAnswer> answers;
  for (size_t label = 0; label < outputs.size(); ++label)
    for (int64_t k = 0; k < each; ++k)
      answers.push_back({static_cast<int64_t>(label), k % wrong_every == wrong_every - 1
                                                          ? static_cast<int64_t>(random() % outputs.size())
                                                          : outputs[label]});
  return answers;
}

}  // namespace

TEST_CASE("the assignment has the largest sum of all, of gains of either sign") {
  std::mt19937 random(7);
  for (size_t rows = 1; rows <= 4; ++rows)
    for (size_t columns = rows; columns <= 5; ++columns)
      for (int round = 0; round < 20; ++round) {
        std::vector<std::vector<int64_t>> gains(rows, std::vector<int64_t>(columns));
        for (auto& row : gains)
          for (int64_t& gain : row) gain = static_cast<int64_t>(random() % 21) - 10;
        const std::vector<size_t> assigned = evaluate::best_assignment(gains);
        REQUIRE(std::set<size_t>(assigned.begin(), assigned.end()).size() == rows);
        int64_t sum = 0;
        for (size_t row = 0; row < rows; ++row) sum += gains[row][assigned[row]];
        REQUIRE(sum == largest_sum(gains));
      }
}

TEST_CASE("classes in another order than the outputs are found, whatever some answers are") {
  const std::vector<LabelledAnswer> answers = answers_in(kTurned, 10, 5);
  const auto found = evaluate::find_label_order(answers);
  REQUIRE(found);
  const int64_t right = std::count_if(answers.begin(), answers.end(), [](const LabelledAnswer& one) {
    return one.answer == kTurned[static_cast<size_t>(one.label)];
  });
  CHECK(found->labels == kStraight);
  CHECK(found->outputs == kTurned);
  CHECK(found->correct == right);
  CHECK(found->held_correct == right);
}

TEST_CASE("two of ten classes that are exchanged are found on five samples of each") {
  std::vector<int64_t> outputs = kStraight;
  std::swap(outputs[3], outputs[5]);
  const auto found = evaluate::find_label_order(answers_in(outputs, 5, 5));
  REQUIRE(found);
  CHECK(found->outputs == outputs);
}

TEST_CASE("a few folders among many outputs are found, and labels that nothing speaks against stay") {
  std::vector<LabelledAnswer> answers;
  for (const auto& [label, answer] : std::vector<std::pair<int64_t, int64_t>>{{0, 217}, {2, 0}, {3, 3}})
    answers.insert(answers.end(), 12, {label, answer});
  const auto found = evaluate::find_label_order(answers);
  REQUIRE(found);
  CHECK(found->labels == std::vector<int64_t>{0, 2, 3});
  CHECK(found->outputs == std::vector<int64_t>{217, 0, 3});
}

TEST_CASE("no order is found where labels are right, answers random, all the same, not there, or too few") {
  CHECK(!evaluate::find_label_order(answers_in(kStraight, 10, 3)));
  for (const int64_t each : {4, 13, 50}) CHECK(!evaluate::find_label_order(answers_in(kTurned, each, 1)));
  CHECK(!evaluate::find_label_order(answers_in(std::vector<int64_t>(10, 3), 20, 100)));
  CHECK(!evaluate::find_label_order(answers_in(std::vector<int64_t>(10, -1), 20, 100)));
  CHECK(!evaluate::find_label_order(answers_in(kTurned, 3, 100)));
  CHECK(evaluate::find_label_order(answers_in(kTurned, 4, 100)));
  CHECK(!evaluate::find_label_order({}));
}
