// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "core/base/diagnostic.h"
#include "core/evaluate/evaluation.h"
#include "core/samples/data_set.h"

namespace tersor::report {

inline constexpr std::string_view kLabelsReordered = "labels_reordered";

/// A remark with the code kLabelsReordered that the labels look like a reordering of the model's outputs, with the
/// accuracy as it is and in that order, and the labels.txt that says so; or the numbers to write, where `labels` (of
/// all samples) are not the data set's own. Nothing where `in_float` has no label_order, or a label_shift, which is
/// the simpler cause.
std::optional<Diagnostic> label_order_remark(const evaluate::EvaluationResult& in_float, const samples::DataSet& data,
                                             std::span<const int64_t> labels);

}  // namespace tersor::report
