// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace tersor::run {

/// A stretch of memory that is needed from step `first` to step `last`, both included.
struct Buffer {
  int64_t bytes = 0;
  int first = 0;
  int last = 0;
  int64_t offset = 0;  // set by assign_offsets()
  bool apart = false;  // in memory of its own
};

/// Places the buffers so that those needed at the same time do not overlap, largest first into the lowest gap that
/// fits; those apart have no place. Offsets are multiples of 64. Returns the bytes of the whole.
int64_t assign_offsets(std::vector<Buffer>& buffers);

}  // namespace tersor::run
