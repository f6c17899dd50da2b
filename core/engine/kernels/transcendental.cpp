// SPDX-License-Identifier: Apache-2.0
#include "core/kernels/transcendental.h"

#include <algorithm>
#include <vector>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/transcendental.cpp"
#include <hwy/foreach_target.h>
// After foreach_target: these are read once per target.
#include "core/kernels/float_functions-inl.h"
#include "core/kernels/functions-inl.h"
#include "core/kernels/trigonometry-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tersor::kernels {
namespace HWY_NAMESPACE {

/// Calls body(from, to, values) for blocks of kBlock values, fewer at the end; the last goes by way of a padded copy,
/// so that a function's code exists once and not again for what is left over. x may be y.
template <size_t kBlock, class Body>
HWY_INLINE void InBlocks(const float* x, size_t n, float* y, Body body) {
  float rest[kBlock];
  for (size_t k = 0; k < n; k += kBlock) {
    const size_t left = n - k;
    const bool whole = left >= kBlock;
    if (!whole) std::fill(std::copy_n(x + k, left, rest), rest + kBlock, 0.0f);
    body(whole ? x + k : rest, whole ? y + k : rest, whole ? kBlock : left);
    if (!whole) std::copy_n(rest, left, y + k);
  }
}

/// Vectors of floats, two at a time.
template <class F>
HWY_INLINE void FloatLoop(const float* x, size_t n, float* y, const F& f) {
  const hn::ScalableTag<float> d;
  constexpr size_t lanes = hn::MaxLanes(d);
  InBlocks<2 * lanes>(x, n, y, [&](const float* from, float* to, size_t) HWY_ATTR {
    const auto first = f(d, hn::LoadU(d, from)), second = f(d, hn::LoadU(d, from + lanes));
    hn::StoreU(first, d, to);
    hn::StoreU(second, d, to + lanes);
  });
}

/// A function in two parts with exp between them, each step for a block at a time.
template <class F>
HWY_INLINE void ExpLoop(const float* x, size_t n, float* y, const F& f) {
  const hn::ScalableTag<float> d;
  const hn::RebindToSigned<decltype(d)> whole;
  InBlocks<kExpValues>(x, n, y, [&](const float* from, float* to, size_t values) HWY_ATTR {
    HWY_ALIGN float fractions[kExpValues];
    HWY_ALIGN int32_t biased[kExpValues];
    InPairs(values, [&](size_t k) HWY_ATTR {
      hn::Store(SplitExp(d, f.Argument(d, hn::LoadU(d, from + k)), biased + k), d, fractions + k);
    });
    SumExpSeries(fractions, values);
    InPairs(values, [&](size_t k) HWY_ATTR {
      const auto fraction = hn::Load(d, fractions + k);
      const auto exponent = hn::Load(whole, biased + k);
      const FloatExpParts<decltype(hn::Zero(d)), decltype(hn::Zero(whole))> e{fraction, exponent};
      hn::StoreU(f.Finish(d, hn::LoadU(d, from + k), e), d, to + k);
    });
  });
}

/// In double, as many values at a time as a compiler may make a vector of.
template <class F>
HWY_INLINE void Loop(const float* x, size_t n, float* y, const F& f) {
  constexpr size_t lanes = hn::MaxLanes(hn::ScalableTag<double>());
  InBlocks<lanes>(x, n, y, [&](const float* from, float* to, size_t) HWY_ATTR {
    float results[lanes];
    for (size_t lane = 0; lane < lanes; ++lane) results[lane] = static_cast<float>(f(from[lane]));
    std::copy_n(results, lanes, to);
  });
}

HWY_INLINE double Celu(double x, double a) {
  return x > 0 ? x : a * Expm1(x / a);
}

/// Infinities become what is infinite as a float, so that their product with a vanishing factor is 0.
HWY_INLINE double Factor(double x) {
  return Limit(x, 3.5e38);
}

HWY_INLINE double Mish(double x) {
  // tanh(log v) = (v^2 - 1) / (v^2 + 1) with v = 1 + e, which is e (e + 2) / (e (e + 2) + 2)
  const double e = Exp(x > 40 ? 40 : x), square = e * (e + 2);
  return Factor(x) * (square / (square + 2));
}

void Apply(Function function, const float* x, size_t n, float* y, float a, float b) {
  const double wide_a = a;
  switch (function) {
    case Function::kExp:
      return ExpLoop(x, n, y, ExpFunction());
    case Function::kLog:
      return Loop(x, n, y, [](double v) { return Log(v); });
    case Function::kSin:
      return Loop(x, n, y, [](float v) { return SineAhead(v, 0); });
    case Function::kCos:
      return Loop(x, n, y, [](float v) { return SineAhead(v, 1); });
    case Function::kTan:
      return Loop(x, n, y, [](float v) { return Tangent(v); });
    case Function::kAsin:
      return Loop(x, n, y, [](double v) { return Asin(v); });
    case Function::kAcos:
      return Loop(x, n, y, [](double v) { return Acos(v); });
    case Function::kAtan:
      return Loop(x, n, y, [](double v) { return Atan(v); });
    case Function::kSinh:
      return Loop(x, n, y, [](double v) { return Sinh(v); });
    case Function::kCosh:
      return Loop(x, n, y, [](double v) { return Cosh(v); });
    case Function::kTanh:
      return ExpLoop(x, n, y, TanhFunction());
    case Function::kAsinh:
      return Loop(x, n, y, [](double v) { return Asinh(v); });
    case Function::kAcosh:
      return Loop(x, n, y, [](double v) { return Acosh(v); });
    case Function::kAtanh:
      return Loop(x, n, y, [](double v) { return Atanh(v); });
    case Function::kErf:
      return ExpLoop(x, n, y, ErfFunction());
    case Function::kSigmoid:
      return ExpLoop(x, n, y, SigmoidFunction());
    case Function::kSigmoidGate:
      return ExpLoop(x, n, y, SigmoidGateFunction());
    case Function::kSoftplus:
      return Loop(x, n, y, [](double v) { return Softplus(v); });
    case Function::kElu:
      return ExpLoop(x, n, y, EluFunction{a, b});
    case Function::kCelu:
      return Loop(x, n, y, [=](double v) { return Celu(v, wide_a); });
    case Function::kGelu:
      return Loop(x, n, y, [](double v) { return 0.5 * Factor(v) * OnePlusErf(v * 0.7071067811865476); });
    case Function::kGeluTanh:
      return ExpLoop(x, n, y, GeluTanhFunction());
    case Function::kMish:
      return Loop(x, n, y, [](double v) { return Mish(v); });
    case Function::kSwish:
      return ExpLoop(x, n, y, SwishFunction{a});
    case Function::kHardSigmoid:
      return FloatLoop(x, n, y, [=](auto d, auto v) HWY_ATTR { return Unit(d, v, a, b); });
    case Function::kHardSwish:
      return FloatLoop(x, n, y, [=](auto d, auto v) HWY_ATTR { return hn::Mul(v, Unit(d, v, a, b)); });
    case Function::kLeakyRelu:
      return FloatLoop(x, n, y, [=](auto d, auto v) HWY_ATTR {
        return hn::IfThenElse(hn::Lt(v, hn::Zero(d)), hn::Mul(hn::Set(d, a), v), v);
      });
  }
}

/// IEEE 754's pow.
double Power(double base, double exponent) {
  if (exponent == 0 || base == 1) return 1;
  if (base != base || exponent != exponent) return kNan;
  const double m = Magnitude(base);
  const bool whole = std::floor(exponent) == exponent;
  const bool odd = whole && Magnitude(exponent) < 16777216 * 2.0 && std::floor(exponent / 2) * 2 != exponent;
  const bool negative = odd && BitsOf(base) >> 63 != 0;
  if (base < 0 && !whole && m < kInfinity) return kNan;
  double y;
  if (m == 1)
    y = 1;
  else if (m == 0 || !(m < kInfinity) || !(Magnitude(exponent) < kInfinity))
    y = (m > 1) == (exponent > 0) ? kInfinity : 0.0;
  else
    y = Exp(exponent * Log(m));
  return negative ? -y : y;
}

void PowerLoop(const float* base, bool base_moves, const float* exponent, bool exponent_moves, size_t n, float* y) {
  if (base_moves && !exponent_moves && *exponent == 2)
    return FloatLoop(base, n, y, [](auto, auto v) HWY_ATTR { return hn::Mul(v, v); });
  if (base_moves && !exponent_moves && *exponent == 3)
    return FloatLoop(base, n, y, [](auto, auto v) HWY_ATTR { return hn::Mul(hn::Mul(v, v), v); });
  for (size_t k = 0; k < n; ++k)
    y[k] = static_cast<float>(Power(base[base_moves ? k : 0], exponent[exponent_moves ? k : 0]));
}

/// In four sums that take turns, joined in pairs.
double SumOf(const float* x, size_t n) {
  double sums[4] = {};
  size_t k = 0;
  for (; k + 4 <= n; k += 4)
    for (size_t lane = 0; lane < 4; ++lane) sums[lane] += static_cast<double>(x[k + lane]);
  for (size_t lane = 0; k < n; ++k, ++lane) sums[lane] += static_cast<double>(x[k]);
  return (sums[0] + sums[2]) + (sums[1] + sums[3]);
}

/// A NaN is passed over, unless it is the first.
float LargestOf(const float* x, size_t n) {
  const hn::ScalableTag<float> d;
  HWY_ALIGN float lanes[HWY_MAX_BYTES / sizeof(float)];
  auto most = hn::Set(d, x[0]);
  size_t k = 0;
  for (; k + hn::Lanes(d) <= n; k += hn::Lanes(d)) {
    const auto v = hn::LoadU(d, x + k);
    most = hn::IfThenElse(hn::Gt(v, most), v, most);
  }
  hn::Store(most, d, lanes);
  float largest = lanes[0];
  for (size_t lane = 1; lane < hn::Lanes(d); ++lane) largest = lanes[lane] > largest ? lanes[lane] : largest;
  for (; k < n; ++k) largest = x[k] > largest ? x[k] : largest;
  return largest;
}

/// `work` is room for a line of exponentials; it may be y unless the logarithm is wanted.
void SoftmaxLine(const float* x, size_t length, bool logarithm, float* work, float* y) {
  const float most = LargestOf(x, length);
  ExpLoop(x, length, work, ExpOfDifference{most});
  const double sum = SumOf(work, length);
  if (logarithm) {
    const double shift = static_cast<double>(most) + Log(sum);
    Loop(x, length, y, [=](double v) { return v - shift; });
  } else {
    const auto divisor = static_cast<float>(sum);
    FloatLoop(work, length, y, [=](auto d, auto v) HWY_ATTR { return hn::Div(v, hn::Set(d, divisor)); });
  }
}

double Exponential(double x) {
  if (x > 709.782712893384) return kInfinity;
  if (x < -745.2) return 0;
  if (!(Magnitude(x) > 700)) return Exp(x);
  return x > 0 ? Exp(x - 64) * 6.235149080811617e27 : Exp(x + 64) * 1.603810890548638e-28;
}

double NaturalLogarithm(double x) {
  return x > 0 && x < 2.2250738585072014e-308 ? Log(x * 0x1p54) - 54 * 0.6931471805599453 : Log(x);
}

}  // namespace HWY_NAMESPACE
}  // namespace tersor::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tersor::kernels {

HWY_EXPORT(Apply);
HWY_EXPORT(PowerLoop);
HWY_EXPORT(SoftmaxLine);
HWY_EXPORT(Exponential);
HWY_EXPORT(NaturalLogarithm);

void apply(Function f, const float* x, size_t n, float* y, float a, float b) {
  HWY_DYNAMIC_DISPATCH(Apply)(f, x, n, y, a, b);
}

void power(const float* base, bool base_moves, const float* exponent, bool exponent_moves, size_t n, float* y) {
  // A single number may be where the results go: read it before they are written.
  const float first_base = n > 0 ? *base : 0, first_exponent = n > 0 ? *exponent : 0;
  HWY_DYNAMIC_DISPATCH(PowerLoop)
  (base_moves ? base : &first_base, base_moves, exponent_moves ? exponent : &first_exponent, exponent_moves, n, y);
}

void softmax(const float* x, size_t outer, size_t length, size_t inner, bool logarithm, float* y) {
  if (length == 0) return;
  std::vector<float> line(inner == 1 ? 0 : length), exponentials(logarithm ? length : 0);
  const auto one = [&](const float* from, float* to) {
    HWY_DYNAMIC_DISPATCH(SoftmaxLine)(from, length, logarithm, logarithm ? exponentials.data() : to, to);
  };
  for (size_t o = 0; o < outer; ++o)
    for (size_t i = 0; i < inner; ++i) {
      const size_t at = o * length * inner + i;
      if (inner == 1) {
        one(x + at, y + at);
        continue;
      }
      for (size_t k = 0; k < length; ++k) line[k] = x[at + k * inner];
      one(line.data(), line.data());
      for (size_t k = 0; k < length; ++k) y[at + k * inner] = line[k];
    }
}

double exponential(double x) {
  return HWY_DYNAMIC_DISPATCH(Exponential)(x);
}

double natural_logarithm(double x) {
  return HWY_DYNAMIC_DISPATCH(NaturalLogarithm)(x);
}

}  // namespace tersor::kernels
#endif
