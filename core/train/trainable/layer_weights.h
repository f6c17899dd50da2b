// SPDX-License-Identifier: Apache-2.0
// How much each layer counts in the loss of gradient-based tuning, from Hessian scores. Source: MCT's GPTQ.
#pragma once

#include <span>
#include <vector>

namespace tersor::trainable {

/// Of each layer: its score's part of the sum over layers (to which 1e-8 is added), mean over the samples. `scores`: by
/// sample and layer. Error kInvalidArgument for no samples or layers, samples of unlike numbers of layers, or a score
/// that is negative or not finite.
std::vector<double> mean_hessian_scores(std::span<const std::vector<double>> scores);

/// What the logarithms of scores are made into so that the least is 0.
enum class LogScores {
  kOffset,  // the least taken away
  kScaled,  // and divided by the largest: 0 to 1
};

/// Decimal logarithms of mean scores, a score of 0 being replaced by the least above 0. Where all scores are alike, the
/// logarithms would leave nothing of the loss: each is 1 / the number of layers. Error kInvalidArgument for no layers,
/// or a score that is negative or not finite.
std::vector<double> layer_weights(std::span<const double> mean_scores, LogScores form);

}  // namespace tersor::trainable
