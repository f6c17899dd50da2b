// SPDX-License-Identifier: Apache-2.0
// Codes of 2 to 7 bits in as many bits of the file, for runtimes that compute constants once, when they open it. All
// tensors of as many bits are packed as one, in planes of 4, 2 and 1 bits (7 = 4 + 2 + 1), and plain operators of
// operator set 13 make int8 of it again: for each plane two BitShifts, a Reshape, a Cast and a Mul, then Add, Sub,
// Cast, Split, and a Reshape for each tensor. What reads the codes, an integer kernel's DequantizeLinear say, finds
// int8 under the same name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/graph/graph.h"

namespace tersor::ptq {

/// An int8 initializer of the graph, all of whose codes lie in [-2^(n_bits - 1), 2^(n_bits - 1)).
struct FewBitCodes {
  ValueId value;
  int n_bits = 8;
};

/// Packs what makes the file smaller that way, and leaves the rest as it is. Values stand in the order of `codes`.
void pack_codes(Graph& graph, std::span<const FewBitCodes> codes);

/// How many bytes less one tensor takes packed, what restores it and its name in that counted: about, and not less than
/// nothing.
int64_t bytes_packing_saves(int64_t elements, int n_bits, size_t name_length);
/// What a file has once for all tensors of as many bits, in bytes: about.
int64_t bytes_of_unpacking(int n_bits);

}  // namespace tersor::ptq
