// SPDX-License-Identifier: Apache-2.0
// Packs codes of 2 to 7 bits without unused bits, for runtimes that compute constants once, when they open the file.
//
// All tensors with the same number of bits are packed together, in planes of 4, 2 and 1 bits (7 = 4 + 2 + 1). Plain
// operators of operator set 13 unpack them to int8. Each plane takes two BitShifts, a Reshape, a Cast and a Mul; then
// follow Add, Sub, Cast and Split, and a Reshape for each tensor. Readers of the codes, such as the DequantizeLinear of
// an integer kernel, find int8 under the same name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/graph/graph.h"

namespace tersor::ptq {

/// An int8 initializer of the graph whose codes all lie in [-2^(n_bits - 1), 2^(n_bits - 1)).
struct FewBitCodes {
  ValueId value;
  int n_bits = 8;
};

/// Packs the codes whose packing makes the file smaller, in the order of `codes`; leaves the others unchanged.
void pack_codes(Graph& graph, std::span<const FewBitCodes> codes);

/// An estimate of the bytes that packing saves for a tensor, at least 0. It includes the nodes that restore the tensor
/// and its name.
int64_t bytes_packing_saves(int64_t elements, int n_bits, size_t name_length);
/// An estimate of the bytes that a file needs once to unpack all tensors of `n_bits`.
int64_t bytes_of_unpacking(int n_bits);
/// An estimate of the memory, in bytes for each weight, that a runtime holds at once when it makes levels
/// (quant/block_quantizer.h) of packed codes: every constant on the way stays until the last is there.
int64_t bytes_of_opening(int n_bits);

}  // namespace tersor::ptq
