// SPDX-License-Identifier: Apache-2.0
// Between a trainable quantizer's config and its ranges: where they start, and what becomes of them.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/quant/params.h"
#include "core/tensor/shape.h"
#include "core/trainable/inferable_quantizers.h"
#include "core/trainable/quantizer_config.h"

namespace tersor::trainable {

struct FirstRanges {
  quant::IntegerGrid grid;           // weights are signed, UNIFORM is not
  std::optional<int> axis;           // of the channels, from the front
  std::vector<quant::Range> ranges;  // one, or one per channel
};

/// What the params say, and what the values say where they say nothing: the extremes of each channel. Error
/// kInvalidConfig for an axis that the shape does not have, another number of ranges than of channels, or neither
/// params nor values.
FirstRanges first_ranges(const TrainableQuantizerSettings& settings, std::span<const float> values, const Shape& shape,
                         const std::string& name);

/// The inferable quantizer of a grid and its ranges, which are of the form that the method has.
std::unique_ptr<InferableQuantizer> inferable_of(const TrainableQuantizerSettings& settings,
                                                 const quant::IntegerGrid& grid,
                                                 const std::vector<quant::Range>& ranges, const Shape& shape);

}  // namespace tersor::trainable
