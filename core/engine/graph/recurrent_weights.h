// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "core/graph/graph.h"

namespace tersor {

/// Which inputs of a recurrent layer are the weights that it takes in every step, with one row or column for each
/// number of a gate along axis 1. Those of LSTM, GRU and RNN for inputs and state, [directions, gates x hidden,
/// length]; of a Loop, as TensorFlow writes such layers, what it carries unchanged and its body only multiplies by,
/// [length, gates x hidden]. None for other nodes.
std::vector<size_t> recurrent_weights(const Node& node);

}  // namespace tersor
