// SPDX-License-Identifier: Apache-2.0
// Weights whose rounding, up or down, is learned. Source: AdaRound (Nagel et al. 2020). With gamma = -0.1, zeta = 1.1,
// w a weight, [low, high] the codes without their zero point:
//   h(alpha) = (zeta - gamma) * sigmoid(alpha) + gamma, within [0, 1]
//   training output = scale * (floor(w / scale) + h(alpha), within [low, high])
//   hard output     = scale * (floor(w / scale) + (1 where h(alpha) >= 0.5), within [low, high])
//   regularizer     = sum over weights of 1 - |2 h(alpha) - 1|^beta
// alpha starts where the training output is the weight itself, as far as the grid reaches. The range lets the gradient
// pass. The formulas are here; SoftRoundingWeightGPTQQuantizer (quantizers/quantizers.h) is what trains by them.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

namespace tersor::trainable {

inline constexpr double kSoftGamma = -0.1, kSoftZeta = 1.1;

/// h, and how it changes with alpha, of sigmoid(alpha): 0 beyond the ends of [0, 1], at which a weight on the grid
/// starts, and learns.
template <class T>
T soft_rounding_of_sigmoid(T s) {
  const T h = static_cast<T>(kSoftZeta - kSoftGamma) * s + static_cast<T>(kSoftGamma);
  return std::min(std::max(h, T(0)), T(1));
}
template <class T>
T soft_rounding_slope_of_sigmoid(T s) {
  constexpr T kMargin = sizeof(T) == 4 ? T(1e-6) : T(1e-12);  // what rounding makes of an end
  constexpr T kSpread = static_cast<T>(kSoftZeta - kSoftGamma);
  const T h = kSpread * s + static_cast<T>(kSoftGamma);
  return h < -kMargin || h > 1 + kMargin ? T(0) : kSpread * s * (1 - s);
}

/// scale * (floor + up, within [low, high]).
template <class T>
T soft_value(T floor, T up, T scale, T low, T high) {
  return scale * std::min(std::max(floor + up, low), high);
}

/// The alpha at which h is `rest`, the part of w / scale above its floor, in [0, 1).
double soft_rounding_start(double rest);
double soft_rounding(double alpha);
double soft_rounding_slope(double alpha);

/// Sum of 1 - |2h - 1|^beta, and its derivative by each h. Error kInvalidArgument for an h outside [0, 1], or a beta
/// that is not above 0.
double rounding_regularizer(std::span<const double> h, double beta);
std::vector<double> rounding_regularizer_gradient(std::span<const double> h, double beta);

/// Over layers: sum of weight * regularizer / the largest weight; 0 where all weights are. Error kInvalidArgument for
/// no layers, unlike numbers, or a weight that is negative or not finite.
double weighted_regularizer(std::span<const double> of_layers, std::span<const double> layer_weights);

}  // namespace tersor::trainable
