// SPDX-License-Identifier: Apache-2.0
#include "core/run/arena.h"

#include <algorithm>

#include "core/base/sort_stably.h"

namespace tersor::run {

namespace {
int64_t rounded(int64_t bytes) {
  return (bytes + 63) / 64 * 64;
}
}  // namespace

int64_t assign_offsets(std::vector<Buffer>& buffers) {
  const std::vector<size_t> order =
      stable_order(buffers.size(), [&](size_t a, size_t b) { return buffers[a].bytes > buffers[b].bytes; });
  std::vector<const Buffer*> placed;  // by offset
  int64_t total = 0;
  for (const size_t index : order) {
    Buffer& buffer = buffers[index];
    if (buffer.apart) continue;
    int64_t offset = 0;
    for (const Buffer* other : placed) {
      if (other->last < buffer.first || buffer.last < other->first) continue;
      if (offset + buffer.bytes <= other->offset) break;
      offset = std::max(offset, rounded(other->offset + other->bytes));
    }
    buffer.offset = offset;
    total = std::max(total, rounded(offset + buffer.bytes));
    const auto by_offset = [](const Buffer* a, const Buffer* b) { return a->offset < b->offset; };
    placed.insert(std::upper_bound(placed.begin(), placed.end(), &buffer, by_offset), &buffer);
  }
  return total;
}

}  // namespace tersor::run
