// SPDX-License-Identifier: Apache-2.0
// How pictures become tensors is the commonest mistake of all, and where classes are known it need not be guessed: the
// float model is run on a few dozen samples with each preset, and the labels say which one it was trained with.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/json_fwd.h"
#include "core/graph/graph.h"
#include "core/samples/data_set.h"

namespace tersor {

struct TriedPreprocessing {
  std::string name;  // "imagenet", "unit, BGR", "signed, class numbers + 1"
  samples::Preprocessing preprocessing;
  int64_t right = 0;
};

struct PreprocessingTrial {
  std::vector<TriedPreprocessing> tried;  // the first is the guess
  size_t best = 0;
  int64_t samples = 0;
  int64_t classes = 0;

  /// "imagenet: 30 of 32 right; unit: 13; signed: 9; raw: 3".
  std::string text() const;
  /// No preset is right more often than answers drawn by lot would be.
  bool is_chance() const;
};

/// {"best": "imagenet", "samples": 32, "is_chance": false, "tried": [{"name": "imagenet", "right": 30}, ...]}, the best
/// first.
Json to_json(const PreprocessingTrial& trial);

/// Tries the presets, then BGR where the best one takes three channels, each with the class numbers as they are and
/// with 1 added where the output has room for that ("background" first): on 32 samples, and on up to 128 where these
/// hardly tell the best ones apart. The guess stays unless another is right for
/// 1 sample in 16, and for 2, more, and so does RGB beside BGR. Absent where there is nothing to try: no pictures, a
/// preprocessing that somebody gave, no classes, several inputs, an output that is no score for each class, or a model
/// that cannot be run.
std::optional<PreprocessingTrial> try_preprocessings(const Model& model, const samples::DataSet& data);

/// How samples of the model are opened where nobody says anything: the preset that its first nodes speak for, how many
/// classes it tells apart, and its runs for states that go from one piece of a recording to the next.
samples::DataSetOptions data_set_options(const Model& model);

}  // namespace tersor
