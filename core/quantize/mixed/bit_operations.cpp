// SPDX-License-Identifier: Apache-2.0
#include "core/mixed/bit_operations.h"

#include <string>

#include "core/base/error.h"

namespace tersor::mixed {

namespace {

int64_t product(std::span<const int64_t> factors) {
  int64_t product = 1;
  for (const int64_t one : factors) {
    if (one < 0)
      throw Error(ErrorCode::kInvalidArgument, "Found " + std::to_string(one) + " where a size is expected.");
    if (__builtin_mul_overflow(product, one, &product))
      throw Error(ErrorCode::kInvalidArgument, "There are more than 2^63 multiplications.");
  }
  return product;
}

}  // namespace

int64_t conv_macs(std::span<const int64_t> kernel_shape, std::span<const int64_t> output_size) {
  const int64_t factors[] = {product(kernel_shape), product(output_size)};
  return product(factors);
}

int64_t linear_macs(int64_t output_elements, int64_t input_features) {
  const int64_t factors[] = {output_elements, input_features};
  return product(factors);
}

double bit_operations(int64_t macs, int activation_n_bits, int weights_n_bits) {
  if (activation_n_bits < 1 || weights_n_bits < 1)
    throw Error(ErrorCode::kInvalidArgument, "Found " + std::to_string(activation_n_bits) + " and " +
                                                 std::to_string(weights_n_bits) +
                                                 " bits where 1 or more are expected.");
  return static_cast<double>(macs) * activation_n_bits * weights_n_bits;
}

}  // namespace tersor::mixed
