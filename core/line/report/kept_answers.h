// SPDX-License-Identifier: Apache-2.0
// The agreement of a quantized output with the float output if it holds many answers: pixels of a map, or anchors of a
// detector.
#pragma once

#include <optional>

#include "core/base/byte_stream.h"
#include "core/evaluate/evaluation.h"
#include "core/report/output_kind.h"
#include "core/tensor/tensor.h"

namespace tersor::report {

/// What of an output is the same in both models, and what it is that was counted.
struct Kept {
  OutputKind kind = OutputKind::kValues;
  evaluate::Agreement answers;
  static constexpr auto fields() { return members(&Kept::kind, &Kept::answers); }
};

/// The agreement on a sample (or batch) of an output; both tensors have the same shape. It counts:
///   - for kClasses with more than one place for each of `rows`: the places to which either tensor gives another class
///     than the reference's most common, as kMap; `class_axis` is as in class_axis();
///   - for kMap the same; without a class axis classes are along the shorter of axes 1 and 3 of four. Of one class, or
///     three axes, it is a mask: elements count at which either tensor is at least 0.5, or 0 where the reference leaves
///     0 to 1;
///   - for kScores: the elements at which either tensor is at least 0.25, or at least 0.5 for a mask
///     [N, 1, H, W] or [N, H, W, 1].
///
/// Returns nothing for other kinds, and for classes of a single place.
std::optional<Kept> kept_answers(OutputKind kind, std::optional<int> class_axis, int64_t rows, const Tensor& reference,
                                 const Tensor& values);

}  // namespace tersor::report
