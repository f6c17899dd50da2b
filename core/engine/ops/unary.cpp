// SPDX-License-Identifier: Apache-2.0
// Element-wise operators of one input. Most take float32 only; those that shapes, positions and masks are computed with
// take float64 too, and whole numbers where they mean something for them.
#include <cmath>
#include <limits>
#include <type_traits>

#include "core/graph/attribute_defaults.h"
#include "core/kernels/transcendental.h"
#include "core/ops/families.h"
#include "core/ops/number_types.h"
#include "core/ops/refuse.h"
#include "core/tensor/rounding.h"

namespace tersor::ops {

namespace {

/// Numbers from the node's attributes.
struct Parameters {
  float a = 0;
  float b = 0;
};

/// y[k] = f(x[k]) for n elements; y may be x.
using Loop = void (*)(const void* x, void* y, size_t n, const Parameters& parameters);

template <class F, class T>
void loop(const void* x_bytes, void* y_bytes, size_t n, const Parameters& parameters) {
  using R = decltype(F::of(T(), parameters));
  const T* x = static_cast<const T*>(x_bytes);
  R* y = static_cast<R*>(y_bytes);
  for (size_t k = 0; k < n; ++k) y[k] = F::of(x[k], parameters);
}

struct Neg {
  template <class T>
  static T of(T x, const Parameters&) {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(-static_cast<uint64_t>(x));
    else
      return -x;
  }
};
struct Abs {
  template <class T>
  static T of(T x, const Parameters& p) {
    if constexpr (std::is_floating_point_v<T>)
      return std::fabs(x);
    else
      return x < 0 ? Neg::of(x, p) : x;
  }
};
struct Sign {
  template <class T>
  static T of(T x, const Parameters&) {
    if (x != x) return x;
    return static_cast<T>((x > 0 ? 1 : 0) - (x < 0 ? 1 : 0));
  }
};
struct Sqrt {
  template <class T>
  static T of(T x, const Parameters&) {
    return std::sqrt(x);
  }
};
struct Reciprocal {
  template <class T>
  static T of(T x, const Parameters&) {
    return T(1) / x;
  }
};
struct Floor {
  template <class T>
  static T of(T x, const Parameters&) {
    return std::floor(x);
  }
};
struct Ceil {
  template <class T>
  static T of(T x, const Parameters&) {
    return std::ceil(x);
  }
};
struct Round {
  template <class T>
  static T of(T x, const Parameters&) {
    return round_half_even(x);
  }
};
struct ThresholdedRelu {
  static float of(float x, const Parameters& p) { return x > p.a ? x : 0.0f; }
};
/// By the reciprocal, rounded on its own, as ONNX Runtime has it: up to two last bits from the quotient, and NaN at
/// infinity.
struct Softsign {
  static float of(float x, const Parameters&) { return 1.0f / (1.0f + std::fabs(x)) * x; }
};
/// a is the bias, b the limit.
struct Shrink {
  static float of(float x, const Parameters& p) { return x < -p.b ? x + p.a : x > p.b ? x - p.a : 0.0f; }
};
struct IsNan {
  template <class T>
  static bool of(T x, const Parameters&) {
    return x != x;
  }
};
/// a and b: whether negative and positive infinity count.
struct IsInf {
  template <class T>
  static bool of(T x, const Parameters& p) {
    constexpr T kInfinity = std::numeric_limits<T>::infinity();
    return (p.a != 0 && x == -kInfinity) || (p.b != 0 && x == kInfinity);
  }
};
struct Not {
  static bool of(bool x, const Parameters&) { return !x; }
};
struct BitwiseNot {
  template <class T>
  static T of(T x, const Parameters&) {
    return static_cast<T>(~x);
  }
};

template <class F>
Loop whole_loop(DType dtype) {
  Loop made = nullptr;
  visit_whole_type(dtype, [&](auto zero) { made = loop<F, decltype(zero)>; });
  return made;
}

template <class F>
Loop number_loop(DType dtype) {
  Loop made = nullptr;
  visit_number_type(dtype, [&](auto zero) { made = loop<F, decltype(zero)>; });
  return made;
}

template <class F>
Loop float_loop(DType dtype) {
  return dtype == DType::kFloat32 ? static_cast<Loop>(loop<F, float>) : nullptr;
}

/// float32 and float64.
template <class F>
Loop real_loop(DType dtype) {
  return dtype == DType::kFloat64 ? static_cast<Loop>(loop<F, double>) : float_loop<F>(dtype);
}

Loop not_loop(DType dtype) {
  return dtype == DType::kBool ? static_cast<Loop>(loop<Not, bool>) : nullptr;
}

/// The functions of core/kernels, float32 only.
template <kernels::Function F>
void function_loop(const void* x, void* y, size_t n, const Parameters& p) {
  kernels::apply(F, static_cast<const float*>(x), n, static_cast<float*>(y), p.a, p.b);
}

template <kernels::Function F>
Loop function(DType dtype) {
  return dtype == DType::kFloat32 ? static_cast<Loop>(function_loop<F>) : nullptr;
}

struct Exp {
  static double of(double x, const Parameters&) { return kernels::exponential(x); }
};
struct Log {
  static double of(double x, const Parameters&) { return kernels::natural_logarithm(x); }
};

/// With a form in double beside it.
template <kernels::Function F, class Double>
Loop real_function(DType dtype) {
  return dtype == DType::kFloat64 ? static_cast<Loop>(loop<Double, double>) : function<F>(dtype);
}

/// What distinguishes one unary operator from another: its loop by type, and where its parameters come from.
struct Rule {
  Loop (*loop_for)(DType);
  const char* a = nullptr;  // names of attributes
  const char* b = nullptr;
  float fixed_a = 0;  // where there is no attribute
  float fixed_b = 0;
  bool gives_bool = false;
};

float parameter_of(const Node& node, const char* name, float fixed) {
  if (name == nullptr) return fixed;
  const auto otherwise = default_of(node.op_type, name);
  const bool is_int = node.attributes.contains(name) ? node.holds<int64_t>(name)
                                                     : otherwise && std::holds_alternative<int64_t>(*otherwise);
  return is_int ? static_cast<float>(int_of(node, name)) : float_of(node, name);
}

class Unary : public Kernel {
 public:
  Unary(const Setup& setup, const Rule& rule) : rule_(rule) {
    require_inputs(setup, 1, 1);
    parameters_ = {parameter_of(setup.node, rule.a, rule.fixed_a), parameter_of(setup.node, rule.b, rule.fixed_b)};
  }

  std::vector<Form> forms(std::span<const Input> inputs) const override {
    return {{inputs[0].type->layout, inputs[0].shape().rank()}};
  }

  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    TensorType type = *inputs[0].type;
    if (rule_.loop_for(type.dtype) == nullptr)
      unsupported("The input type " + std::string(name_of(type.dtype)) + " is not supported for this operator.");
    if (rule_.gives_bool) type.dtype = DType::kBool;
    return {type};
  }

  bool overwrites(size_t, std::span<const Input>, std::span<const TensorType>) const override { return true; }

  void run(const Call& call) const override {
    const Loop f = rule_.loop_for(call.inputs[0].dtype());
    f(call.inputs[0].data, call.outputs[0].data, static_cast<size_t>(call.outputs[0].elements()), parameters_);
  }

 private:
  Rule rule_;
  Parameters parameters_;
};

std::unique_ptr<const Kernel> prepare_gelu(Setup& setup) {
  const std::string word = string_of(setup.node, "approximate");
  if (word != "none" && word != "tanh")
    invalid("The attribute approximate is \"" + word + "\"; it must be none or tanh.");
  return std::make_unique<Unary>(
      setup, Rule{word == "tanh" ? function<kernels::Function::kGeluTanh> : function<kernels::Function::kGelu>});
}

Op unary(std::string_view type, Rule rule) {
  return {.domain = "", .type = type, .prepare = [rule](Setup& setup) { return std::make_unique<Unary>(setup, rule); }};
}

constexpr Rule kHardSigmoidGate{function<kernels::Function::kHardSwish>, "alpha", "beta"};
constexpr Rule kSigmoidGate{function<kernels::Function::kSigmoidGate>};

/// `kGate`: of x times what it gives for x.
template <const Rule& kGate>
Op gating(Op op) {
  op.prepare_as_gate = [](Setup& setup) -> std::unique_ptr<const Kernel> {
    return std::make_unique<Unary>(setup, kGate);
  };
  return op;
}

}  // namespace

std::vector<Op> unary_ops() {
  return {
      unary("Neg", {number_loop<Neg>}),
      unary("Abs", {number_loop<Abs>}),
      unary("Sign", {number_loop<Sign>}),
      unary("Sqrt", {real_loop<Sqrt>}),
      unary("Reciprocal", {real_loop<Reciprocal>}),
      unary("Floor", {real_loop<Floor>}),
      unary("Ceil", {real_loop<Ceil>}),
      unary("Round", {real_loop<Round>}),
      unary("LeakyRelu", {function<kernels::Function::kLeakyRelu>, "alpha"}),
      unary("ThresholdedRelu", {float_loop<ThresholdedRelu>, "alpha"}),
      gating<kHardSigmoidGate>(unary("HardSigmoid", {function<kernels::Function::kHardSigmoid>, "alpha", "beta"})),
      unary("HardSwish", {function<kernels::Function::kHardSwish>, nullptr, nullptr, 1.0f / 6, 0.5f}),
      unary("Softsign", {float_loop<Softsign>}),
      unary("Shrink", {float_loop<Shrink>, "bias", "lambd"}),
      unary("IsNaN", {.loop_for = real_loop<IsNan>, .gives_bool = true}),
      unary("IsInf", {real_loop<IsInf>, "detect_negative", "detect_positive", 0, 0, true}),
      unary("Exp", {real_function<kernels::Function::kExp, Exp>}),
      unary("Log", {real_function<kernels::Function::kLog, Log>}),
      unary("Sin", {function<kernels::Function::kSin>}),
      unary("Cos", {function<kernels::Function::kCos>}),
      unary("Tan", {function<kernels::Function::kTan>}),
      unary("Asin", {function<kernels::Function::kAsin>}),
      unary("Acos", {function<kernels::Function::kAcos>}),
      unary("Atan", {function<kernels::Function::kAtan>}),
      unary("Sinh", {function<kernels::Function::kSinh>}),
      unary("Cosh", {function<kernels::Function::kCosh>}),
      unary("Tanh", {function<kernels::Function::kTanh>}),
      unary("Asinh", {function<kernels::Function::kAsinh>}),
      unary("Acosh", {function<kernels::Function::kAcosh>}),
      unary("Atanh", {function<kernels::Function::kAtanh>}),
      unary("Erf", {function<kernels::Function::kErf>}),
      gating<kSigmoidGate>(unary("Sigmoid", {function<kernels::Function::kSigmoid>})),
      unary("Softplus", {function<kernels::Function::kSoftplus>}),
      unary("Mish", {function<kernels::Function::kMish>}),
      unary("Elu", {function<kernels::Function::kElu>, "alpha", nullptr, 0, 1}),
      unary("Selu", {function<kernels::Function::kElu>, "alpha", "gamma"}),
      unary("Celu", {function<kernels::Function::kCelu>, "alpha"}),
      unary("Swish", {function<kernels::Function::kSwish>, "alpha"}),
      {.domain = "", .type = "Gelu", .since = 20, .prepare = prepare_gelu},
      unary("Not", {not_loop}),
      unary("BitwiseNot", {whole_loop<BitwiseNot>}),
  };
}

}  // namespace tersor::ops
