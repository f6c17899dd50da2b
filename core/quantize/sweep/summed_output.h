// SPDX-License-Identifier: Apache-2.0
// What bias correction sums up of a kernel's output, over samples: the values, their squares, or what the function
// after the kernel makes of them. Most of a channel may lie where a Relu or a Swish forgets it, and a mean over all
// would move the rest by what happens there.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/calibrate/exact_sum.h"
#include "core/calibrate/statistics.h"
#include "core/graph/clamp_bounds.h"
#include "core/graph/graph.h"
#include "core/graph/uses.h"
#include "core/decide/plan.h"

namespace tersor::ptq {

/// Sums of the elements of each channel over samples; after them, where there are two for each, the second ones. Sums
/// of parts add up.
struct ChannelSums {
  uint64_t elements = 0;  // of all channels together
  calibrate::ExactSums sums;

  void add(const ChannelSums& more);
};

/// y = f(factor * x + offset), straight between points that lie evenly.
struct Curve {
  ValueId to;  // where y is in the float graph
  double low = 0, step = 1;
  std::vector<double> y;
  double steepest = 0;                   // slope of f, up or down
  std::vector<double> factors, offsets;  // by channel
};

struct SummedOutput {
  int channel_axis = 1;
  bool keeps_deviation = false;             // x and x^2
  std::optional<ClampBounds> clamp = {};    // what it makes of x, and how many x lie inside
  std::shared_ptr<const Curve> curve = {};  // y, and its slope there

  bool has_function() const { return clamp || curve; }
  size_t per_channel() const { return keeps_deviation || has_function() ? 2 : 1; }
  /// `physical`: the shape as x lies in memory, whose axis `axis` has the channels. Error kInvalidSamples for a sum
  /// that is not finite, and where the number of channels varies.
  void add(std::span<const float> x, const Shape& physical, int axis, ChannelSums& sums) const;
};

/// For each value the function that the float model makes of each of its elements, through a factor and a term by
/// channel, where the statistics hold what comes of it, by channel; else null.
std::vector<std::shared_ptr<const Curve>> curves_after(const Model& float_model, const Uses& uses,
                                                       const QuantizationPlan& plan,
                                                       const calibrate::Statistics& statistics,
                                                       std::span<const ValueId> values);

}  // namespace tersor::ptq
