// SPDX-License-Identifier: Apache-2.0
#include "core/evaluate/label_order.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"

namespace tersor::evaluate {

namespace {

constexpr size_t kFewest = 16, kFewestEach = 4;
/// The 99 % point of the normal distribution.
constexpr double kSignificant = 2.326347874040841;
/// The time of an assignment grows with the third power of the labels.
constexpr size_t kMostLabels = 2000;

/// How often each label (row) got each output (column).
using Counts = std::vector<std::vector<int64_t>>;

std::vector<int64_t> each_once(std::vector<int64_t> numbers) {
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return numbers;
}

size_t place_of(int64_t number, const std::vector<int64_t>& sorted) {
  return static_cast<size_t>(std::lower_bound(sorted.begin(), sorted.end(), number) - sorted.begin());
}

int64_t count_right(const Counts& counts, const std::vector<size_t>& columns) {
  int64_t right = 0;
  for (size_t row = 0; row < counts.size(); ++row) right += counts[row][columns[row]];
  return right;
}

/// McNemar's test of paired answers, with Edwards' correction (1948) and at 99 %: that more are gained than lost.
bool is_significant(int64_t gained, int64_t lost) {
  return static_cast<double>(gained - lost - 1) > kSignificant * std::sqrt(static_cast<double>(gained + lost));
}

/// The columns with the most right answers, and of equally good ones those that leave most labels at `own`.
std::vector<size_t> order_of(Counts counts, const std::vector<size_t>& own) {
  const auto weight = static_cast<int64_t>(counts.size()) + 1;
  for (size_t row = 0; row < counts.size(); ++row) {
    for (int64_t& count : counts[row]) count *= weight;
    ++counts[row][own[row]];
  }
  return best_assignment(counts);
}

}  // namespace

std::vector<size_t> best_assignment(const std::vector<std::vector<int64_t>>& gains) {
  const size_t rows = gains.size(), columns = rows == 0 ? 0 : gains[0].size();
  TERSOR_CHECK(columns >= rows);
  // Number 0 of each is none, so that lists are one longer than there are rows or columns.
  constexpr int64_t kFar = INT64_MAX / 2;
  std::vector<int64_t> row_price(rows + 1), column_price(columns + 1);
  std::vector<size_t> row_of(columns + 1), way(columns + 1);
  for (size_t row = 1; row <= rows; ++row) {
    std::vector<int64_t> least(columns + 1, kFar);
    std::vector<bool> is_done(columns + 1);
    row_of[0] = row;
    size_t end = 0;
    while (row_of[end] != 0) {
      is_done[end] = true;
      const size_t from = row_of[end];
      int64_t step = kFar;
      size_t next = 0;
      for (size_t column = 1; column <= columns; ++column) {
        if (is_done[column]) continue;
        const int64_t cost = -gains[from - 1][column - 1] - row_price[from] - column_price[column];
        if (cost < least[column]) least[column] = cost, way[column] = end;
        if (least[column] < step) step = least[column], next = column;
      }
      for (size_t column = 0; column <= columns; ++column) {
        if (is_done[column])
          row_price[row_of[column]] += step, column_price[column] -= step;
        else
          least[column] -= step;
      }
      end = next;
    }
    for (; end != 0; end = way[end]) row_of[end] = row_of[way[end]];
  }
  std::vector<size_t> result(rows);
  for (size_t column = 1; column <= columns; ++column)
    if (row_of[column] != 0) result[row_of[column] - 1] = column - 1;
  return result;
}

std::optional<LabelOrder> find_label_order(std::span<const LabelledAnswer> answers) {
  std::vector<int64_t> labels, outputs;
  for (const auto& [label, answer] : answers) {
    labels.push_back(label);
    outputs.push_back(std::max(answer, int64_t{0}));
  }
  labels = each_once(std::move(labels));
  if (labels.size() < 2 || labels.size() > kMostLabels ||
      answers.size() < std::max(kFewest, kFewestEach * labels.size()))
    return std::nullopt;
  outputs.insert(outputs.end(), labels.begin(), labels.end());
  outputs = each_once(std::move(outputs));
  std::vector<size_t> own;
  for (const int64_t label : labels) own.push_back(place_of(label, outputs));
  // Every second sample of each label, from the first or from the second on.
  Counts whole(labels.size(), std::vector<int64_t>(outputs.size())), halves[2] = {whole, whole};
  std::vector<size_t> seen(labels.size());
  for (const auto& [label, answer] : answers) {
    const size_t row = place_of(label, labels), half = seen[row]++ % 2;
    if (answer < 0) continue;
    const size_t column = place_of(answer, outputs);
    ++whole[row][column];
    ++halves[half][row][column];
  }
  const int64_t right = count_right(whole, own);
  // No order gains more than where every label has its most frequent answer.
  int64_t most = 0;
  for (const std::vector<int64_t>& row : whole) most += *std::max_element(row.begin(), row.end());
  if (!is_significant(most - right, 0)) return std::nullopt;
  LabelOrder order;
  int64_t gained = 0, lost = 0;
  for (const size_t half : {0, 1}) {
    const std::vector<size_t> columns = order_of(halves[1 - half], own);
    order.held_correct += count_right(halves[half], columns);
    for (size_t row = 0; row < own.size(); ++row) {
      if (columns[row] == own[row]) continue;
      gained += halves[half][row][columns[row]];
      lost += halves[half][row][own[row]];
    }
  }
  if (!is_significant(gained, lost)) return std::nullopt;
  order.interval = wilson_interval(order.held_correct, static_cast<int64_t>(answers.size()));
  const std::vector<size_t> columns = order_of(whole, own);
  order.correct = count_right(whole, columns);
  for (const size_t column : columns) order.outputs.push_back(outputs[column]);
  order.labels = std::move(labels);
  return order;
}

}  // namespace tersor::evaluate
