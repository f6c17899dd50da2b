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
  return -natural_logarithm((kSoftZeta - kSoftGamma) / (rest - kSoftGamma) - 1);
}

double soft_rounding(double alpha) {
  return soft_rounding_of_sigmoid(sigmoid(alpha));
}

double soft_rounding_slope(double alpha) {
  return soft_rounding_slope_of_sigmoid(sigmoid(alpha));
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
