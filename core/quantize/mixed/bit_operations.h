// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

namespace tersor::mixed {

/// Multiplications of a convolution: product of the kernel's shape (of a grouped one [outputs, inputs of a group, ...])
/// times the positions of the output, `output_size` being its height and width. Error kInvalidArgument for a negative
/// dimension.
int64_t conv_macs(std::span<const int64_t> kernel_shape, std::span<const int64_t> output_size);

/// Of a matrix product: elements of the output, of all rows, times the features of the input. Errors as above.
int64_t linear_macs(int64_t output_elements, int64_t input_features);

/// Bits of the input's activation times bits of a weight, for each multiplication. Error kInvalidArgument for bits
/// below 1.
double bit_operations(int64_t macs, int activation_n_bits, int weights_n_bits);

}  // namespace tersor::mixed
