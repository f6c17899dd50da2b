// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/graph/graph.h"

namespace tersor {

/// Conv, ConvTranspose, Gemm or MatMul: where nearly all of a model's work is.
inline bool is_core(const Node& node) {
  return node.is("Conv") || node.is("ConvTranspose") || node.is("Gemm") || node.is("MatMul");
}

/// Whether the node is a recurrent layer: input 1 holds its weights [directions, gates x hidden, inputs], input 2 those
/// of its state.
inline bool is_recurrent(const Node& node) {
  return node.is("LSTM") || node.is("GRU") || node.is("RNN");
}

}  // namespace tersor
