// SPDX-License-Identifier: Apache-2.0
// Weights whose rounding, up or down, is learned. Source: AdaRound (Nagel et al. 2020). With gamma = -0.1, zeta = 1.1,
// w a weight, [q_min, q_max] the codes without their zero point:
//   h(alpha) = (zeta - gamma) * sigmoid(alpha) + gamma, within [0, 1]
//   training output = scale * (floor(w / scale) + h(alpha), within [q_min, q_max])
//   hard output     = scale * (floor(w / scale) + (1 where h(alpha) >= 0.5), within [q_min, q_max])
//   regularizer     = sum over weights of 1 - |2 h(alpha) - 1|^beta
// alpha starts where the training output is the weight itself, as far as the grid reaches.
#pragma once

#include <span>
#include <vector>

#include "core/quant/params.h"

namespace tersor::trainable {

/// The alpha at which h is `rest`, the part of w / scale above its floor, in [0, 1).
double soft_rounding_start(double rest);
/// h, and how it changes with alpha: 0 beyond the ends of [0, 1].
double soft_rounding(double alpha);
double soft_rounding_slope(double alpha);

/// The weights of one scale: a tensor's, or a channel's. All results are by weight, in their order.
class SoftRoundingQuantizer {
 public:
  /// SYMMETRIC and POWER_OF_TWO have the zero point 0 and the scale threshold / 2^(n_bits - 1); UNIFORM another. Error
  /// kInvalidArgument for a scale that is not positive and finite, or a weight that is not finite.
  SoftRoundingQuantizer(std::span<const double> weights, const quant::Step& step, const quant::IntegerGrid& grid);

  /// What is trained. The weights are not.
  std::vector<double>& alpha() { return alpha_; }
  const std::vector<double>& alpha() const { return alpha_; }
  std::vector<double> h() const;

  std::vector<double> training_output() const;
  /// By alpha, of a loss with these derivatives by the training output; the range lets all pass. Error kInvalidArgument
  /// for another number of them than of weights.
  std::vector<double> gradient(std::span<const double> by_output) const;
  std::vector<double> hard_output() const;

 private:
  double on_grid(size_t k, double up) const;

  double scale_, lowest_, highest_;
  std::vector<double> floor_, alpha_;
};

/// Sum of 1 - |2h - 1|^beta, and its derivative by each h. Error kInvalidArgument for an h outside [0, 1], or a beta
/// that is not above 0.
double rounding_regularizer(std::span<const double> h, double beta);
std::vector<double> rounding_regularizer_gradient(std::span<const double> h, double beta);

/// Over layers: sum of weight * regularizer / the largest weight; 0 where all weights are. Error kInvalidArgument for
/// no layers, unlike numbers, or a weight that is negative or not finite.
double weighted_regularizer(std::span<const double> of_layers, std::span<const double> layer_weights);

}  // namespace tersor::trainable
