// SPDX-License-Identifier: Apache-2.0
// Operators of one input, element by element: dL by x is dL by y times the slope, which follows from x or from y.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/gradient/kernel.h"
#include "core/graph/attribute_defaults.h"
#include "core/kernels/transcendental.h"
#include "core/ops/broadcast.h"
#include "core/ops/refuse.h"

namespace tersor::gradient {

namespace {

/// Numbers from the node's attributes.
struct Parameters {
  float a = 0, b = 0;
};

constexpr size_t kChunk = 256;

/// dx[k] = dy[k] times the slope at v[k], for n elements, kChunk at most.
using Slope = void (*)(const float* v, const float* dy, size_t n, const Parameters& p, float* dx);

template <class F>
void each(const float* v, const float* dy, size_t n, const Parameters& p, float* dx) {
  // Eight at a time by way of copies: dx may be dy, which loops that vectorize do not take.
  constexpr size_t kLanes = 8;
  size_t k = 0;
  for (; k + kLanes <= n; k += kLanes) {
    float at[kLanes], by[kLanes];
    std::copy_n(v + k, kLanes, at);
    std::copy_n(dy + k, kLanes, by);
    for (size_t i = 0; i < kLanes; ++i) by[i] *= F::of(at[i], p);
    std::copy_n(by, kLanes, dx + k);
  }
  for (; k < n; ++k) dx[k] = dy[k] * F::of(v[k], p);
}

// By y.
struct Relu {
  static float of(float y, const Parameters&) { return y > 0 ? 1.0f : 0.0f; }
};
struct Clip {
  static float of(float y, const Parameters& p) { return ((y > p.a) & (y < p.b)) ? 1.0f : 0.0f; }
};
struct Sigmoid {
  static float of(float y, const Parameters&) { return y * (1 - y); }
};
struct Tanh {
  static float of(float y, const Parameters&) { return 1 - y * y; }
};
struct Exp {
  static float of(float y, const Parameters&) { return y; }
};
struct Sqrt {
  static float of(float y, const Parameters&) { return y > 0 ? 0.5f / y : 0.0f; }
};
struct Reciprocal {
  static float of(float y, const Parameters&) { return -(y * y); }
};
/// a (exp(x) - 1) below 0, where y + a is the slope; Selu with its factor b.
struct Elu {
  static float of(float y, const Parameters& p) { return y > 0 ? p.b : y + p.a * p.b; }
};
struct Celu {
  static float of(float y, const Parameters& p) { return y > 0 ? 1.0f : y / p.a + 1; }
};
// By x.
struct Neg {
  static float of(float, const Parameters&) { return -1; }
};
struct Abs {
  static float of(float x, const Parameters&) { return x > 0 ? 1.0f : x < 0 ? -1.0f : 0.0f; }
};
struct Log {
  static float of(float x, const Parameters&) { return 1 / x; }
};
struct LeakyRelu {
  static float of(float x, const Parameters& p) { return x > 0 ? 1.0f : p.a; }
};
struct ThresholdedRelu {
  static float of(float x, const Parameters& p) { return x > p.a ? 1.0f : 0.0f; }
};
struct HardSigmoid {
  static float of(float x, const Parameters& p) {
    const float y = p.a * x + p.b;
    return y > 0 && y < 1 ? p.a : 0.0f;
  }
};
/// x times HardSigmoid of it.
struct HardSwish {
  static float of(float x, const Parameters& p) {
    const float y = p.a * x + p.b;
    return y <= 0 ? 0.0f : y >= 1 ? 1.0f : 2 * p.a * x + p.b;
  }
};
struct Softsign {
  static float of(float x, const Parameters&) {
    const float whole = 1 + std::fabs(x);
    return 1 / (whole * whole);
  }
};

void softplus(const float* x, const float* dy, size_t n, const Parameters&, float* dx) {
  float sigmoid[kChunk] = {};
  kernels::apply(kernels::Function::kSigmoid, x, n, sigmoid);
  for (size_t k = 0; k < n; ++k) dx[k] = dy[k] * sigmoid[k];
}
/// x / (1 + exp(-a x)).
void swish(const float* x, const float* dy, size_t n, const Parameters& p, float* dx) {
  float sigmoid[kChunk] = {};
  for (size_t k = 0; k < n; ++k) sigmoid[k] = p.a * x[k];
  kernels::apply(kernels::Function::kSigmoid, sigmoid, n, sigmoid);
  for (size_t k = 0; k < n; ++k) dx[k] = dy[k] * (sigmoid[k] + p.a * x[k] * sigmoid[k] * (1 - sigmoid[k]));
}
/// x tanh(softplus(x)).
void mish(const float* x, const float* dy, size_t n, const Parameters&, float* dx) {
  float sigmoid[kChunk] = {}, inner[kChunk] = {};
  kernels::apply(kernels::Function::kSigmoid, x, n, sigmoid);
  kernels::apply(kernels::Function::kSoftplus, x, n, inner);
  kernels::apply(kernels::Function::kTanh, inner, n, inner);
  for (size_t k = 0; k < n; ++k) dx[k] = dy[k] * (inner[k] + x[k] * sigmoid[k] * (1 - inner[k] * inner[k]));
}
/// 2 / sqrt(pi) exp(-x^2).
void erf(const float* x, const float* dy, size_t n, const Parameters&, float* dx) {
  float bell[kChunk] = {};
  for (size_t k = 0; k < n; ++k) bell[k] = -(x[k] * x[k]);
  kernels::apply(kernels::Function::kExp, bell, n, bell);
  for (size_t k = 0; k < n; ++k) dx[k] = dy[k] * (1.1283791670955126f * bell[k]);
}
/// (1 + erf(x / sqrt 2)) / 2 + x exp(-x^2 / 2) / sqrt(2 pi).
void gelu(const float* x, const float* dy, size_t n, const Parameters&, float* dx) {
  float part[kChunk] = {}, bell[kChunk] = {};
  for (size_t k = 0; k < n; ++k) {
    part[k] = x[k] * 0.70710678118654752f;
    bell[k] = -(part[k] * part[k]);
  }
  kernels::apply(kernels::Function::kErf, part, n, part);
  kernels::apply(kernels::Function::kExp, bell, n, bell);
  for (size_t k = 0; k < n; ++k) dx[k] = dy[k] * (0.5f * (1 + part[k]) + x[k] * (0.39894228040143268f * bell[k]));
}
/// Of x (1 + tanh(u)) / 2 with u = sqrt(2 / pi) (x + 0.044715 x^3).
void gelu_tanh(const float* x, const float* dy, size_t n, const Parameters&, float* dx) {
  constexpr float kRoot = 0.79788456080286536f, kCubic = 0.044715f;
  float t[kChunk] = {};
  for (size_t k = 0; k < n; ++k) t[k] = kRoot * (x[k] + kCubic * x[k] * x[k] * x[k]);
  kernels::apply(kernels::Function::kTanh, t, n, t);
  for (size_t k = 0; k < n; ++k) {
    const float du = kRoot * (1 + 3 * kCubic * x[k] * x[k]);
    dx[k] = dy[k] * (0.5f * (1 + t[k]) + 0.5f * x[k] * (1 - t[k] * t[k]) * du);
  }
}

struct Entry {
  std::string_view name;
  Slope slope;
};
constexpr Entry kSlopes[] = {
    {"Relu", each<Relu>},
    {"Clip", each<Clip>},
    {"Sigmoid", each<Sigmoid>},
    {"Tanh", each<Tanh>},
    {"Exp", each<Exp>},
    {"Sqrt", each<Sqrt>},
    {"Reciprocal", each<Reciprocal>},
    {"Elu", each<Elu>},
    {"Celu", each<Celu>},
    {"Neg", each<Neg>},
    {"Abs", each<Abs>},
    {"Log", each<Log>},
    {"LeakyRelu", each<LeakyRelu>},
    {"ThresholdedRelu", each<ThresholdedRelu>},
    {"HardSigmoid", each<HardSigmoid>},
    {"HardSwish", each<HardSwish>},
    {"Softsign", each<Softsign>},
    {"Softplus", softplus},
    {"Swish", swish},
    {"Mish", mish},
    {"Erf", erf},
    {"Gelu", gelu},
    {"GeluTanh", gelu_tanh},
};

/// Slope(v, dy): attributes function, a, b.
class SlopeKernel : public ops::Kernel {
 public:
  explicit SlopeKernel(ops::Setup& setup) : parameters_{setup.node.float_or("a", 0), setup.node.float_or("b", 0)} {
    const std::string name = setup.node.string_or("function", "");
    for (const Entry& entry : kSlopes)
      if (entry.name == name) slope_ = entry.slope;
    if (slope_ == nullptr) ops::invalid("There is no slope of \"" + name + "\".");
  }
  std::vector<ops::Form> forms(std::span<const ops::Input> inputs) const override {
    return ops::elementwise_forms(inputs);
  }
  std::vector<ops::TensorType> infer(std::span<const ops::Input> inputs) const override {
    return {ops::broadcast_type(inputs, DType::kFloat32)};
  }
  bool overwrites(size_t k, std::span<const ops::Input>, std::span<const ops::TensorType>) const override {
    return k == 1;
  }
  void run(const ops::Call& call) const override {
    const float *v = call.inputs[0].values<float>().data(), *dy = call.inputs[1].values<float>().data();
    float* dx = call.outputs[0].values<float>().data();
    const auto n = static_cast<size_t>(call.outputs[0].elements());
    for (size_t k = 0; k < n; k += kChunk) slope_(v + k, dy + k, std::min(kChunk, n - k), parameters_, dx + k);
  }

 private:
  Parameters parameters_;
  Slope slope_ = nullptr;
};

void give_slope(Backward& b, std::string_view function, ValueId at, float a = 0, float second = 0) {
  if (!b.wants(0)) return;
  Attributes attributes;
  attributes["function"] = std::string(function);
  attributes["a"] = a;
  attributes["b"] = second;
  b.give(0, b.own("Slope", {at, b.by_output()}, std::move(attributes)));
}

void by_output(Backward& b) {
  give_slope(b, b.node().op_type, b.node().outputs[0]);
}
void by_input(Backward& b) {
  give_slope(b, b.node().op_type, b.node().inputs[0]);
}

/// Clip(x, low, high) passes what lies strictly between its bounds: dy where Clip(x) is neither.
void clip(Backward& b) {
  const Node& node = b.node();
  if (!b.wants(0)) return;
  float bounds[2] = {-std::numeric_limits<float>::infinity(), std::numeric_limits<float>::infinity()};
  for (size_t k = 0; k < 2; ++k) {
    if (k + 1 >= node.inputs.size() || !node.inputs[k + 1].valid()) continue;
    const Tensor* bound = b.known(node.inputs[k + 1]);
    if (bound == nullptr || bound->elements() != 1)
      ops::unsupported("A Clip whose bounds are computed has no gradient here.");
    bounds[k] = static_cast<float>(bound->to_doubles()[0]);
  }
  give_slope(b, "Clip", node.outputs[0], bounds[0], bounds[1]);
}

void elu(Backward& b) {
  give_slope(b, "Elu", b.node().outputs[0], float_of(b.node(), "alpha"), 1);
}
void selu(Backward& b) {
  give_slope(b, "Elu", b.node().outputs[0], float_of(b.node(), "alpha"), float_of(b.node(), "gamma"));
}
void celu(Backward& b) {
  give_slope(b, "Celu", b.node().outputs[0], float_of(b.node(), "alpha"));
}
void leaky_relu(Backward& b) {
  give_slope(b, "LeakyRelu", b.node().inputs[0], float_of(b.node(), "alpha"));
}
void thresholded_relu(Backward& b) {
  give_slope(b, "ThresholdedRelu", b.node().inputs[0], float_of(b.node(), "alpha"));
}
void hard_sigmoid(Backward& b) {
  give_slope(b, "HardSigmoid", b.node().inputs[0], float_of(b.node(), "alpha"), float_of(b.node(), "beta"));
}
void hard_swish(Backward& b) {
  give_slope(b, "HardSwish", b.node().inputs[0], 1 / 6.0f, 0.5f);
}
void gelu_rule(Backward& b) {
  give_slope(b, string_of(b.node(), "approximate") == "tanh" ? "GeluTanh" : "Gelu", b.node().inputs[0]);
}
void swish_rule(Backward& b) {
  give_slope(b, "Swish", b.node().inputs[0], float_of(b.node(), "alpha"));
}
void sine(Backward& b) {
  b.give(0, b.emit("Mul", {b.by_output(), b.emit("Cos", {b.node().inputs[0]})}));
}
void cosine(Backward& b) {
  b.give(0, b.emit("Neg", {b.emit("Mul", {b.by_output(), b.emit("Sin", {b.node().inputs[0]})})}));
}

}  // namespace

Family slope_family() {
  return {{{"", "Relu", by_output},
           {"", "Clip", clip},
           {"", "Sigmoid", by_output},
           {"", "Tanh", by_output},
           {"", "Exp", by_output},
           {"", "Sqrt", by_output},
           {"", "Reciprocal", by_output},
           {"", "Elu", elu},
           {"", "Selu", selu},
           {"", "Celu", celu},
           {"", "Neg", by_input},
           {"", "Abs", by_input},
           {"", "Log", by_input},
           {"", "LeakyRelu", leaky_relu},
           {"", "ThresholdedRelu", thresholded_relu},
           {"", "HardSigmoid", hard_sigmoid},
           {"", "HardSwish", hard_swish},
           {"", "Softsign", by_input},
           {"", "Softplus", by_input},
           {"", "Swish", swish_rule},
           {"", "Mish", by_input},
           {"", "Erf", by_input},
           {"", "Gelu", gelu_rule},
           {"", "Sin", sine},
           {"", "Cos", cosine},
           {"", "Floor"},
           {"", "Ceil"},
           {"", "Round"},
           {"", "Sign"},
           {"", "IsNaN"},
           {"", "IsInf"}},
          {kernel_record<SlopeKernel>("Slope")}};
}

}  // namespace tersor::gradient
