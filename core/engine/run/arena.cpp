// SPDX-License-Identifier: Apache-2.0
#include "core/run/arena.h"

#include <algorithm>

#include "core/base/sort_stably.h"

namespace tersor::run {

namespace {
constexpr int kStepsOfBlock = 64;

int64_t rounded(int64_t bytes) {
  return (bytes + 63) / 64 * 64;
}

/// Buffers that have their places, by offset: all, and those needed in each block of steps.
class Placed {
 public:
  /// A list that holds every placed buffer which is needed together with this one. Most are needed in few steps only,
  /// so that a block's list is much shorter than that of all.
  const std::vector<const Buffer*>& beside(const Buffer& buffer) {
    return block_of(buffer.first) == block_of(buffer.last) ? list_of(block_of(buffer.first)) : all_;
  }
  void add(const Buffer& buffer) {
    add_to(all_, buffer);
    for (size_t block = block_of(buffer.first); block <= block_of(buffer.last); ++block) add_to(list_of(block), buffer);
  }

 private:
  static size_t block_of(int step) { return static_cast<size_t>(step / kStepsOfBlock); }
  std::vector<const Buffer*>& list_of(size_t block) {
    if (block >= blocks_.size()) blocks_.resize(block + 1);
    return blocks_[block];
  }
  static void add_to(std::vector<const Buffer*>& list, const Buffer& buffer) {
    const auto by_offset = [](const Buffer* a, const Buffer* b) { return a->offset < b->offset; };
    list.insert(std::upper_bound(list.begin(), list.end(), &buffer, by_offset), &buffer);
  }
  std::vector<const Buffer*> all_;
  std::vector<std::vector<const Buffer*>> blocks_;
};
}  // namespace

int64_t assign_offsets(std::vector<Buffer>& buffers) {
  const std::vector<size_t> order =
      stable_order(buffers.size(), [&](size_t a, size_t b) { return buffers[a].bytes > buffers[b].bytes; });
  Placed placed;
  int64_t total = 0;
  for (const size_t index : order) {
    Buffer& buffer = buffers[index];
    if (buffer.apart) continue;
    int64_t offset = 0;
    for (const Buffer* other : placed.beside(buffer)) {
      if (other->last < buffer.first || buffer.last < other->first) continue;
      if (offset + buffer.bytes <= other->offset) break;
      offset = std::max(offset, rounded(other->offset + other->bytes));
    }
    buffer.offset = offset;
    total = std::max(total, rounded(offset + buffer.bytes));
    placed.add(buffer);
  }
  return total;
}

}  // namespace tersor::run
