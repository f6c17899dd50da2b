// SPDX-License-Identifier: Apache-2.0
// Finds the preprocessing of pictures by trial. A wrong preprocessing is the most common mistake. Where classes are
// known, the float model runs on a few dozen samples with each preset, and the labels tell which preset it was trained
// with.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/json_fwd.h"
#include "core/graph/graph.h"
#include "core/samples/data_set.h"

namespace tersor {

/// A preprocessing, and for how many samples the model was right with it.
struct TriedPreprocessing {
  std::string name;  // "imagenet", "unit, BGR", "signed, class numbers + 1"
  samples::Preprocessing preprocessing;
  int64_t right = 0;
  int64_t reordered = 0;  // with the classes in another order, where one was looked for and found
};

/// The result of trying preprocessings; `best` is an index into `tried`.
struct PreprocessingTrial {
  std::vector<TriedPreprocessing> tried;  // the first is the guess
  size_t best = 0;
  int64_t samples = 0;
  int64_t classes = 0;

  /// "imagenet: 30 of 32 right; unit: 13; signed: 9; raw: 3".
  std::string text() const;
  /// True if no preset is right more often than random answers would be.
  bool is_chance() const;
};

/// {"best": "imagenet", "samples": 32, "is_chance": false, "tried": [{"name": "imagenet", "right": 30}, ...]}, in
/// descending order of right answers; "reordered" where that is not 0.
Json to_json(const PreprocessingTrial& trial);

/// Tries the presets, then BGR if the best preset takes three channels. Each is tried with the class numbers as they
/// are and with 1 added ("background" first). It uses 32 samples, as few as 8 for large models, and up to 128 if these
/// hardly separate the best candidates. The guess stays unless another candidate is right on at least max(2,
/// samples / 16) more samples. RGB stays against BGR by the same rule. Where the best is right less often than any
/// trained model would be, each is judged in the order of the classes that fits it best (evaluate::find_label_order()),
/// and one that is right for most samples in such an order, and significantly more often than the best, is taken.
///
/// Returns nothing if there is nothing to try. That is the case without pictures, with a given preprocessing, without
/// classes, or with several inputs. It is also the case if the output is not a score per class, or if the model cannot
/// be run.
std::optional<PreprocessingTrial> try_preprocessings(const Model& model, const samples::DataSet& data);

/// How samples of the model are opened if the user says nothing. It gives the preset that the model's first nodes
/// suggest, the number of classes, and the runs for states that pass from a piece of a recording to the next.
samples::DataSetOptions data_set_options(const Model& model);

}  // namespace tersor
