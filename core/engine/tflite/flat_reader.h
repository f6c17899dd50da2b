// SPDX-License-Identifier: Apache-2.0
// Tables of a FlatBuffers file. Nothing is trusted: every offset is held against the file's end, and what does not fit
// is error kInvalidModel with the byte where it was found. Numbers need not be aligned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/error.h"

namespace tersor::tflite {

inline constexpr const char* kDamagedHint = "It may have been cut short while it was copied: copy or export it again.";

class FlatFile {
 public:
  explicit FlatFile(std::span<const std::byte> bytes) : bytes_(bytes) {}

  [[noreturn]] static void refuse(size_t at, const std::string& what) {
    throw Error(ErrorCode::kInvalidModel,
                "The TensorFlow Lite file (.tflite) is damaged: " + what + " at byte " + std::to_string(at) + ".", {},
                kDamagedHint);
  }
  template <class T>
  T number(size_t at) const {
    if (at > bytes_.size() || bytes_.size() - at < sizeof(T)) refuse(at, "a number would lie beyond its end");
    T value;
    std::memcpy(&value, bytes_.data() + at, sizeof(T));
    return value;
  }
  /// What an offset at this byte leads to.
  size_t follow(size_t at) const {
    const uint64_t to = at + uint64_t{number<uint32_t>(at)};
    if (to == at || to >= bytes_.size()) refuse(at, "an offset leads nowhere");
    return static_cast<size_t>(to);
  }
  /// The elements of the vector there, of so many bytes each.
  std::span<const std::byte> vector(size_t at, size_t size, size_t& count) const {
    count = number<uint32_t>(at);
    if (count > (bytes_.size() - at - 4) / size) refuse(at, "a vector would reach beyond its end");
    return bytes_.subspan(at + 4, count * size);
  }

 private:
  std::span<const std::byte> bytes_;
};

class FlatTable {
 public:
  FlatTable(const FlatFile& file, size_t at) : file_(&file), at_(at) {
    const int64_t vtable = static_cast<int64_t>(at) - file.number<int32_t>(at);
    if (vtable < 0) FlatFile::refuse(at, "a table has no list of fields");
    vtable_ = static_cast<size_t>(vtable);
    size_ = file.number<uint16_t>(vtable_);
  }

  template <class T>
  T number(int slot, T otherwise) const {
    const size_t at = place(slot);
    return at == 0 ? otherwise : file_->number<T>(at);
  }
  std::optional<FlatTable> table(int slot) const {
    const size_t at = place(slot);
    if (at == 0) return std::nullopt;
    return FlatTable(*file_, file_->follow(at));
  }
  template <class T>
  std::vector<T> numbers(int slot) const {
    size_t count = 0;
    const std::span<const std::byte> bytes = elements(slot, sizeof(T), count);
    std::vector<T> result(count);
    if (count > 0) std::memcpy(result.data(), bytes.data(), bytes.size());
    return result;
  }
  std::span<const std::byte> bytes(int slot) const {
    size_t count = 0;
    return elements(slot, 1, count);
  }
  std::string text(int slot) const {
    const std::span<const std::byte> found = bytes(slot);
    return {reinterpret_cast<const char*>(found.data()), found.size()};
  }
  std::vector<FlatTable> tables(int slot) const {
    std::vector<FlatTable> result;
    const size_t at = place(slot);
    if (at == 0) return result;
    const size_t vector = file_->follow(at);
    size_t count = 0;
    file_->vector(vector, 4, count);
    for (size_t k = 0; k < count; ++k) result.emplace_back(*file_, file_->follow(vector + 4 + 4 * k));
    return result;
  }
  size_t at() const { return at_; }

 private:
  /// 0 where the table has not that field.
  size_t place(int slot) const {
    const size_t entry = 4 + 2 * static_cast<size_t>(slot);
    if (entry + 2 > size_) return 0;
    const auto offset = file_->number<uint16_t>(vtable_ + entry);
    return offset == 0 ? 0 : at_ + offset;
  }
  std::span<const std::byte> elements(int slot, size_t size, size_t& count) const {
    const size_t at = place(slot);
    if (at == 0) return {};
    return file_->vector(file_->follow(at), size, count);
  }

  const FlatFile* file_;
  size_t at_, vtable_ = 0, size_ = 0;
};

}  // namespace tersor::tflite
