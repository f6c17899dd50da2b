// SPDX-License-Identifier: Apache-2.0
// Padding of token sequences: what a model says of positions that its mask leaves out is read by nobody, and no error.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "core/graph/graph.h"
#include "core/tensor/tensor.h"

namespace tersor {

/// The index of the input that masks tokens: `attention_mask`, as exporters of transformers call it.
std::optional<size_t> mask_input(const Graph& graph);

/// Sets to 0 what float outputs of shape (batch, tokens, ...), of three axes or more, hold where `mask`, of shape
/// (batch, tokens), is 0. Outputs of other shapes stay as they are.
void clear_padding(const Tensor& mask, std::vector<Tensor>& outputs);

}  // namespace tersor
