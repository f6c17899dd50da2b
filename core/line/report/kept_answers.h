// SPDX-License-Identifier: Apache-2.0
// How much of what an output says the quantized model says too, where many places say something: pixels of a map,
// anchors of a detector.
#pragma once

#include <optional>

#include "core/evaluate/evaluation.h"
#include "core/report/output_kind.h"
#include "core/tensor/tensor.h"

namespace tersor::report {

/// Of one sample (or batch) of an output of that kind; both tensors have the same shape. Of kClasses with more than one
/// place for each of `rows`: the places that either tensor gives another class than the commonest of the reference;
/// `class_axis`: as class_axis() has it. Of kScores: the elements of which either tensor has
/// 0.25 or more, or 0.5 of a mask [N, 1, H, W] or [N, H, W, 1]. None of other kinds, and of one place.
std::optional<evaluate::Agreement> kept_answers(OutputKind kind, std::optional<int> class_axis, int64_t rows,
                                                const Tensor& reference, const Tensor& values);

}  // namespace tersor::report
