// SPDX-License-Identifier: Apache-2.0
// What a model output is, as far as its graph tells: an answer's largest element says something of scores of classes,
// and nothing of an embedding, a landmark, a box or a mask.
#pragma once

#include <optional>
#include <string_view>
#include <utility>

#include "core/base/names.h"
#include "core/graph/graph.h"
#include "core/graph/uses.h"

namespace tersor::report {

enum class OutputKind {
  kClasses,    // scores of classes, or their numbers
  kEmbedding,  // a vector of length 1, whose direction counts
  kMap,        // scores of classes at many places, as of pixels or anchors, or the classes' numbers
  kScores,     // probabilities that each count by themselves, as of detections or of a mask
  kValues,     // all else: quantities, to be as near to the float model's as their spread asks
};

/// Classes where a Softmax, a LogSoftmax or an ArgMax stands at its end, or where it holds whole numbers; an embedding
/// where it is divided by its length; scores where a Sigmoid stands there; else values. Nodes that only move elements
/// are looked through. Whether classes are those of a map its shape tells.
OutputKind output_kind(const Graph& graph, const Uses& uses, ValueId output);

/// The axis of an output along which a Softmax or LogSoftmax at its end has the classes, negative where it is counted
/// from the last; none where there is no such operator, or where more than a Transpose or copies follow it. 0 of an
/// ArgMax, whose output is the classes' numbers.
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
