// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "core/framework/quantize_config.h"
#include "core/quant/params.h"

namespace tersor::framework {

/// The range of a QuantizeConfig's quantizer as it follows batches (per_axis: one of these for each
/// channel). Source: the quantizers of TFMOT; shape_range() makes of two extremes a range.
///   LastValueQuantizer      range = shaped extremes of the batch
///   MovingAverageQuantizer  each end: v = v - (v - end of the batch's shaped range) * 0.001, from the start on
///   AllValuesQuantizer      range = shaped extremes of the range so far and the batch
///   FixedQuantizer          stays at init_min and init_max
class BatchRange {
 public:
  /// Starts at -6 and 6, AllValuesQuantizer at 0 and 0. Error kInvalidConfig for a FixedQuantizer without a range.
  explicit BatchRange(const LayerQuantizer& quantizer);
  /// Error kInvalidArgument for a range that is not finite or whose ends are in the wrong order.
  BatchRange(const LayerQuantizer& quantizer, const quant::Range& start);

  /// A batch's values. Error kInvalidSamples where it is empty or not finite.
  void see(std::span<const double> batch);
  /// The same of a batch's extremes.
  void see(double least, double most);
  /// What inference takes, unchanged.
  const quant::Range& range() const { return range_; }

 private:
  LayerQuantizer quantizer_;
  quant::Range range_;
};

}  // namespace tersor::framework
