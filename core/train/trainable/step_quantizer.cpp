// SPDX-License-Identifier: Apache-2.0
#include "core/trainable/step_quantizer.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/base/error.h"
#include "core/trainable/first_ranges.h"
#include "core/trainable/step_slopes.h"

namespace tersor::trainable {

namespace {

/// Values whose products are added up in float before they go into a double: few enough that nothing is lost.
constexpr size_t kBlock = 256, kLanes = 8;

/// In eight sums side by side, which every target can keep in vectors, and then these in their order.
double sum_of(float* values, size_t n) {
  for (size_t k = n; k % kLanes != 0; ++k) values[k] = 0;
  float lanes[kLanes] = {};
  for (size_t k = 0; k < n; k += kLanes)
    for (size_t l = 0; l < kLanes; ++l) lanes[l] += values[k + l];
  double sum = 0;
  for (const float lane : lanes) sum += lane;
  return sum;
}

}  // namespace

double lsq_gradient_scale(const quant::IntegerGrid& grid, int64_t count) {
  if (count < 1)
    throw Error(ErrorCode::kInvalidArgument, "Found " + std::to_string(count) + " where 1 or more is expected.");
  return 1 / std::sqrt(grid.q_max() * static_cast<double>(count));
}

void StepQuantizer::initialize(std::span<const float> values, const Shape& shape) {
  const FirstRanges first = first_ranges(settings(), values, shape, name());
  quantizer_ = &quant::quantizer_of(settings().method);
  grid_ = first.grid;
  axis_ = first.axis;
  blocks_ = quant::channel_blocks(shape, axis_);
  const bool is_trainable = rule_.trains_range && !freeze_quant_params();
  std::vector<float> lows, highs;
  for (const quant::Range& range : first.ranges) {
    lows.push_back(static_cast<float>(range.low));
    highs.push_back(static_cast<float>(range.high));
  }
  low_ = is_uniform() ? &add_variable("range_min", VariableGroup::QPARAMS, std::move(lows), is_trainable) : nullptr;
  high_ =
      &add_variable(is_uniform() ? "range_max" : "threshold", VariableGroup::QPARAMS, std::move(highs), is_trainable);
  steps_.resize(blocks_.channels);
  sums_.resize(blocks_.channels);
  gradient_scale_ = 1;
  if (!rule_.scales_gradient) return;
  const bool is_weight = settings().target == QuantizationTarget::kWeights;
  const int64_t sharing = is_weight ? static_cast<int64_t>(blocks_.outer * blocks_.inner)
                                    : shape.elements(std::min(1, shape.rank()), shape.rank());
  gradient_scale_ = lsq_gradient_scale(grid_, std::max<int64_t>(sharing, 1));
}

quant::Range StepQuantizer::range(size_t channel) const {
  const double least = settings().min_threshold, high = high_->value[channel];
  if (low_ == nullptr) {
    const double t = std::max(high, least);
    return quantizer_->cover(grid_.is_signed ? -t : 0, t, grid_, least);
  }
  const double low = low_->value[channel];
  const bool is_empty = low >= 0 && high <= 0;
  return quantizer_->cover(low, is_empty ? 2 * least : high, grid_, least);
}

const quant::EvenSteps& StepQuantizer::update_steps() {
  for (size_t c = 0; c < blocks_.channels; ++c) steps_.set(c, *quantizer_, range(c), grid_);
  return steps_;
}

quant::ChannelBlocks StepQuantizer::blocks_for(size_t values) const {
  // An activation's samples may be any number, and it has one range.
  return settings().target == QuantizationTarget::kWeights ? blocks_ : quant::ChannelBlocks{1, 1, values};
}

void StepQuantizer::quantize(std::span<const float> inputs, std::span<float> outputs, bool) {
  quant::fake_quantize(inputs, blocks_for(inputs.size()), update_steps(), outputs);
}

void StepQuantizer::differentiate(std::span<const float> inputs, std::span<const float> by_output,
                                  std::span<float> by_input) {
  const bool copies = rule_.range_passes && !by_input.empty();
  if (high_->is_trainable || !rule_.range_passes) {
    update_steps();
    sum_slopes(inputs, by_output, copies ? std::span<float>() : by_input);
    if (high_->is_trainable) add_to_variables();
  }
  if (copies && by_input.data() != by_output.data()) std::copy(by_output.begin(), by_output.end(), by_input.begin());
}

void StepQuantizer::sum_slopes(std::span<const float> inputs, std::span<const float> by_output,
                               std::span<float> by_input) {
  const quant::ChannelBlocks blocks = blocks_for(inputs.size());
  std::fill(sums_.begin(), sums_.end(), Sums{});
  const bool writes = !by_input.empty();
  if (blocks.inner == 1 && blocks.channels > 1) {  // each value has a neighbour of another channel
    quant::for_each_element(blocks, [&](size_t i, size_t c) {
      const auto at = step_slopes(inputs[i], steps_.scale[c], steps_.low[c], steps_.high[c]);
      const float g = by_output[i];
      sums_[c].rest += g * at.rest;
      sums_[c].below += g * at.below;
      sums_[c].above += g * at.above;
      if (writes) by_input[i] = g * at.within;
    });
    return;
  }
  float rest[kBlock], below[kBlock], above[kBlock], within[kBlock];
  for (size_t run = 0; run < blocks.outer * blocks.channels; ++run) {
    const size_t c = run % blocks.channels, end = (run + 1) * blocks.inner;
    const float scale = steps_.scale[c], low = steps_.low[c], high = steps_.high[c];
    for (size_t at = run * blocks.inner; at < end; at += kBlock) {
      const size_t n = std::min(kBlock, end - at);
      const float *const x = inputs.data() + at, *const g = by_output.data() + at;
      for (size_t k = 0; k < n; ++k) {
        const auto slopes = step_slopes(x[k], scale, low, high);
        rest[k] = g[k] * slopes.rest;
        below[k] = g[k] * slopes.below;
        above[k] = g[k] * slopes.above;
        within[k] = g[k] * slopes.within;
      }
      sums_[c].rest += sum_of(rest, n);
      sums_[c].below += sum_of(below, n);
      sums_[c].above += sum_of(above, n);
      if (writes) std::copy_n(within, n, by_input.data() + at);
    }
  }
}

void StepQuantizer::add_to_variables() {
  const double g = gradient_scale_, codes = grid_.q_max() - grid_.q_min();
  for (size_t c = 0; c < blocks_.channels; ++c) {
    const Sums& sums = sums_[c];
    const double high = high_->value[c];
    if (low_ != nullptr) {
      const double low = low_->value[c];
      const double by_low = g * (sums.below - sums.rest / codes), by_high = g * (sums.above + sums.rest / codes);
      if (!(low > 0 && by_low < 0)) low_->gradient[c] += static_cast<float>(by_low);
      if (!(high < 0 && by_high > 0)) high_->gradient[c] += static_cast<float>(by_high);
      continue;
    }
    const double t = std::max<double>(high, settings().min_threshold);
    const double by_scale = sums.rest + sums.below * steps_.low[c] + sums.above * steps_.high[c];
    const double by_t = g * by_scale * (steps_.scale[c] / t);  // the scale is t times a constant, or 2^k of t
    if (!(high < settings().min_threshold && by_t > 0)) high_->gradient[c] += static_cast<float>(by_t);
  }
}

std::unique_ptr<InferableQuantizer> StepQuantizer::to_inferable() const {
  std::vector<quant::Range> ranges;
  for (size_t c = 0; c < blocks_.channels; ++c) ranges.push_back(range(c));
  return inferable_of(settings(), grid_, ranges, shape());
}

}  // namespace tersor::trainable
