// SPDX-License-Identifier: Apache-2.0
#include "core/ops/activation.h"

#include <array>
#include <cmath>

#include "core/kernels/transcendental.h"
#include "core/ops/refuse.h"

namespace tersor::ops {

namespace {

struct Named {
  std::string_view name;
  Activation otherwise;  // with the parameters of a node that gives none
  bool has_a = false;
  bool has_b = false;
};

using Kind = Activation::Kind;

constexpr std::array kFunctions{
    Named{"Affine", {Kind::kAffine, 1, 0}, true, true},
    Named{"Elu", {Kind::kElu, 1, 0}, true},
    Named{"HardSigmoid", {Kind::kHardSigmoid, 0.2f, 0.5f}, true, true},
    Named{"LeakyRelu", {Kind::kLeakyRelu, 0.01f, 0}, true},
    Named{"Relu", {Kind::kRelu, 0, 0}},
    Named{"ScaledTanh", {Kind::kScaledTanh, 1, 1}, true, true},
    Named{"Sigmoid", {Kind::kSigmoid, 0, 0}},
    Named{"Softplus", {Kind::kSoftplus, 0, 0}},
    Named{"Softsign", {Kind::kSoftsign, 0, 0}},
    Named{"Tanh", {Kind::kTanh, 0, 0}},
    Named{"ThresholdedRelu", {Kind::kThresholdedRelu, 1, 0}, true},
};

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

/// Exporters write the names in capitals of their own choice.
bool same_name(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (size_t k = 0; k < a.size(); ++k)
    if (lower(a[k]) != lower(b[k])) return false;
  return true;
}

const Named& function_named(std::string_view name) {
  for (const Named& function : kFunctions)
    if (same_name(function.name, name)) return function;
  std::string known;
  for (const Named& function : kFunctions) known += (known.empty() ? "" : ", ") + std::string(function.name);
  invalid("The attribute activations names \"" + std::string(name) + "\"; ONNX has " + known + ".");
}

template <class F>
void loop(float* x, size_t n, F f) {
  for (size_t k = 0; k < n; ++k) x[k] = f(x[k]);
}

}  // namespace

void Activation::apply(float* x, size_t n) const {
  const float p = a, q = b;
  switch (kind) {
    case Kind::kAffine:
      return loop(x, n, [=](float v) { return p * v + q; });
    case Kind::kElu:
      return kernels::apply(kernels::Function::kElu, x, n, x, a, 1);
    case Kind::kHardSigmoid:
      return kernels::apply(kernels::Function::kHardSigmoid, x, n, x, a, b);
    case Kind::kLeakyRelu:
      return kernels::apply(kernels::Function::kLeakyRelu, x, n, x, a);
    case Kind::kRelu:
      return loop(x, n, [](float v) { return v < 0 ? 0.0f : v; });
    case Kind::kScaledTanh:
      loop(x, n, [=](float v) { return q * v; });
      kernels::apply(kernels::Function::kTanh, x, n, x);
      return loop(x, n, [=](float v) { return p * v; });
    case Kind::kSigmoid:
      return kernels::apply(kernels::Function::kSigmoid, x, n, x);
    case Kind::kSoftplus:
      return kernels::apply(kernels::Function::kSoftplus, x, n, x);
    case Kind::kSoftsign:
      return loop(x, n, [](float v) { return v / (1.0f + std::fabs(v)); });
    case Kind::kTanh:
      return kernels::apply(kernels::Function::kTanh, x, n, x);
    case Kind::kThresholdedRelu:
      return loop(x, n, [=](float v) { return v > p ? v : 0.0f; });
  }
}

std::vector<Activation> activations_of(const Setup& setup, int64_t directions,
                                       const std::vector<std::string_view>& otherwise) {
  const auto count = static_cast<size_t>(directions) * otherwise.size();
  std::vector<std::string> names;
  if (const auto* given = setup.node.attribute<std::vector<std::string>>("activations")) names = *given;
  if (names.empty())
    for (size_t k = 0; k < count; ++k) names.emplace_back(otherwise[k % otherwise.size()]);
  if (names.size() != count)
    invalid("The attribute activations names " + std::to_string(names.size()) + " functions; this node needs " +
            std::to_string(count) + ".");
  const auto* alphas = setup.node.attribute<std::vector<float>>("activation_alpha");
  const auto* betas = setup.node.attribute<std::vector<float>>("activation_beta");
  size_t next_a = 0, next_b = 0;
  std::vector<Activation> activations;
  for (const std::string& name : names) {
    const Named& function = function_named(name);
    Activation activation = function.otherwise;
    if (function.has_a && alphas != nullptr && next_a < alphas->size()) activation.a = (*alphas)[next_a++];
    if (function.has_b && betas != nullptr && next_b < betas->size()) activation.b = (*betas)[next_b++];
    activations.push_back(activation);
  }
  return activations;
}

}  // namespace tersor::ops
