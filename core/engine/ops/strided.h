// SPDX-License-Identifier: Apache-2.0
// The one loop that serves every operator which only moves elements: slices, paddings, transpositions, repetitions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tersor::ops {

/// One axis of a copy: its length, and how far apart its elements lie in source and target, in elements. A source step
/// of 0 repeats, a negative one runs backwards.
struct CopyAxis {
  int64_t length = 1;
  int64_t source = 0;
  int64_t target = 0;
};

/// target[sum of index * target step] = source[sum of index * source step] for every index of the axes. `source` and
/// `target` point to the elements of index 0; element_bytes is 1, 2, 4 or 8.
void copy_strided(const void* source, void* target, std::span<const CopyAxis> axes, size_t element_bytes);

/// Row-major steps of `dims`, in elements.
std::vector<int64_t> row_major_strides(std::span<const int64_t> dims);

}  // namespace tersor::ops
