// SPDX-License-Identifier: Apache-2.0
#include "core/trainable/first_ranges.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/quant/even_steps.h"
#include "core/quant/quantizer.h"

namespace tersor::trainable {

using quant::QuantizationMethod;
using quant::Range;

namespace {

const char* params_place(const TrainableQuantizerSettings& settings) {
  return settings.target == QuantizationTarget::kWeights ? "weights_quantization_params"
                                                         : "activation_quantization_params";
}

std::optional<int> axis_of(const TrainableQuantizerSettings& settings, const Shape& shape, const std::string& name) {
  if (!settings.channels_axis) return std::nullopt;
  const int given = *settings.channels_axis, rank = shape.rank();
  if (given < -rank || given >= rank)
    throw Error(ErrorCode::kInvalidConfig,
                "The weight \"" + name + "\" of shape " + shape.text() + " has no axis " + std::to_string(given) + ".",
                "weights_channels_axis");
  return given < 0 ? given + rank : given;
}

double number(const PerChannel& numbers, size_t channel) {
  return numbers.values.size() == 1 ? numbers.values[0] : numbers.values[channel];
}

void check_count(const std::optional<PerChannel>& numbers, size_t channels, const char* place,
                 const std::string& name) {
  if (!numbers || numbers->values.size() == 1 || numbers->values.size() == channels) return;
  throw Error(ErrorCode::kInvalidConfig,
              "\"" + name + "\" has " + std::to_string(channels) + " channels and was given " +
                  std::to_string(numbers->values.size()) + " numbers.",
              place);
}

std::vector<Range> extremes(std::span<const float> values, const quant::ChannelBlocks& blocks) {
  std::vector<Range> ranges(blocks.channels);  // 0 is in all of them
  quant::for_each_element(blocks, [&](size_t i, size_t c) {
    ranges[c].low = std::min<double>(ranges[c].low, values[i]);
    ranges[c].high = std::max<double>(ranges[c].high, values[i]);
  });
  return ranges;
}

}  // namespace

FirstRanges first_ranges(const TrainableQuantizerSettings& settings, std::span<const float> values, const Shape& shape,
                         const std::string& name) {
  const TrainableQuantizationParams& params = settings.params;
  const bool is_weight = settings.target == QuantizationTarget::kWeights;
  const bool is_uniform = settings.method == QuantizationMethod::kUniform;
  FirstRanges first;
  first.axis = axis_of(settings, shape, name);
  quant::ChannelBlocks blocks = quant::channel_blocks(shape, first.axis);
  if (!is_weight) blocks = {1, 1, values.size()};
  for (const auto* one : {&params.threshold, &params.range_min})
    check_count(*one, blocks.channels, params_place(settings), name);
  const bool says_range = params.threshold || params.range_min;
  if (!says_range && values.empty())
    throw Error(ErrorCode::kInvalidConfig,
                "The quantizer of \"" + name + "\" has neither a " +
                    (is_uniform ? "range_min and range_max" : "threshold") + " nor values to take one from.",
                params_place(settings));
  const bool has_negative = std::any_of(values.begin(), values.end(), [](float x) { return x < 0; });
  const bool is_signed = is_weight || params.is_signed.value_or(values.empty() || has_negative);
  first.grid = {settings.n_bits, is_signed && !is_uniform, params.narrow_range && is_signed && !is_uniform};
  const quant::Quantizer& quantizer = quant::quantizer_of(settings.method);
  const std::vector<Range> seen = says_range ? std::vector<Range>(blocks.channels) : extremes(values, blocks);
  for (size_t c = 0; c < blocks.channels; ++c) {
    Range range = seen[c];
    if (params.threshold) range = {is_signed ? -number(*params.threshold, c) : 0, number(*params.threshold, c)};
    if (params.range_min) range = {number(*params.range_min, c), number(*params.range_max, c)};
    first.ranges.push_back(quantizer.cover(range.low, range.high, first.grid, settings.min_threshold));
  }
  return first;
}

std::unique_ptr<InferableQuantizer> inferable_of(const TrainableQuantizerSettings& settings,
                                                 const quant::IntegerGrid& grid, const std::vector<Range>& ranges,
                                                 const Shape& shape) {
  InferableQuantizerArguments arguments;
  arguments.num_bits = settings.n_bits;
  std::vector<double> lows, highs;
  for (const Range& range : ranges) lows.push_back(range.low), highs.push_back(range.high);
  const bool is_uniform = settings.method == QuantizationMethod::kUniform;
  if (is_uniform) {
    arguments.min_range = std::move(lows);
    arguments.max_range = std::move(highs);
  } else {
    arguments.threshold = std::move(highs);
  }
  if (settings.target == QuantizationTarget::kWeights) {
    arguments.per_channel = settings.channels_axis.has_value();
    arguments.channel_axis = settings.channels_axis;
    arguments.input_rank = std::max(shape.rank(), 1);
    if (grid.narrow) arguments.narrow_range = true;
  } else if (!is_uniform) {
    arguments.is_signed = grid.is_signed;
  }
  return std::make_unique<InferableQuantizer>(get_inferable_quantizer_class(settings.target, settings.method),
                                              std::move(arguments));
}

}  // namespace tersor::trainable
