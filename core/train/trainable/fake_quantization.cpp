// SPDX-License-Identifier: Apache-2.0
#include "core/trainable/fake_quantization.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/base/error.h"
#include "core/quant/bits.h"

namespace tersor::trainable {

FakeQuantization::FakeQuantization(const quant::Range& range, int n_bits, bool narrow_range) {
  if (!quant::is_number_of_bits(n_bits))
    throw Error(ErrorCode::kInvalidArgument, "Found " + std::to_string(n_bits) + " where 2 to 16 bits are expected.");
  const bool holds_zero = range.low <= 0 && range.high >= 0;  // false for NaN
  if (!holds_zero || !std::isfinite(range.high - range.low))
    throw Error(ErrorCode::kInvalidArgument, "Found the range " + std::to_string(range.low) + " to " +
                                                 std::to_string(range.high) +
                                                 " where a finite one that holds 0 is expected.");
  if (range.low == range.high) return;
  const double q_min = narrow_range ? 1 : 0, q_max = (1 << n_bits) - 1;
  scale_ = (range.high - range.low) / (q_max - q_min);
  const double zero_point = std::floor(std::clamp(q_min - range.low / scale_, q_min, q_max) + 0.5);
  nudged_ = {(q_min - zero_point) * scale_, (q_max - zero_point) * scale_};
}

double FakeQuantization::operator()(double x) const {
  if (scale_ == 0) return std::isnan(x) ? x : 0;
  return std::floor((std::clamp(x, nudged_.low, nudged_.high) - nudged_.low) / scale_ + 0.5) * scale_ + nudged_.low;
}

}  // namespace tersor::trainable
