// SPDX-License-Identifier: Apache-2.0
// The kind of a model output, as far as the graph tells. The largest element is meaningful for scores of classes, but
// not for an embedding, a landmark, a box or a mask.
#pragma once

#include <optional>
#include <string_view>
#include <utility>

#include "core/base/names.h"
#include "core/graph/graph.h"
#include "core/graph/uses.h"

namespace tersor::report {

enum class OutputKind {
  kClasses,    // scores of classes, or class numbers
  kEmbedding,  // a vector of length 1; only its direction matters
  kMap,        // scores of classes at many places (pixels, anchors), or class numbers there
  kScores,     // independent probabilities, as of detections or of a mask
  kValues,     // anything else: quantities whose error is judged relative to their spread
};

/// Returns the kind by the operator at the end of the output, behind nodes that only move elements. It is kClasses for
/// Softmax, LogSoftmax, ArgMax and integers, kEmbedding for a division by the vector's length, kScores for Sigmoid, and
/// else kValues. Never returns kMap: that classes are those of a map follows from the shape.
OutputKind output_kind(const Graph& graph, const Uses& uses, ValueId output);

/// The axis of an output along which the Softmax or LogSoftmax at its end has the classes; negative axes count from the
/// last. It is 0 for an ArgMax, whose output holds class numbers. Returns nothing if there is no such operator, or if
/// more than a Transpose or copies follow it.
std::optional<int> class_axis(const Model& model, const Uses& uses, ValueId output);

}  // namespace tersor::report

template <>
struct tersor::EnumWords<tersor::report::OutputKind> {
  using K = tersor::report::OutputKind;
  static constexpr const char* kind = "kind of output";
  static constexpr std::pair<K, std::string_view> words[] = {{K::kClasses, "classes"},
                                                             {K::kEmbedding, "embedding"},
                                                             {K::kMap, "map"},
                                                             {K::kScores, "scores"},
                                                             {K::kValues, "values"}};
};
