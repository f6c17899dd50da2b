// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <utility>

namespace tersor {

/// Bytes that are all written next: they are not set to 0 first, which in WebAssembly takes longer than the writing.
class ByteBuffer {
 public:
  using value_type = std::byte;

  ByteBuffer() = default;
  explicit ByteBuffer(size_t size) : bytes_(new std::byte[size]), size_(size), room_(size) {}

  std::byte* data() { return bytes_.get(); }
  const std::byte* data() const { return bytes_.get(); }
  size_t size() const { return size_; }
  std::byte* begin() { return data(); }
  std::byte* end() { return data() + size_; }
  const std::byte* begin() const { return data(); }
  const std::byte* end() const { return data() + size_; }
  bool operator==(const ByteBuffer& other) const { return std::equal(begin(), end(), other.begin(), other.end()); }

  /// `count` more at the end; where they begin.
  std::byte* more(size_t count) {
    if (size_ + count > room_) {
      ByteBuffer wider(std::max(size_ + count, 2 * room_));
      if (size_ > 0) std::memcpy(wider.data(), data(), size_);
      bytes_ = std::move(wider.bytes_);
      room_ = wider.room_;
    }
    size_ += count;
    return end() - count;
  }

 private:
  std::unique_ptr<std::byte[]> bytes_;
  size_t size_ = 0, room_ = 0;
};

}  // namespace tersor
