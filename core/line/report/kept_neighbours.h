// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "core/base/byte_stream.h"
#include "core/evaluate/evaluation.h"

namespace tersor::report {

/// An embedding of one sample, in float and quantized.
struct EmbeddingPair {
  std::vector<float> reference, other;
  static constexpr auto fields() { return members(&EmbeddingPair::reference, &EmbeddingPair::other); }
};

/// Counts the samples whose nearest other sample, by cosine similarity among the quantized embeddings, is the nearest
/// among those of the float model, or one that is as near to 1e-6. Of fewer than 3 samples none is counted.
evaluate::Agreement kept_neighbours(std::span<const EmbeddingPair> samples);

}  // namespace tersor::report
