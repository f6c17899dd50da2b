// SPDX-License-Identifier: Apache-2.0
// The Gelus of com.microsoft, of float32: Gelu, FastGelu (by tanh), BiasGelu and QuickGelu (x times the sigmoid of
// alpha x), two of them with a bias that is added along the last axis first.
#include "core/kernels/transcendental.h"
#include "core/ops/families.h"
#include "core/ops/microsoft.h"

namespace tersor::ops {

namespace {

class BiasedGelu : public Kernel {
 public:
  BiasedGelu(const Setup& setup, kernels::Function function, size_t least, size_t most)
      : function_(function), alpha_(setup.node.float_or("alpha", 1.702f)) {
    require_inputs(setup, least, most);
    require_attributes(setup, {"alpha"});
  }

  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    require_type(inputs[0], {DType::kFloat32}, "X");
    const Shape& x = inputs[0].shape();
    if (is_present(inputs, 1)) {
      require_type(inputs[1], {DType::kFloat32}, "bias");
      if (inputs[1].shape().rank() != 1 || x.rank() == 0 || inputs[1].shape()[0] != x[x.rank() - 1])
        invalid("The bias has the shape " + inputs[1].shape().text() + "; that of X is " + x.text() + ".");
    }
    return {{DType::kFloat32, x, Layout::kPlain}};
  }

  bool overwrites(size_t k, std::span<const Input>, std::span<const TensorType>) const override { return k == 0; }

  void run(const Call& call) const override {
    const auto n = static_cast<size_t>(call.outputs[0].elements());
    const float* x = call.inputs[0].values<float>().data();
    float* y = call.outputs[0].values<float>().data();
    if (is_present(call.inputs, 1)) {
      const std::span<const float> bias = call.inputs[1].values<float>();
      for (size_t from = 0; from < n; from += bias.size())
        for (size_t k = 0; k < bias.size(); ++k) y[from + k] = x[from + k] + bias[k];
      x = y;
    }
    kernels::apply(function_, x, n, y, alpha_);
  }

 private:
  kernels::Function function_;
  float alpha_;  // of QuickGelu
};

Op gelu(std::string_view type, kernels::Function function, size_t least, size_t most) {
  return {.domain = "com.microsoft", .type = type, .prepare = [=](Setup& setup) {
            return std::make_unique<BiasedGelu>(setup, function, least, most);
          }};
}

}  // namespace

std::vector<Op> biased_gelu_ops() {
  return {gelu("Gelu", kernels::Function::kGelu, 1, 1), gelu("BiasGelu", kernels::Function::kGelu, 2, 2),
          gelu("FastGelu", kernels::Function::kGeluTanh, 1, 2), gelu("QuickGelu", kernels::Function::kSwish, 1, 1)};
}

}  // namespace tersor::ops
