// SPDX-License-Identifier: Apache-2.0
// The wire format of FlatBuffers, written by hand: the few kinds of objects of a .tflite file take fewer lines than the
// library's glue, and every byte is ours to fix. An object is written before what it refers to, so that all offsets
// point forward; alignment is counted from the beginning of the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <span>
#include <string_view>
#include <vector>

namespace tersor::tflite {

/// A table or a vector, and what they refer to. Bytes of `data` are the caller's, as long as it is written.
class FlatObject {
 public:
  static FlatObject table() { return FlatObject(Kind::kTable); }
  static FlatObject vector_of_objects(std::vector<FlatObject> objects) {
    FlatObject made(Kind::kObjects);
    for (FlatObject& one : objects) made.put(0, std::move(one));
    return made;
  }
  /// The first element lies at a multiple of `alignment`.
  static FlatObject vector_over(std::span<const std::byte> data, size_t count, size_t alignment) {
    FlatObject made(Kind::kVector);
    made.data_ = data;
    made.count_ = count;
    made.alignment_ = alignment;
    return made;
  }
  template <class T>
  static FlatObject vector_of(std::span<const T> values) {
    FlatObject made = vector_over({}, values.size(), sizeof(T));
    const auto bytes = std::as_bytes(values);
    made.own_.assign(bytes.begin(), bytes.end());
    return made;
  }
  static FlatObject string(std::string_view text) {
    FlatObject made = vector_of(std::span<const char>(text.data(), text.size()));
    made.own_.push_back(std::byte{0});  // not counted
    return made;
  }

  /// The value of a slot, of 1 or 4 bytes.
  template <class T>
  void put_number(int slot, T value) {
    static_assert(sizeof(T) == 1 || sizeof(T) == 4);
    Slot one{slot, sizeof(T), 0, {}};
    std::memcpy(&one.bits, &value, sizeof(T));
    slots_.push_back(std::move(one));
  }
  void put(int slot, FlatObject object) {
    Slot one{slot, 4, 0, {}};
    one.object.push_back(std::move(object));
    slots_.push_back(std::move(one));
  }

 private:
  friend class FlatWriter;
  enum class Kind : uint8_t { kTable, kObjects, kVector };
  struct Slot {
    int slot;
    size_t size;
    uint32_t bits;
    std::vector<FlatObject> object;  // one where the slot refers to an object
  };
  explicit FlatObject(Kind kind) : kind_(kind) {}

  Kind kind_;
  std::vector<Slot> slots_;
  std::span<const std::byte> data_;
  std::vector<std::byte> own_;
  size_t count_ = 0, alignment_ = 4;
};

/// The file whose root is this table, with its identifier of four letters.
std::vector<std::byte> flat_file(const FlatObject& root, std::string_view identifier);

}  // namespace tersor::tflite
