// SPDX-License-Identifier: Apache-2.0
// Bytes of weights and of activations.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/graph/graph.h"

namespace tersor::mixed {

struct QuantizedTensor {
  int64_t elements = 0;  // of an activation: without the batch
  int n_bits = 8;
};

/// Sum of elements * n_bits / 8 bytes over quantized attributes; one that several nodes share is listed once. Error
/// kInvalidArgument for a negative number of elements, or bits below 1.
double weights_memory(std::span<const QuantizedTensor> weights);

/// The bytes of the largest cut: the tensors that are there at once. Quantized and preserving outputs count, those
/// inside a fused group do not. Errors as above.
double activation_memory(std::span<const std::vector<QuantizedTensor>> cuts);

/// The cuts of the graph when its nodes run in its order, as runtimes run them: for each step what it reads and writes
/// and what a later one reads. `steps`: by node, the index of the node with which it runs as one, the last of a fused
/// group; its own where it runs by itself. Inputs are there from the start, outputs stay to the end; initializers, and
/// what a fused group keeps to itself, are in no cut. Each cut is in the order of the ids; a cut whose tensors are all
/// in another is left out, as that one's bytes are never fewer.
std::vector<std::vector<ValueId>> cuts_of(const Graph& graph, std::span<const size_t> steps);

}  // namespace tersor::mixed
