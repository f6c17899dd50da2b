// SPDX-License-Identifier: Apache-2.0
#include "core/tflite/lstm.h"

#include <algorithm>
#include <cmath>

#include "core/kernels/integer.h"
#include "core/kernels/panels.h"
#include "core/tflite/fixed_point.h"

namespace tersor::tflite {

namespace {

int32_t in_16_bits(int64_t value) {
  return static_cast<int32_t>(std::clamp<int64_t>(value, INT16_MIN, INT16_MAX));
}

/// Of a sum in steps of 2^-12, in steps of 2^-15.
int32_t sigmoid_of_sum(int32_t sum) {
  return logistic_16(3 * int64_t{sum});
}

/// Of a number in steps of 2^(exponent - 12), in steps of 2^-15.
int32_t tanh_of_number(int32_t value, int exponent) {
  const int right = std::max(-exponent, 0), left = std::max(exponent, 0);
  return tanh_16(((int64_t{3} << left) * value + (right > 0 ? int64_t{1} << (right - 1) : 0)) >> right);
}

/// The products of one gate.
class LstmGate {
 public:
  LstmGate(const KernelCall& call, size_t gate, int64_t inputs, int64_t units)
      : units_(units),
        input_(panels_of(call.in(kLstmWeights + gate), inputs)),
        state_(panels_of(call.in(kLstmStateWeights + gate), units)),
        of_input_(multiplier(call.in(0), call.in(kLstmWeights + gate))),
        of_state_(multiplier(call.in(kLstmState), call.in(kLstmStateWeights + gate))),
        bias_(static_cast<size_t>(units), 0) {
    if (!call.has(kLstmBiases + gate)) return;
    const Tensor given = call.in(kLstmBiases + gate).value->aligned();
    std::copy(given.data<int32_t>().begin(), given.data<int32_t>().end(), bias_.begin());
  }

  /// [units], in steps of 2^-12.
  std::vector<int32_t> sums(const int16_t* x, const int16_t* h) const {
    std::vector<int32_t> made(bias_.size()), of_state(bias_.size());
    kernels::multiply_integer_rows(input_, {&x, 1}, bias_.data(), made.data(), units_);
    kernels::multiply_integer_rows(state_, {&h, 1}, nullptr, of_state.data(), units_);
    for (size_t u = 0; u < made.size(); ++u)
      made[u] =
          in_16_bits(int64_t{in_16_bits(scaled(made[u], of_input_))} + in_16_bits(scaled(of_state[u], of_state_)));
    return made;
  }

 private:
  static Multiplier multiplier(const Argument& of, const Argument& weight) {
    return multiplier_of(static_cast<double>(of.scale()) * weight.scale() * 4096);
  }
  kernels::IntegerPanels panels_of(const Argument& weight, int64_t depth) const {
    return {units_, 1, depth, {numbers_of(weight.codes(), 0).data(), depth, depth, 1}};
  }

  int64_t units_;
  kernels::IntegerPanels input_, state_;
  Multiplier of_input_, of_state_;
  std::vector<int32_t> bias_;
};

}  // namespace

Tensor lstm(const KernelCall& call) {
  const bool time_first = call.op.options.time_major != 0;
  const int64_t batch = call.in(0).dim(time_first ? 1 : 0), steps = call.in(0).dim(time_first ? 0 : 1),
                inputs = call.in(0).dim(2), units = call.output.shape[2];
  std::vector<LstmGate> gates;
  for (size_t gate = 0; gate < kLstmGates; ++gate) gates.emplace_back(call, gate, inputs, units);
  const double of_cell = call.in(kLstmCell).scale();
  const Multiplier kept = multiplier_of(1.0 / 32768), added = multiplier_of(std::ldexp(1, -30) / of_cell),
                   given = multiplier_of(std::ldexp(1, -30) / call.scale());
  const int exponent = 12 + std::ilogb(of_cell), zero_point = call.zero_point();
  const double clip = call.op.options.alpha;
  const int32_t most = clip > 0 ? in_16_bits(static_cast<int64_t>(std::min(clip / of_cell, 32767.0))) : INT16_MAX;
  const std::vector<int16_t> x = numbers_of(call.in(0).codes(), call.in(0).zero_point());
  Tensor result = Tensor::make(DType::kInt8, call.output.full_shape());
  const auto y = result.mutable_data<int8_t>();
  for (int64_t n = 0; n < batch; ++n) {
    std::vector<int16_t> h(static_cast<size_t>(units) + 1, 0);
    std::vector<int32_t> c(static_cast<size_t>(units), 0);
    for (int64_t t = 0; t < steps; ++t) {
      const int64_t row = time_first ? t * batch + n : n * steps + t;
      std::array<std::vector<int32_t>, kLstmGates> sums;
      for (size_t gate = 0; gate < kLstmGates; ++gate) sums[gate] = gates[gate].sums(x.data() + row * inputs, h.data());
      for (size_t u = 0; u < c.size(); ++u) {
        const int32_t i = sigmoid_of_sum(sums[0][u]), f = sigmoid_of_sum(sums[1][u]), g = tanh_of_number(sums[2][u], 0);
        c[u] = in_16_bits(int64_t{in_16_bits(scaled(f * c[u], kept))} + in_16_bits(scaled(i * g, added)));
        if (clip > 0) c[u] = std::clamp(c[u], -most, most);
        const int32_t bent = tanh_of_number(c[u], exponent) * sigmoid_of_sum(sums[3][u]);
        const int64_t code = std::clamp<int64_t>(int64_t{scaled(bent, given)} + zero_point, -128, 127);
        h[u] = static_cast<int16_t>(code - zero_point);
        y[static_cast<size_t>(row * units) + u] = static_cast<int8_t>(code);
      }
    }
  }
  return result;
}

}  // namespace tersor::tflite
