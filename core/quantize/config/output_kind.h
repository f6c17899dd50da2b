// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/names.h"

namespace tersor::config {

/// What a model output, or a part of one, holds, and so in which measure it is judged.
enum class OutputKind {
  kClasses,     // scores of classes, or class numbers: the largest is kept; also "logits"
  kEmbedding,   // a vector whose direction alone matters: cosine similarity, nearest neighbours among the samples
  kMap,         // classes at many places (pixels, anchors), or of one class whether it is there; also "mask"
  kScores,      // independent probabilities, as of detections
  kBoxes,       // four numbers for each place or object: corners, or centre and size
  kDetections,  // boxes, and scores behind them in the same row
  kValues,      // anything else: quantities whose error is judged relative to their spread; also "landmarks"
};

/// The kinds of outputs by name, as a user says them; those that are left out follow from the graph.
using OutputRoles = std::map<std::string, OutputKind>;

/// Error kInvalidConfig for the name of no output, with the nearest that there is.
void check_output_roles(const OutputRoles& roles, const std::vector<std::string>& outputs);

}  // namespace tersor::config

template <>
struct tersor::EnumWords<tersor::config::OutputKind> {
  using K = tersor::config::OutputKind;
  static constexpr const char* kind = "kind of output";
  // Of two words of a kind the first is written, and both are read.
  static constexpr std::pair<K, std::string_view> words[] = {
      {K::kClasses, "classes"}, {K::kClasses, "logits"},  {K::kEmbedding, "embedding"}, {K::kMap, "map"},
      {K::kMap, "mask"},        {K::kScores, "scores"},   {K::kBoxes, "boxes"},         {K::kDetections, "detections"},
      {K::kValues, "values"},   {K::kValues, "landmarks"}};
};
