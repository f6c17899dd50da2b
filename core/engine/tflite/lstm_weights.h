// SPDX-License-Identifier: Apache-2.0
// What an LSTM is written from, as one operator or step by step.
#pragma once

#include <cstdint>
#include <vector>

#include "core/tflite/lowering.h"
#include "core/tflite/lstm.h"

namespace tersor::tflite {

/// One gate in real numbers.
struct GateWeights {
  std::vector<float> input, state;  // [units, inputs], [units, units]
  std::vector<double> bias;         // of both, [units]
};

struct LstmSizes {
  int64_t batch = 0, steps = 0, inputs = 0, units = 0;
};

/// In the order of TensorFlow Lite: input, forget, cell, output.
std::vector<GateWeights> gates_of(Lowering& graph, const Site& site, const LstmSizes& sizes);

/// How far from 0 a cell that begins within `first` can come in so many time steps, of inputs within `farthest`.
double cell_reach(const std::vector<GateWeights>& gates, double farthest, int64_t steps, double first = 0);

/// An LSTM whose state comes from outside or is given out.
Held lower_unrolled_lstm(Lowering& graph, const Site& site, const LstmSizes& sizes, bool batch_first);

}  // namespace tersor::tflite
