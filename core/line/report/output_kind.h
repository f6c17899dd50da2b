// SPDX-License-Identifier: Apache-2.0
// The kind of a model output, as far as the graph tells. The largest element is meaningful for scores of classes, but
// not for an embedding, a landmark, a box or a mask.
#pragma once

#include <optional>

#include "core/config/output_kind.h"
#include "core/graph/graph.h"
#include "core/graph/uses.h"

namespace tersor::report {

using config::OutputKind;

/// What the graph tells of an output.
struct OutputTrait {
  OutputKind kind = OutputKind::kValues;
  bool sorted = false;    // its rows are those that a TopK or NonMaxSuppression chose, in an order that depends on data
  bool has_batch = true;  // axis 0 is that of samples, as far as the graph tells
  bool background = false;  // of kDetections: one of the scores' classes is that of no object
  bool objectness =
      false;  // of kDetections: the first score says whether there is an object, the others of which class
};

/// The trait of an output. It is kDetections where a Concat joins scores (of a Sigmoid or Softmax) behind other values,
/// each perhaps of several such joins for levels of a detector.
OutputTrait output_trait(const Graph& graph, const Uses& uses, ValueId output);

/// Returns the kind by the operator at the end of the output, behind nodes that only move elements. It is kClasses for
/// Softmax, LogSoftmax, ArgMax and integers, kEmbedding for a division by the vector's length, kScores for Sigmoid, and
/// else kValues. Never returns kMap: that classes are those of a map follows from the shape.
OutputKind output_kind(const Graph& graph, const Uses& uses, ValueId output);

/// The axis of an output along which the Softmax or LogSoftmax at its end has the classes; negative axes count from the
/// last. It is 0 for an ArgMax, whose output holds class numbers. Returns nothing if there is no such operator, or if
/// more than a Transpose or copies follow it.
std::optional<int> class_axis(const Model& model, const Uses& uses, ValueId output);

}  // namespace tersor::report
