// SPDX-License-Identifier: Apache-2.0
// The activation functions that LSTM, GRU and RNN name in their attribute `activations`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/ops/op.h"

namespace tersor::ops {

struct Activation {
  enum class Kind : uint8_t {
    kAffine,           // a x + b
    kElu,              // x, or a (exp(x) - 1) below 0
    kHardSigmoid,      // a x + b, cut to 0 ... 1
    kLeakyRelu,        // x, or a x below 0
    kRelu,             // x, or 0 below 0
    kScaledTanh,       // a tanh(b x)
    kSigmoid,          // 1 / (1 + exp(-x))
    kSoftplus,         // log(1 + exp(x))
    kSoftsign,         // x / (1 + |x|)
    kTanh,             // tanh(x)
    kThresholdedRelu,  // x above a, else 0
  };
  Kind kind = Kind::kTanh;
  float a = 0;
  float b = 0;

  /// x[k] = f(x[k]) for n elements.
  void apply(float* x, size_t n) const;
};

/// The functions of a node whose operator has `per_direction` of them for each of `directions`: its attribute
/// `activations`, or `otherwise` repeated where it has none. A function takes its parameters from activation_alpha and
/// activation_beta in the order of the functions that have one, and its operator's default where the list is short.
/// Error kInvalidModel for a wrong number or an unknown name.
std::vector<Activation> activations_of(const Setup& setup, int64_t directions,
                                       const std::vector<std::string_view>& otherwise);

}  // namespace tersor::ops
