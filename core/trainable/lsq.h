// SPDX-License-Identifier: Apache-2.0
// Learned step size: a symmetric quantizer whose threshold is trained. Source: LSQ (Esser et al. 2020). With
// delta = threshold / 2^(n_bits - 1) (unsigned: 2^n_bits), n = x / delta:
//   y          = delta * (round half to even(n), within [q_min, q_max])
//   dy/dx      = 1 where the rounded n is within, else 0
//   dy/ddelta  = round(n) - n within, the end (q_min or q_max) beyond it
//   dy/dt      = dy/ddelta * gradient scale / 2^(n_bits - 1) (unsigned: 2^n_bits)
// Rounding lets the gradient pass, and the range does not. All in double.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/quant/params.h"

namespace tersor::trainable {

/// 1 / sqrt(q_max * count), which makes steps of a threshold as large as those of weights. `count`: of weights their
/// number, as in the paper; of activations that of the channels. Error kInvalidArgument below 1.
double lsq_gradient_scale(const quant::IntegerGrid& grid, int64_t count);

class LsqQuantizer {
 public:
  /// Error kInvalidArgument unless threshold and gradient scale are positive and finite and the bits 2 to 16.
  LsqQuantizer(double threshold, const quant::IntegerGrid& grid, double gradient_scale);

  double delta() const { return delta_; }
  double operator()(double x) const;

  /// Derivatives of y at one x.
  struct Slopes {
    double by_x = 0;
    double by_delta = 0;      // not scaled
    double by_threshold = 0;  // scaled
  };
  Slopes slopes(double x) const;

  /// Of a loss with these derivatives by y. Error kInvalidArgument for unlike sizes.
  struct Gradient {
    std::vector<double> by_x;
    double by_threshold = 0;  // summed in the order of x
  };
  Gradient gradient(std::span<const double> x, std::span<const double> by_output) const;

 private:
  quant::IntegerGrid grid_;
  double gradient_scale_, codes_, delta_;
};

}  // namespace tersor::trainable
