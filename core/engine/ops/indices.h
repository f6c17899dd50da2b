// SPDX-License-Identifier: Apache-2.0
// Inputs that hold places along an axis: int64 or int32, counted from the end where negative.
#pragma once

#include <string>

#include "core/ops/refuse.h"

namespace tersor::ops {

/// Element `k` of an input of int64 or int32.
inline int64_t index_at(const Input& indices, int64_t k) {
  return indices.dtype() == DType::kInt64 ? indices.values<int64_t>()[static_cast<size_t>(k)]
                                          : indices.values<int32_t>()[static_cast<size_t>(k)];
}

/// The place counted from the front. Error kInvalidModel when it is outside an axis of `dim` places.
inline int64_t checked_index(int64_t index, int64_t dim) {
  if (index < -dim || index >= dim)
    invalid("The index " + std::to_string(index) + " is outside an axis of " + std::to_string(dim) + ".",
            "Where samples bring it (ids of words, say), check them against the vocabulary: 0 to " +
                std::to_string(dim - 1) + " are there. Where it is a constant, export the model again.");
  return index < 0 ? index + dim : index;
}

/// The one number of a scalar input, or of a list of one. Error kInvalidModel for more, or for another type.
inline int64_t integer_of(const Input& input, std::string_view name) {
  if (input.elements() != 1)
    invalid("The input " + std::string(name) + " has the shape " + input.shape().text() + "; it must be a scalar.");
  if (input.dtype() != DType::kInt64 && input.dtype() != DType::kInt32)
    invalid("The input " + std::string(name) + " has the type " + std::string(name_of(input.dtype())) +
            "; it must be int64 or int32.");
  return index_at(input, 0);
}

/// Error kUnsupportedModel for elements that a byte holds several of.
inline void require_whole_bytes(const Input& input, std::string_view name) {
  if (bits_of(input.dtype()) < 8)
    unsupported("The input " + std::string(name) + " has the type " + std::string(name_of(input.dtype())) +
                ", which is not supported here.");
}

}  // namespace tersor::ops
