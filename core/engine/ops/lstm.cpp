// SPDX-License-Identifier: Apache-2.0
// LSTM, with the gates i, o, f, c in the order of ONNX:
//   i = f(x W_i + h R_i + P_i c)   f = f(x W_f + h R_f + P_f c)   g = g(x W_c + h R_c)
//   c' = f c + i g                 o = f(x W_o + h R_o + P_o c')  h' = o h(c')
// (biases and transpositions left out; the functions f, g, h are those of the attribute activations).
#include <algorithm>

#include "core/graph/attribute_defaults.h"
#include "core/ops/families.h"
#include "core/ops/recurrent.h"

namespace tersor::ops {

namespace {

class Lstm : public Recurrent {
 public:
  explicit Lstm(Setup& setup)
      : Recurrent(setup, {4, 4, true, false, {"Sigmoid", "Tanh", "Tanh"}}),
        input_forget_(int_of(setup.node, "input_forget") != 0) {}

 private:
  void step(const RecurrentStep& step) const override {
    const int64_t all = 4 * step.hidden;
    kernels::multiply_rows(step.weights->first, {step.h, step.count}, {}, step.products, all);
    for (int64_t n = 0; n < step.count; ++n) sample(step, n, step.products + n * all);
  }

  void sample(const RecurrentStep& step, int64_t n, float* gates) const {
    const int64_t size = step.hidden, d = step.direction;
    const float* x = step.x[n];
    for (int64_t k = 0; k < 4 * size; ++k) gates[k] = x[k] + gates[k];
    float *i = gates, *o = gates + size, *f = gates + 2 * size, *g = gates + 3 * size, *c = step.c[n], *h = step.h[n];
    const float* p = step.peepholes;
    add_peephole(p, c, i, size);
    activate(d, 0, i, size);
    if (input_forget_) {
      for (int64_t k = 0; k < size; ++k) f[k] = 1.0f - i[k];
    } else {
      add_peephole(p == nullptr ? p : p + 2 * size, c, f, size);
      activate(d, 0, f, size);
    }
    activate(d, 1, g, size);
    for (int64_t k = 0; k < size; ++k) c[k] = f[k] * c[k] + i[k] * g[k];
    add_peephole(p == nullptr ? p : p + size, c, o, size);
    activate(d, 0, o, size);
    std::copy_n(c, size, h);
    apply(d, 2, h, size);  // ONNX Runtime cuts the gates' inputs by the attribute clip, the cell it does not
    for (int64_t k = 0; k < size; ++k) h[k] = o[k] * h[k];
  }

  static void add_peephole(const float* p, const float* c, float* gate, int64_t size) {
    if (p == nullptr) return;
    for (int64_t k = 0; k < size; ++k) gate[k] = gate[k] + p[k] * c[k];
  }

  bool input_forget_;  // the forget gate is what the input gate leaves
};

}  // namespace

std::vector<Op> lstm_ops() {
  return {{.domain = "", .type = "LSTM", .prepare = make_kernel<Lstm>}};
}

}  // namespace tersor::ops
