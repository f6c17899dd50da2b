// SPDX-License-Identifier: Apache-2.0
#include "core/trainable/lsq.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/base/error.h"
#include "core/tensor/rounding.h"

namespace tersor::trainable {

double lsq_gradient_scale(const quant::IntegerGrid& grid, int64_t count) {
  if (count < 1)
    throw Error(ErrorCode::kInvalidArgument, "Found " + std::to_string(count) + " where 1 or more is expected.");
  return 1 / std::sqrt(grid.q_max() * static_cast<double>(count));
}

LsqQuantizer::LsqQuantizer(double threshold, const quant::IntegerGrid& grid, double gradient_scale)
    : grid_(grid),
      gradient_scale_(gradient_scale),
      codes_(std::ldexp(1.0, grid.n_bits - (grid.is_signed ? 1 : 0))),
      delta_(threshold / codes_) {
  const bool usable = threshold > 0 && gradient_scale > 0 && std::isfinite(threshold) && std::isfinite(gradient_scale);
  if (!usable || grid.n_bits < 2 || grid.n_bits > 16)
    throw Error(ErrorCode::kInvalidArgument, "Found the threshold " + std::to_string(threshold) +
                                                 ", the gradient scale " + std::to_string(gradient_scale) + " and " +
                                                 std::to_string(grid.n_bits) +
                                                 " bits where more than 0, more than 0 and 2 to 16 are expected.");
}

double LsqQuantizer::operator()(double x) const {
  const double low = grid_.q_min(), high = grid_.q_max();
  return delta_ * std::clamp(round_half_even(x / delta_), low, high);
}

LsqQuantizer::Slopes LsqQuantizer::slopes(double x) const {
  const double low = grid_.q_min(), high = grid_.q_max();
  const double n = x / delta_, rounded = round_half_even(n);
  const bool within = rounded >= low && rounded <= high;
  const double by_delta = within ? rounded - n : rounded < low ? low : high;
  return {within ? 1.0 : 0.0, by_delta, by_delta * gradient_scale_ / codes_};
}

LsqQuantizer::Gradient LsqQuantizer::gradient(std::span<const double> x, std::span<const double> by_output) const {
  if (x.size() != by_output.size())
    throw Error(ErrorCode::kInvalidArgument, "There are " + std::to_string(by_output.size()) + " derivatives for " +
                                                 std::to_string(x.size()) + " values.");
  Gradient gradient;
  for (size_t k = 0; k < x.size(); ++k) {
    if (!std::isfinite(x[k])) throw Error(ErrorCode::kInvalidArgument, "A value is not finite.");
    const Slopes at = slopes(x[k]);
    gradient.by_x.push_back(by_output[k] * at.by_x);
    gradient.by_threshold += by_output[k] * at.by_threshold;
  }
  return gradient;
}

}  // namespace tersor::trainable
