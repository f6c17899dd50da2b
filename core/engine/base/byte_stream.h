// SPDX-License-Identifier: Apache-2.0
// Numbers one after the other in a byte string, for what workers of one program hand to each other. Not for files:
// there is no magic and no version.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

#include "core/base/byte_buffer.h"
#include "core/base/error.h"

namespace tersor {

class ByteWriter {
 public:
  template <class T>
  void put(T value) {
    static_assert(std::is_arithmetic_v<T> || std::is_enum_v<T>);
    std::memcpy(bytes_.more(sizeof(T)), &value, sizeof(T));
  }
  /// How many, then all.
  template <class T>
  void put_all(std::span<const T> values) {
    put(static_cast<uint64_t>(values.size()));
    if (!values.empty()) std::memcpy(bytes_.more(values.size_bytes()), values.data(), values.size_bytes());
  }
  ByteBuffer take() { return std::move(bytes_); }

 private:
  ByteBuffer bytes_;
};

class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : rest_(bytes) {}

  /// Error kInvalidArgument when the bytes end before.
  template <class T>
  T get() {
    static_assert(std::is_arithmetic_v<T> || std::is_enum_v<T>);
    if (rest_.size() < sizeof(T)) throw Error(ErrorCode::kInvalidArgument, "The partial result is cut short.");
    T value;
    std::memcpy(&value, rest_.data(), sizeof(T));
    rest_ = rest_.subspan(sizeof(T));
    return value;
  }
  template <class T>
  std::vector<T> get_all() {
    const auto count = get<uint64_t>();
    if (count > rest_.size() / sizeof(T)) throw Error(ErrorCode::kInvalidArgument, "The partial result is cut short.");
    std::vector<T> values(static_cast<size_t>(count));
    const size_t size = values.size() * sizeof(T);
    if (size > 0) std::memcpy(values.data(), rest_.data(), size);
    rest_ = rest_.subspan(size);
    return values;
  }
  bool at_end() const { return rest_.empty(); }

 private:
  std::span<const std::byte> rest_;
};

}  // namespace tersor
