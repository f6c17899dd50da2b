// SPDX-License-Identifier: Apache-2.0
#include "core/framework/batch_range.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"

namespace tersor::framework {

namespace {

using quant::Range;

constexpr double kDecay = 0.999;
constexpr double kStart = 6;

Range start_of(const LayerQuantizer& quantizer) {
  if (quantizer.source == RangeSource::kAllValues) return {0, 0};
  if (quantizer.source != RangeSource::kFixed) return {-kStart, kStart};
  if (!quantizer.init_min || !quantizer.init_max)
    throw Error(ErrorCode::kInvalidConfig, "A FixedQuantizer needs init_min and init_max.", "quantize_config");
  return {*quantizer.init_min, *quantizer.init_max};
}

}  // namespace

BatchRange::BatchRange(const LayerQuantizer& quantizer) : BatchRange(quantizer, start_of(quantizer)) {}

BatchRange::BatchRange(const LayerQuantizer& quantizer, const Range& start) : quantizer_(quantizer), range_(start) {
  if (!std::isfinite(start.low) || !std::isfinite(start.high) || start.low > start.high)
    throw Error(ErrorCode::kInvalidArgument, "A quantizer starts with two finite ends in their order.");
}

void BatchRange::see(std::span<const double> batch) {
  if (batch.empty()) throw Error(ErrorCode::kInvalidSamples, "A batch holds no values.");
  for (const double x : batch)
    if (!std::isfinite(x)) throw Error(ErrorCode::kInvalidSamples, "A value of a batch is not finite.");
  const auto [least, most] = std::minmax_element(batch.begin(), batch.end());
  see(*least, *most);
}

void BatchRange::see(double least, double most) {
  switch (quantizer_.source) {
    case RangeSource::kLastValue:
      range_ = shape_range(quantizer_, least, most);
      return;
    case RangeSource::kMovingAverage: {
      const Range shaped = shape_range(quantizer_, least, most);
      range_.low -= (range_.low - shaped.low) * (1 - kDecay);
      range_.high -= (range_.high - shaped.high) * (1 - kDecay);
      return;
    }
    case RangeSource::kAllValues:
      range_ = shape_range(quantizer_, std::min(range_.low, least), std::max(range_.high, most));
      return;
    case RangeSource::kFixed:
      return;
  }
}

}  // namespace tersor::framework
