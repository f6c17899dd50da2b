// SPDX-License-Identifier: Apache-2.0
#include "core/tflite/flat_writer.h"

#include <algorithm>
#include <limits>

#include "core/base/error.h"

namespace tersor::tflite {

class FlatWriter {
 public:
  std::vector<std::byte> file(const FlatObject& root, std::string_view identifier) {
    put<uint32_t>(0);
    for (const char letter : identifier) bytes_.push_back(static_cast<std::byte>(letter));
    refer(0, write(root));
    align(0, 4);
    return std::move(bytes_);
  }

 private:
  template <class T>
  void put(T value) {
    const auto* at = reinterpret_cast<const std::byte*>(&value);
    bytes_.insert(bytes_.end(), at, at + sizeof(T));
  }
  /// Zeros until what stands `ahead` bytes further on is aligned.
  void align(size_t ahead, size_t alignment) {
    while ((bytes_.size() + ahead) % alignment != 0) bytes_.push_back(std::byte{0});
  }
  void set(size_t at, uint32_t value) { std::memcpy(bytes_.data() + at, &value, sizeof(value)); }
  void refer(size_t from, size_t to) {
    if (to > static_cast<size_t>(std::numeric_limits<int32_t>::max()))
      throw Error(ErrorCode::kUnsupportedModel, "The file would pass the 2 GB that FlatBuffers can address.");
    set(from, static_cast<uint32_t>(to - from));
  }

  size_t write(const FlatObject& object) {
    switch (object.kind_) {
      case FlatObject::Kind::kTable:
        return write_table(object);
      case FlatObject::Kind::kObjects:
        return write_objects(object);
      case FlatObject::Kind::kVector:
        break;
    }
    align(4, std::max<size_t>(object.alignment_, 4));
    if (bytes_.size() % 4 != 0) align(0, 4);
    const size_t at = bytes_.size();
    put(static_cast<uint32_t>(object.count_));
    bytes_.insert(bytes_.end(), object.data_.begin(), object.data_.end());
    bytes_.insert(bytes_.end(), object.own_.begin(), object.own_.end());
    return at;
  }

  size_t write_objects(const FlatObject& object) {
    align(0, 4);
    const size_t at = bytes_.size();
    put(static_cast<uint32_t>(object.slots_.size()));
    bytes_.resize(bytes_.size() + 4 * object.slots_.size());
    for (size_t k = 0; k < object.slots_.size(); ++k) refer(at + 4 + 4 * k, write(object.slots_[k].object[0]));
    return at;
  }

  /// The vtable says where in the table each slot lies: its own size, the table's, then one offset for each slot.
  size_t write_table(const FlatObject& object) {
    int slots = 0;
    for (const auto& slot : object.slots_) slots = std::max(slots, slot.slot + 1);
    std::vector<uint16_t> vtable(static_cast<size_t>(slots) + 2);
    size_t size = 4;
    for (const size_t wide : {size_t{4}, size_t{1}})
      for (const auto& slot : object.slots_)
        if (slot.size == wide) {
          vtable[static_cast<size_t>(slot.slot) + 2] = static_cast<uint16_t>(size);
          size += wide;
        }
    vtable[0] = static_cast<uint16_t>(2 * vtable.size());
    vtable[1] = static_cast<uint16_t>(size);
    const auto [entry, is_new] = vtables_.try_emplace(vtable, 0);
    if (is_new) {
      align(vtable[0], 4);
      entry->second = bytes_.size();
      for (const uint16_t one : vtable) put(one);
    }
    align(0, 4);
    const size_t at = bytes_.size();
    put(static_cast<int32_t>(at) - static_cast<int32_t>(entry->second));
    bytes_.resize(at + size);
    const auto place = [&](const auto& slot) { return at + vtable[static_cast<size_t>(slot.slot) + 2]; };
    for (const auto& slot : object.slots_) std::memcpy(bytes_.data() + place(slot), &slot.bits, slot.size);
    for (const auto& slot : object.slots_)
      if (!slot.object.empty()) refer(place(slot), write(slot.object[0]));
    return at;
  }

  std::vector<std::byte> bytes_;
  std::map<std::vector<uint16_t>, size_t> vtables_;
};

std::vector<std::byte> flat_file(const FlatObject& root, std::string_view identifier) {
  return FlatWriter().file(root, identifier);
}

}  // namespace tersor::tflite
