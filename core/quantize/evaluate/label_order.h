// SPDX-License-Identifier: Apache-2.0
// In which order a model has the classes, found from its answers: folders that sort otherwise than the outputs give
// every sample a wrong label.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "core/base/fields.h"
#include "core/evaluate/interval.h"

namespace tersor::evaluate {

/// A label and what the model answered; an answer below 0 is none.
struct LabelledAnswer {
  int64_t label = 0;
  int64_t answer = -1;
};

struct LabelOrder {
  std::vector<int64_t> labels;
  std::vector<int64_t> outputs;
  int64_t correct = 0;
  int64_t held_correct = 0;
  Interval interval;

  static constexpr auto fields() {
    return std::make_tuple(
        field("labels", &LabelOrder::labels, "Labels that are there, rising."),
        field("outputs", &LabelOrder::outputs, "The output that each of them stands for, all different."),
        field("correct", &LabelOrder::correct, "Right answers in this order."),
        field("held_correct", &LabelOrder::held_correct,
              "Right answers where each half of the samples is counted in the order that the other half gives."),
        field("interval", &LabelOrder::interval, "Wilson score interval of held_correct."));
  }
};

/// The column of each row, all of them different, whose gains have the largest sum; there are at least as many columns
/// as rows. Exact, by shortest augmenting paths: H. W. Kuhn, The Hungarian method for the assignment problem, 1955.
std::vector<size_t> best_assignment(const std::vector<std::vector<int64_t>>& gains);

/// The order of the labels with the most right answers, and of equally good ones one that keeps more labels as they
/// are, where it is significantly better than the one that stands: each half of the samples, in the order that the
/// other half gives, gains more right answers than it loses (McNemar's test, 99 %). Nothing with fewer than 4 samples
/// for each label, or 16 in all, or more than 2000 labels.
std::optional<LabelOrder> find_label_order(std::span<const LabelledAnswer> answers);

}  // namespace tersor::evaluate
