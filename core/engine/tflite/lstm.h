// SPDX-License-Identifier: Apache-2.0
// UNIDIRECTIONAL_SEQUENCE_LSTM of TensorFlow Lite Micro, bit for bit: int8 inputs, weights and state, an int16 cell.
//   i = sigmoid(x W_i + h R_i + b_i)   f = sigmoid(...)   g = tanh(...)   c' = f c + i g
//   o = sigmoid(...)                   h' = o tanh(c')
// Sums of gates are held at +-8 in steps of 2^-12, what gates give lies in steps of 2^-15, the cell in steps of a power
// of two.
#pragma once

#include "core/tflite/kernels.h"

namespace tersor::tflite {

/// Places of the inputs; each list has one for each of the gates i, f, c, o.
inline constexpr size_t kLstmGates = 4, kLstmWeights = 1, kLstmStateWeights = 5, kLstmBiases = 12, kLstmState = 18,
                        kLstmCell = 19, kLstmInputs = 24;

/// All states [batch, time, units], or [time, batch, units], from a state and a cell of 0.
Tensor lstm(const KernelCall& call);

}  // namespace tersor::tflite
