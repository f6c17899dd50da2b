// SPDX-License-Identifier: Apache-2.0
// Sums of a kernel's output over samples, for bias correction: of the values, of their squares, or of the function
// behind the kernel. The function matters because a Relu or Swish flattens most of some channels. The mean over all
// values would then shift the rest by errors that the function hides.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/base/byte_stream.h"
#include "core/calibrate/exact_sum.h"
#include "core/calibrate/statistics.h"
#include "core/decide/plan.h"
#include "core/graph/clamp_bounds.h"
#include "core/graph/graph.h"
#include "core/graph/uses.h"

namespace tersor::ptq {

/// Sums of the elements of each channel over samples. If there are two sums per channel, all the second ones follow the
/// first ones. Sums of parts add up.
struct ChannelSums {
  uint64_t elements = 0;  // of all channels together
  calibrate::ExactSums sums;

  static constexpr auto fields() { return members(&ChannelSums::elements, &ChannelSums::sums); }
  void add(const ChannelSums& more);
};

/// The function y = f(factor * x + offset) as straight lines between evenly spaced points.
struct Curve {
  ValueId to;  // the value of the float graph that holds y
  double low = 0, step = 1;
  std::vector<double> y;
  double steepest = 0;                   // the greatest absolute slope of f
  std::vector<double> factors, offsets;  // by channel
};

/// What add() sums of each element x; two members at most are set.
struct SummedOutput {
  int channel_axis = 1;
  bool keeps_deviation = false;             // sums x and x^2
  std::optional<ClampBounds> clamp = {};    // sums the clamped x, and counts the x within the bounds
  std::shared_ptr<const Curve> curve = {};  // sums y, and its slope at x

  bool has_function() const { return clamp || curve; }
  size_t per_channel() const { return keeps_deviation || has_function() ? 2 : 1; }
  /// Adds the elements of a tensor. `physical` is the shape as x lies in memory; its axis `axis` has the channels.
  /// Error kInvalidSamples for a sum that is not finite, or if the number of channels differs between samples.
  void add(std::span<const float> x, const Shape& physical, int axis, ChannelSums& sums) const;
};

/// For each value, the elementwise function that follows it in the float model, after a factor and an offset per
/// channel. Null if there is none, or if the statistics do not hold the result per channel.
std::vector<std::shared_ptr<const Curve>> curves_after(const Model& float_model, const Uses& uses,
                                                       const QuantizationPlan& plan,
                                                       const calibrate::Statistics& statistics,
                                                       std::span<const ValueId> values);

}  // namespace tersor::ptq
