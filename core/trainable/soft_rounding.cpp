// SPDX-License-Identifier: Apache-2.0
#include "core/trainable/soft_rounding.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/base/error.h"
#include "core/kernels/transcendental.h"

namespace tersor::trainable {

namespace {

using kernels::exponential;
using kernels::natural_logarithm;

constexpr double kGamma = -0.1, kZeta = 1.1;
constexpr double kRounding = 1e-12;  // alpha of a weight on the grid starts at the end of h's range, and learns

double sigmoid(double x) {
  return 1 / (1 + exponential(-x));
}

/// x^p of x in [0, 1].
double power(double x, double p) {
  return x == 0 ? 0 : exponential(p * natural_logarithm(x));
}

void check(std::span<const double> h, double beta) {
  if (!(beta > 0) || !std::isfinite(beta))
    throw Error(ErrorCode::kInvalidArgument,
                "Found the beta " + std::to_string(beta) + " where more than 0 is expected.");
  for (const double one : h)
    if (!(one >= 0 && one <= 1))
      throw Error(ErrorCode::kInvalidArgument, "Found the h " + std::to_string(one) + " where 0 to 1 is expected.");
}

}  // namespace

double soft_rounding_start(double rest) {
  return -natural_logarithm((kZeta - kGamma) / (rest - kGamma) - 1);
}

double soft_rounding(double alpha) {
  return std::clamp((kZeta - kGamma) * sigmoid(alpha) + kGamma, 0.0, 1.0);
}

double soft_rounding_slope(double alpha) {
  const double s = sigmoid(alpha), h = (kZeta - kGamma) * s + kGamma;
  return h < -kRounding || h > 1 + kRounding ? 0 : (kZeta - kGamma) * s * (1 - s);
}

SoftRoundingQuantizer::SoftRoundingQuantizer(std::span<const double> weights, const quant::Step& step,
                                             const quant::IntegerGrid& grid)
    : scale_(step.scale), lowest_(grid.q_min() - step.zero_point), highest_(grid.q_max() - step.zero_point) {
  if (!(scale_ > 0) || !std::isfinite(scale_))
    throw Error(ErrorCode::kInvalidArgument,
                "Found the scale " + std::to_string(scale_) + " where more than 0 is expected.");
  for (const double w : weights) {
    if (!std::isfinite(w)) throw Error(ErrorCode::kInvalidArgument, "A weight is not finite.");
    const double within = std::clamp(w / scale_, lowest_, highest_);
    floor_.push_back(std::floor(w / scale_));
    alpha_.push_back(soft_rounding_start(within - std::floor(within)));
  }
}

double SoftRoundingQuantizer::on_grid(size_t k, double up) const {
  return scale_ * std::clamp(floor_[k] + up, lowest_, highest_);
}

std::vector<double> SoftRoundingQuantizer::h() const {
  std::vector<double> all;
  for (const double alpha : alpha_) all.push_back(soft_rounding(alpha));
  return all;
}

std::vector<double> SoftRoundingQuantizer::training_output() const {
  std::vector<double> output;
  for (size_t k = 0; k < alpha_.size(); ++k) output.push_back(on_grid(k, soft_rounding(alpha_[k])));
  return output;
}

std::vector<double> SoftRoundingQuantizer::gradient(std::span<const double> by_output) const {
  if (by_output.size() != alpha_.size())
    throw Error(ErrorCode::kInvalidArgument, "There are " + std::to_string(by_output.size()) + " derivatives for " +
                                                 std::to_string(alpha_.size()) + " weights.");
  std::vector<double> by_alpha;
  for (size_t k = 0; k < alpha_.size(); ++k) by_alpha.push_back(by_output[k] * scale_ * soft_rounding_slope(alpha_[k]));
  return by_alpha;
}

std::vector<double> SoftRoundingQuantizer::hard_output() const {
  std::vector<double> output;
  for (size_t k = 0; k < alpha_.size(); ++k) output.push_back(on_grid(k, soft_rounding(alpha_[k]) >= 0.5 ? 1 : 0));
  return output;
}

double rounding_regularizer(std::span<const double> h, double beta) {
  check(h, beta);
  double sum = 0;
  for (const double one : h) sum += 1 - power(std::fabs(2 * one - 1), beta);
  return sum;
}

std::vector<double> rounding_regularizer_gradient(std::span<const double> h, double beta) {
  check(h, beta);
  std::vector<double> by_h;
  for (const double one : h) {
    const double x = 2 * one - 1, size = std::fabs(x);
    by_h.push_back(size == 0 ? 0 : -2 * beta * std::copysign(power(size, beta) / size, x));
  }
  return by_h;
}

double weighted_regularizer(std::span<const double> of_layers, std::span<const double> layer_weights) {
  if (of_layers.empty() || of_layers.size() != layer_weights.size())
    throw Error(ErrorCode::kInvalidArgument, "There are " + std::to_string(of_layers.size()) + " layers and " +
                                                 std::to_string(layer_weights.size()) + " weights of layers.");
  double sum = 0, most = 0;
  for (size_t l = 0; l < of_layers.size(); ++l) {
    if (!(layer_weights[l] >= 0) || !std::isfinite(layer_weights[l]))
      throw Error(ErrorCode::kInvalidArgument, "The weight of a layer is negative or not finite.");
    sum += layer_weights[l] * of_layers[l];
    most = std::max(most, layer_weights[l]);
  }
  return most > 0 ? sum / most : 0;
}

}  // namespace tersor::trainable
