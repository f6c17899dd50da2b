// SPDX-License-Identifier: Apache-2.0
// RNN: h' = f(x W + h R), biases and transpositions left out; f is that of the attribute activations.
#include "core/ops/families.h"
#include "core/ops/recurrent.h"

namespace tersor::ops {

namespace {

class Rnn : public Recurrent {
 public:
  explicit Rnn(Setup& setup) : Recurrent(setup, {1, 1, false, false, {"Tanh"}}) {}

 private:
  void step(const RecurrentStep& step) const override {
    const int64_t size = step.hidden;
    kernels::multiply_rows(step.weights->first, {step.h, step.count}, {}, step.products, size);
    for (int64_t n = 0; n < step.count; ++n) {
      for (int64_t k = 0; k < size; ++k) step.h[n][k] = step.x[n][k] + step.products[n * size + k];
      activate(step.direction, 0, step.h[n], size);
    }
  }
};

}  // namespace

std::vector<Op> rnn_ops() {
  return {{.domain = "", .type = "RNN", .prepare = make_kernel<Rnn>}};
}

}  // namespace tersor::ops
