// SPDX-License-Identifier: Apache-2.0
// Channel equalization. Where the channels of a tensor have unlike ranges, the quiet ones get few of the 256 steps. A
// region of the graph through which a factor per channel passes unchanged (Relu, pooling, Add, ...) and that begins and
// ends in Convs can be rescaled: the Convs that make it divide their rows by s_c, those that read it multiply their
// input channels by it, and the float function stays the same. (Nagel et al. 2019, arXiv:1906.04721, with our own choice of
// s_c: r_c^alpha, r_c being the channel's part of the tensor's range, and the alpha of least predicted noise.)
#pragma once

#include <string>
#include <vector>

#include "core/calibrate/statistics.h"
#include "core/graph/graph.h"
#include "core/ptq/placement.h"

namespace tersor::ptq {

struct EqualizedRegion {
  std::vector<ValueId> values;  // all tensors that are rescaled, ascending
  std::vector<double> scales;   // by channel: what the tensors are divided by
  double alpha = 0;
  /// Predicted noise power after over before, in all readers of the region.
  double noise_ratio = 1;
};

/// Rescales the weights in `model` and the statistics of the regions' tensors, region by region, where the predicted noise falls to
/// at most 0.8 of what it was. A rescaled tensor keeps its extremes; its histogram is lost: it says that half of all
/// elements lie at either end, so that a search for its range clips nothing.
std::vector<EqualizedRegion> equalize_channels(Model& model, const Placement& placement,
                                               calibrate::Statistics& statistics);

}  // namespace tersor::ptq
