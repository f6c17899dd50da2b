// SPDX-License-Identifier: Apache-2.0
// The functions that no standard defines to the last bit, with the same bits on every target: plain polynomials,
// multiplied and added apart. Exp, Tanh, Sigmoid, Erf, Elu, Gelu of tanh and Swish, in which networks spend their time,
// are evaluated in float, within 3 units in the last place of the true value (Gelu of tanh: 12, in its tail); the
// others in double and rounded once at the end, within 0.51 units. NaN gives NaN; infinities and edges of the domain
// give what IEEE 754 recommends.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tersor::kernels {

/// a and b are parameters of some of them.
enum class Function : uint8_t {
  kExp,
  kLog,
  kSin,
  kCos,
  kTan,
  kAsin,
  kAcos,
  kAtan,
  kSinh,
  kCosh,
  kTanh,
  kAsinh,
  kAcosh,
  kAtanh,
  kErf,
  kSigmoid,      // 1 / (1 + exp(-x))
  kSigmoidGate,  // x times kSigmoid of it: NaN for minus infinity
  kSoftplus,     // log(1 + exp(x))
  kElu,          // b x where x > 0, else b a (exp(x) - 1); Selu with its a and b
  kCelu,         // x where x > 0, else a (exp(x / a) - 1)
  kGelu,         // x (1 + erf(x / sqrt 2)) / 2
  kGeluTanh,     // x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2
  kMish,         // x tanh(log(1 + exp(x)))
  kSwish,        // x / (1 + exp(-a x)): 0 for minus infinity
  kHardSigmoid,  // a x + b, cut to 0 ... 1
  kHardSwish,    // x times kHardSigmoid of it
  kLeakyRelu,    // x, or a x below 0
};

/// y[k] = f(x[k]) for n elements; y may be x.
void apply(Function f, const float* x, size_t n, float* y, float a = 1, float b = 1);

/// y[k] = base[k or 0] to the power exponent[k or 0]; y may be either of them.
void power(const float* base, bool base_moves, const float* exponent, bool exponent_moves, size_t n, float* y);

/// Softmax, or its logarithm, of each of outer x inner lines of `length` elements that lie `inner` apart:
/// exp(x - max) / sum, each exponential a float, the sum of those in double in one order. y may be x.
void softmax(const float* x, size_t outer, size_t length, size_t inner, bool logarithm, float* y);

/// In double, within 2 units in the last place.
double exponential(double x);
double natural_logarithm(double x);

}  // namespace tersor::kernels
