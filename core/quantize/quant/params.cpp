// SPDX-License-Identifier: Apache-2.0
#include "core/quant/params.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "core/base/error.h"
#include "core/quant/quantizer.h"
#include "core/quant/stored_step.h"

namespace tersor::quant {

namespace {

constexpr double kLeastScale = std::numeric_limits<float>::min();  // the smallest normal float32
constexpr double kMostScale = std::numeric_limits<float>::max();

void check_bits(const IntegerGrid& grid) {
  if (grid.n_bits < (grid.is_signed ? 2 : 1) || grid.n_bits > 16)
    throw Error(ErrorCode::kInvalidArgument, "A quantizer of " + std::to_string(grid.n_bits) +
                                                 " bits was asked for; 2 to 16 are possible, 1 without a sign.");
}

void append(QuantizationParams& params, const Quantizer& quantizer, const Range& range) {
  if (!std::isfinite(range.low) || !std::isfinite(range.high) || range.low > range.high)
    throw Error(ErrorCode::kInvalidArgument, "The range from " + std::to_string(range.low) + " to " +
                                                 std::to_string(range.high) + " cannot be quantized.");
  const StoredStep step = stored_step(quantizer, range, params.grid);
  params.scale.push_back(step.scale);
  params.zero_point.push_back(step.zero_point);
  params.range.push_back(range);
}

}  // namespace

StoredStep stored_step(const Quantizer& quantizer, const Range& range, const IntegerGrid& grid) {
  const Step step = quantizer.step_of(range, grid);
  if (!(step.scale > 0)) return {};
  const auto scale = static_cast<float>(std::clamp(step.scale, kLeastScale, kMostScale));
  return {scale, quantizer.zero_point_of(range, grid, scale)};
}

DType QuantizationParams::storage() const {
  if (grid.n_bits <= 8) return grid.is_signed ? DType::kInt8 : DType::kUint8;
  return grid.is_signed ? DType::kInt16 : DType::kUint16;
}

Range QuantizationParams::representable(size_t channel) const {
  const double step = scale[channel];
  return {(grid.q_min() - zero_point[channel]) * step, (grid.q_max() - zero_point[channel]) * step};
}

QuantizationParams params_of_ranges(QuantizationMethod method, const IntegerGrid& grid, std::span<const Range> ranges,
                                    std::optional<int> channel_axis) {
  check_bits(grid);
  TERSOR_CHECK(channel_axis.has_value() || ranges.size() == 1);
  QuantizationParams params{method, grid, channel_axis, {}, {}, {}};
  const Quantizer& quantizer = quantizer_of(method);
  for (const Range& range : ranges) append(params, quantizer, range);
  return params;
}

QuantizationParams fixed_params(QuantizationMethod method, const IntegerGrid& grid, double scale, int32_t zero_point) {
  check_bits(grid);
  if (!(scale >= kLeastScale && scale <= kMostScale))
    throw Error(ErrorCode::kInvalidArgument,
                "The fixed scale " + std::to_string(scale) + " is not a positive number that float32 holds in full.");
  if (zero_point < grid.q_min() || zero_point > grid.q_max())
    throw Error(ErrorCode::kInvalidArgument, "The fixed zero point " + std::to_string(zero_point) + " is outside " +
                                                 std::to_string(grid.q_min()) + " to " + std::to_string(grid.q_max()) +
                                                 ".");
  QuantizationParams params{method, grid, std::nullopt, {static_cast<float>(scale)}, {zero_point}, {Range{}}};
  params.range[0] = params.representable();
  return params;
}

QuantizationParams with_sign(QuantizationParams params, bool is_signed) {
  if (params.grid.is_signed == is_signed) return params;
  TERSOR_CHECK(!params.grid.narrow);
  const int32_t shift = 1 << (params.grid.n_bits - 1);
  params.grid.is_signed = is_signed;
  for (int32_t& zero_point : params.zero_point) zero_point += is_signed ? -shift : shift;
  return params;
}

}  // namespace tersor::quant
