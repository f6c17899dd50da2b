// SPDX-License-Identifier: Apache-2.0
// GRU, with the gates z, r, h in the order of ONNX:
//   z = f(x W_z + h R_z)   r = f(x W_r + h R_r)   h' = (1 - z) n + z h
//   n = g(x W_h + (r h) R_h), or g(x W_h + r (h R_h)) where the attribute linear_before_reset is set
// (biases and transpositions left out; the functions f, g are those of the attribute activations).
#include "core/graph/attribute_defaults.h"
#include "core/ops/families.h"
#include "core/ops/recurrent.h"

namespace tersor::ops {

namespace {

bool is_linear_before_reset(const Node& node) {
  return int_of(node, "linear_before_reset") != 0;
}

class Gru : public Recurrent {
 public:
  explicit Gru(Setup& setup)
      : Recurrent(setup, {3, 2, false, is_linear_before_reset(setup.node), {"Sigmoid", "Tanh"}}),
        linear_before_reset_(is_linear_before_reset(setup.node)) {}

 private:
  void step(const RecurrentStep& step) const override {
    const int64_t size = step.hidden, all = 3 * size;
    kernels::multiply_rows(step.weights->first, {step.h, step.count}, {}, step.products, all);
    for (int64_t n = 0; n < step.count; ++n) {
      float* gates = step.products + n * all;
      for (int64_t k = 0; k < 2 * size; ++k) gates[k] = step.x[n][k] + gates[k];
      activate(step.direction, 0, gates, 2 * size);
      if (linear_before_reset_) continue;
      for (int64_t k = 0; k < size; ++k) step.more[n][k] = gates[size + k] * step.h[n][k];
    }
    const float* const* rows = linear_before_reset_ ? step.h : step.more;
    kernels::Epilogue epilogue;
    epilogue.bias = step.late_bias;
    kernels::multiply_rows(step.weights->second, {rows, step.count}, epilogue, step.products + 2 * size, all);
    for (int64_t n = 0; n < step.count; ++n) finish(step, n, step.products + n * all);
  }

  void finish(const RecurrentStep& step, int64_t n, const float* gates) const {
    const int64_t size = step.hidden;
    const float *z = gates, *r = gates + size, *product = gates + 2 * size, *x = step.x[n] + 2 * size;
    float *h = step.h[n], *fresh = step.more[n];
    for (int64_t k = 0; k < size; ++k) fresh[k] = x[k] + (linear_before_reset_ ? r[k] * product[k] : product[k]);
    activate(step.direction, 1, fresh, size);
    for (int64_t k = 0; k < size; ++k) h[k] = (1.0f - z[k]) * fresh[k] + z[k] * h[k];
  }

  bool linear_before_reset_;
};

}  // namespace

std::vector<Op> gru_ops() {
  return {{.domain = "", .type = "GRU", .prepare = make_kernel<Gru>}};
}

}  // namespace tersor::ops
