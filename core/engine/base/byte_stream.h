// SPDX-License-Identifier: Apache-2.0
// Values one after the other in a byte string, for exchange between workers and processes of one program: numbers,
// texts, lists, and structs that list their members (base/fields.h). Not for files: there is no magic and no version.
//
// A class without such a list has two functions beside it: put_bytes(ByteWriter&, const T&), get_bytes(ByteReader&,
// T&).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "core/base/byte_buffer.h"
#include "core/base/error.h"
#include "core/base/fields.h"

namespace tersor {

/// Values that are stored as they are in memory.
template <class T>
concept PlainBytes = std::is_arithmetic_v<T> || std::is_enum_v<T> || std::is_same_v<T, std::byte>;

/// The members of a struct that is only stored as bytes: nobody reads their names.
template <class Owner, class... Members>
constexpr auto members(Members Owner::*... all) {
  return std::make_tuple(field("", all, "")...);
}

class ByteWriter {
 public:
  template <class T>
  void put(const T& value) {
    if constexpr (PlainBytes<T>)
      std::memcpy(bytes_.more(sizeof(T)), &value, sizeof(T));
    else if constexpr (HasFields<T>)
      for_each_field<T>([&](const auto& one) { put(value.*one.member); });
    else
      put_bytes(*this, value);
  }
  template <class T>
  void put(const std::optional<T>& value) {
    put(value.has_value());
    if (value) put(*value);
  }
  template <class T>
  void put(const std::vector<T>& values) {
    if constexpr (PlainBytes<T>) return put_all(std::span<const T>(values));
    put(static_cast<uint64_t>(values.size()));
    for (const T& one : values) put(one);
  }
  template <class T, size_t count>
  void put(const std::array<T, count>& values) {
    for (const T& one : values) put(one);
  }
  void put(const std::string& text) { put_all(std::span<const char>(text)); }
  /// The number of values, then the values.
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

  /// Error kInvalidArgument if the bytes end too early.
  template <class T>
  T get() {
    T value{};
    read(value);
    return value;
  }
  template <class T>
  std::vector<T> get_all() {
    return get<std::vector<T>>();
  }
  bool at_end() const { return rest_.empty(); }

  /// The same into `value`.
  template <class T>
  void read(T& value) {
    if constexpr (PlainBytes<T>)
      std::memcpy(&value, next(1, sizeof(T)), sizeof(T));
    else if constexpr (HasFields<T>)
      for_each_field<T>([&](const auto& one) { read(value.*one.member); });
    else
      get_bytes(*this, value);
  }
  template <class T>
  void read(std::optional<T>& value) {
    value.reset();
    if (get<bool>()) read(value.emplace());
  }
  template <class T>
  void read(std::vector<T>& values) {
    const auto count = get<uint64_t>();
    if constexpr (PlainBytes<T>) {
      const std::byte* from = next(count, sizeof(T));
      values.resize(static_cast<size_t>(count));
      if (count > 0) std::memcpy(values.data(), from, values.size() * sizeof(T));
    } else {
      for (uint64_t k = 0; k < count; ++k) read(values.emplace_back());
    }
  }
  template <class T, size_t count>
  void read(std::array<T, count>& values) {
    for (T& one : values) read(one);
  }
  void read(std::string& text) {
    const std::vector<char> characters = get<std::vector<char>>();
    text.assign(characters.begin(), characters.end());
  }

 private:
  /// Skips `count` values of `size` bytes.
  const std::byte* next(uint64_t count, size_t size) {
    if (count > rest_.size() / size) throw Error(ErrorCode::kInvalidArgument, "The partial result is cut short.");
    const std::byte* from = rest_.data();
    rest_ = rest_.subspan(static_cast<size_t>(count) * size);
    return from;
  }

  std::span<const std::byte> rest_;
};

template <class T>
ByteBuffer to_bytes(const T& value) {
  ByteWriter writer;
  writer.put(value);
  return writer.take();
}

/// Error kInvalidArgument if the bytes are cut short.
template <class T>
T from_bytes(std::span<const std::byte> bytes) {
  return ByteReader(bytes).get<T>();
}

}  // namespace tersor
