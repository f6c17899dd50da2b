// SPDX-License-Identifier: Apache-2.0
#include "core/kernels/transcendental.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "core/base/digest.h"
#include "tests/kernels/targets.h"

using namespace tersor::kernels;
using tersor::test::on_every_target;

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

struct Case {
  const char* name;
  Function function;
  double (*truth)(double);
  double least, most;   // where it is compared with the truth
  double units = 0.51;  // in the last place
};

double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}
double gelu(double x) {
  return 0.5 * x * std::erfc(-x * std::sqrt(0.5));
}
double gelu_tanh(double x) {
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x)));
}
double softplus(double x) {
  return std::log1p(std::exp(x));
}
double mish(double x) {
  return x * std::tanh(softplus(x));
}
double swish(double x) {
  return x * sigmoid(x);
}
double elu(double x) {
  return x > 0 ? x : std::expm1(x);
}

const Case kCases[] = {
    {"exp", Function::kExp, [](double x) { return std::exp(x); }, -110, 90, 3},
    {"log", Function::kLog, [](double x) { return std::log(x); }, 0, 3.4e38},
    {"sin", Function::kSin, [](double x) { return std::sin(x); }, -3.4e38, 3.4e38},
    {"cos", Function::kCos, [](double x) { return std::cos(x); }, -3.4e38, 3.4e38},
    {"tan", Function::kTan, [](double x) { return std::tan(x); }, -3.4e38, 3.4e38},
    {"asin", Function::kAsin, [](double x) { return std::asin(x); }, -1, 1},
    {"acos", Function::kAcos, [](double x) { return std::acos(x); }, -1, 1},
    {"atan", Function::kAtan, [](double x) { return std::atan(x); }, -3.4e38, 3.4e38},
    {"sinh", Function::kSinh, [](double x) { return std::sinh(x); }, -95, 95},
    {"cosh", Function::kCosh, [](double x) { return std::cosh(x); }, -95, 95},
    {"tanh", Function::kTanh, [](double x) { return std::tanh(x); }, -30, 30, 3},
    {"asinh", Function::kAsinh, [](double x) { return std::asinh(x); }, -3.4e38, 3.4e38},
    {"acosh", Function::kAcosh, [](double x) { return std::acosh(x); }, 1, 3.4e38},
    {"atanh", Function::kAtanh, [](double x) { return std::atanh(x); }, -1, 1},
    {"erf", Function::kErf, [](double x) { return std::erf(x); }, -20, 20, 3},
    {"sigmoid", Function::kSigmoid, sigmoid, -87, 110, 3},
    {"softplus", Function::kSoftplus, softplus, -110, 80},
    {"elu", Function::kElu, elu, -110, 80, 3},
    {"celu", Function::kCelu, elu, -110, 80},
    {"gelu", Function::kGelu, gelu, -14, 80},
    {"gelu of tanh", Function::kGeluTanh, gelu_tanh, -3, 80, 12},
    {"mish", Function::kMish, mish, -80, 80},
    {"swish", Function::kSwish, swish, -80, 80, 3},
};

/// Floats of every size between two bounds, tiny ones and both zeros included.
std::vector<float> arguments(double least, double most) {
  std::vector<float> values{0.0f, -0.0f, 1.0f, -1.0f, 1e-45f, -1e-38f};
  uint32_t state = 12345;
  const auto next = [&] {
    state = state * 1664525u + 1013904223u;
    return state;
  };
  for (int k = 0; k < 20000; ++k) {
    const uint32_t bits = (next() >> 8) << 24 | next() >> 8;
    float any;
    std::memcpy(&any, &bits, sizeof(any));
    values.push_back(any);
    const double unit = static_cast<double>(next()) / 4294967296.0;
    values.push_back(static_cast<float>(least + (most - least) * unit));
    values.push_back(static_cast<float>((unit - 0.5) * 20));
  }
  std::vector<float> inside;
  for (float value : values)
    if (static_cast<double>(value) >= least && static_cast<double>(value) <= most) inside.push_back(value);
  return inside;
}

double unit_in_last_place(double y) {
  const int exponent = y == 0 ? -149 : std::max(std::ilogb(y) - 23, -149);
  return std::ldexp(1.0, exponent);
}

}  // namespace

TEST_CASE("every function is as near the truth as said, with equal bits on every target") {
  for (const Case& one : kCases) {
    const auto x = arguments(one.least, one.most);
    std::vector<float> wanted;
    on_every_target([&] {
      std::vector<float> y(x.size());
      apply(one.function, x.data(), x.size(), y.data());
      if (wanted.empty()) wanted = y;
      REQUIRE(std::memcmp(y.data(), wanted.data(), y.size() * sizeof(float)) == 0);
    });
    double worst = 0;
    float at = 0;
    for (size_t k = 0; k < x.size(); ++k) {
      const double truth = one.truth(static_cast<double>(x[k]));
      if (std::fabs(truth) > 3.4e38) continue;
      const double error = std::fabs(static_cast<double>(wanted[k]) - truth) / unit_in_last_place(truth);
      if (!(error <= worst)) worst = error, at = x[k];
    }
    CAPTURE(one.name, at, worst);
    CHECK(worst <= one.units);
  }
}

TEST_CASE("edges of the domains") {
  const auto of = [](Function f, float x) {
    apply(f, &x, 1, &x);
    return x;
  };
  REQUIRE(of(Function::kExp, kInf) == kInf);
  REQUIRE(of(Function::kExp, -kInf) == 0);
  REQUIRE(of(Function::kExp, 89) == kInf);
  REQUIRE(of(Function::kLog, 0) == -kInf);
  REQUIRE(of(Function::kLog, kInf) == kInf);
  REQUIRE(std::isnan(of(Function::kLog, -1)));
  REQUIRE(of(Function::kTanh, -kInf) == -1);
  REQUIRE(of(Function::kErf, kInf) == 1);
  REQUIRE(of(Function::kAtan, kInf) == 1.57079637f);
  REQUIRE(of(Function::kAsin, 1) == 1.57079637f);
  REQUIRE(of(Function::kAcos, -1) == 3.14159274f);
  REQUIRE(std::isnan(of(Function::kAsin, 1.5f)));
  REQUIRE(std::isnan(of(Function::kSin, kInf)));
  REQUIRE(of(Function::kAsinh, -kInf) == -kInf);
  REQUIRE(of(Function::kAcosh, kInf) == kInf);
  REQUIRE(of(Function::kAtanh, 1) == kInf);
  REQUIRE(of(Function::kSoftplus, -kInf) == 0);
  REQUIRE(of(Function::kSoftplus, kInf) == kInf);
  REQUIRE(of(Function::kElu, -kInf) == -1);
  for (Function f : {Function::kGelu, Function::kGeluTanh, Function::kMish, Function::kSwish}) {
    REQUIRE(of(f, -kInf) == 0);
    REQUIRE(of(f, kInf) == kInf);
  }
  for (const Case& one : kCases) REQUIRE(std::isnan(of(one.function, std::nanf(""))));
  for (Function f : {Function::kSin, Function::kTan, Function::kAsin, Function::kAtan, Function::kSinh, Function::kTanh,
                     Function::kAsinh, Function::kAtanh, Function::kErf})
    REQUIRE(std::signbit(of(f, -0.0f)));
}

TEST_CASE("powers, whole exponents of negative numbers and IEEE's edges included") {
  const float bases[] = {0.0f, -0.0f, 1, -1, 2, 3, -3, 0.5f, 10, 1e-20f, -7.5f, 1e30f, kInf, -kInf, std::nanf("")};
  const float exponents[] = {0.0f, 1, -1, 2, 3, -3, 0.5f, -0.5f, 2.5f, 13, 1e9f, 16777215, kInf, -kInf, std::nanf("")};
  for (float base : bases)
    for (float exponent : exponents) {
      const double truth = std::pow(static_cast<double>(base), static_cast<double>(exponent));
      float y = 0;
      on_every_target([&] { power(&base, false, &exponent, false, 1, &y); });
      CAPTURE(base, exponent, truth, y);
      if (std::isnan(truth)) {
        REQUIRE(std::isnan(y));
      } else if (std::fabs(truth) > 3.5e38) {
        REQUIRE(y == (truth > 0 ? kInf : -kInf));
      } else {
        REQUIRE(std::fabs(static_cast<double>(y) - truth) <= 0.51 * unit_in_last_place(truth));
        REQUIRE(std::signbit(y) == std::signbit(truth));
      }
    }
  float together[3] = {2, 3, 4};
  power(together, true, together, false, 3, together);  // the exponent is the first base, as it was
  REQUIRE(std::vector<float>(together, together + 3) == std::vector<float>{4, 9, 16});
}

TEST_CASE("softmax along any axis is exp over the sum") {
  const size_t outer = 2, length = 7, inner = 3;
  std::vector<float> x(outer * length * inner);
  for (size_t k = 0; k < x.size(); ++k) x[k] = static_cast<float>((k * 37) % 23) - 8.0f;
  std::vector<float> kept;
  on_every_target([&] {
    for (bool logarithm : {false, true}) {
      std::vector<float> y(x.size());
      softmax(x.data(), outer, length, inner, logarithm, y.data());
      for (size_t o = 0; o < outer; ++o)
        for (size_t i = 0; i < inner; ++i) {
          double sum = 0;
          for (size_t k = 0; k < length; ++k) sum += std::exp(static_cast<double>(x[(o * length + k) * inner + i]));
          for (size_t k = 0; k < length; ++k) {
            const size_t at = (o * length + k) * inner + i;
            const double p = std::exp(static_cast<double>(x[at])) / sum;
            REQUIRE(static_cast<double>(y[at]) ==
                    Approx(logarithm ? std::log(p) : p).epsilon(logarithm ? 1e-6 : 2e-7).margin(1e-30));
          }
        }
      if (!logarithm && kept.empty()) kept = y;
      if (!logarithm) REQUIRE(y == kept);
    }
  });
}

TEST_CASE("exp and log in double") {
  for (double x : {-744.0, -708.5, -3.25, -1e-9, 0.0, 0.1, 1.0, 20.0, 708.9, 709.7})
    REQUIRE(exponential(x) == Approx(std::exp(x)).epsilon(4e-16));
  for (double x : {5e-324, 1e-310, 1e-300, 0.3, 0.999999, 1.0, 1.5, 1e10, 1e300})
    REQUIRE(natural_logarithm(x) == Approx(std::log(x)).epsilon(4e-16));
  REQUIRE(exponential(1000) == std::numeric_limits<double>::infinity());
  REQUIRE(exponential(-1000) == 0);
}

TEST_CASE("the functions' bits are those of every other build") {
  tersor::Sha256 sha;
  for (const Case& one : kCases) {
    const auto x = arguments(one.least, one.most);
    std::vector<float> y(x.size());
    apply(one.function, x.data(), x.size(), y.data());
    sha.update({reinterpret_cast<const std::byte*>(y.data()), y.size() * sizeof(float)});
  }
  REQUIRE(sha.hex() == "ff17d541761fe9a0d92c777db83ec9030973e4524bc6914e5eb0e7ada9be014e");
}
