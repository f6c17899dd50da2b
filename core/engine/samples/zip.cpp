// SPDX-License-Identifier: Apache-2.0
// By hand, because minizip and libzip read files or own memory, where this reads ranges of whatever holds the archive
// (a Blob of a browser, a part of a larger file) and maps a stored array in place.
#include "core/samples/zip.h"

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <utility>

#include "core/base/error.h"
#include "core/samples/inflate.h"

namespace tersor::samples {

namespace {

[[noreturn]] void broken(const std::string& what) {
  throw Error(ErrorCode::kInvalidSamples, "The zip archive is damaged: " + what + ".", {},
              "Save the archive again, for example with numpy.savez.");
}

uint64_t little(std::span<const std::byte> bytes, size_t at, size_t count) {
  if (at > bytes.size() || count > bytes.size() - at) broken("it is cut short");
  uint64_t value = 0;
  for (size_t i = count; i-- > 0;) value = value << 8 | static_cast<uint64_t>(bytes[at + i]);
  return value;
}

constexpr uint32_t kEndMark = 0x06054b50, kEntryMark = 0x02014b50, kLocalMark = 0x04034b50;
constexpr uint64_t kEndSize = 22, kEntrySize = 46, kLocalSize = 30, kMostComment = 65535;
// Of the zip64 form (APPNOTE.TXT, 4.3.14 to 4.5.3): a value that has no room is kNoRoom, and stands elsewhere in 8
// bytes.
constexpr uint32_t kLargeEndMark = 0x06064b50, kLocatorMark = 0x07064b50, kNoRoom = 0xffffffff;
constexpr uint64_t kLargeEndSize = 56, kLocatorSize = 20, kLargeField = 1;

struct Directory {
  uint64_t offset = 0;
  uint64_t size = 0;
  uint64_t entries = 0;
};

/// The directory's place as the zip64 form says it; null where what ends at `end` is no locator of that.
std::optional<Directory> find_large(const ReadRange& read, uint64_t& end) {
  if (end < kLocatorSize) return std::nullopt;
  const Bytes locator = read(end - kLocatorSize, kLocatorSize);
  if (little(locator.view, 0, 4) != kLocatorMark) return std::nullopt;
  const uint64_t place = little(locator.view, 8, 8), room = end - kLocatorSize;
  if (room < kLargeEndSize || place > room - kLargeEndSize) broken("its zip64 end lies outside the file");
  const Bytes large = read(place, kLargeEndSize);
  if (little(large.view, 0, 4) != kLargeEndMark) broken("its zip64 end is missing");
  end = place;
  return Directory{little(large.view, 48, 8), little(large.view, 40, 8), little(large.view, 32, 8)};
}

/// Reads those of an entry's values that have no room in it from its extra fields, where they stand in this order.
void find_values(std::span<const std::byte> extra, std::initializer_list<uint64_t*> values) {
  for (size_t at = 0; at + 4 <= extra.size();) {
    const uint64_t id = little(extra, at, 2);
    const auto length = static_cast<size_t>(little(extra, at + 2, 2));
    at += 4;
    if (length > extra.size() - at) broken("its directory is malformed");
    const std::span<const std::byte> field = extra.subspan(at, length);
    at += length;
    if (id != kLargeField) continue;
    size_t from = 0;
    for (uint64_t* value : values) {
      if (*value != kNoRoom) continue;
      *value = little(field, from, 8);
      from += 8;
    }
    return;
  }
}

Directory find_directory(const ReadRange& read, uint64_t size) {
  const uint64_t length = std::min(size, kEndSize + kMostComment);
  const Bytes end = read(size - length, length);
  for (uint64_t back = kEndSize; back <= length; ++back) {
    const auto at = static_cast<size_t>(length - back);
    if (little(end.view, at, 4) != kEndMark || little(end.view, at + 20, 2) != back - kEndSize) continue;
    Directory directory{little(end.view, at + 16, 4), little(end.view, at + 12, 4), little(end.view, at + 10, 2)};
    uint64_t place = size - back;
    if (directory.offset == kNoRoom || directory.size == kNoRoom || directory.entries == 0xffff)
      directory = find_large(read, place).value_or(directory);
    if (directory.offset > place || directory.size > place - directory.offset)
      broken("its directory lies outside the file");
    return directory;
  }
  broken("its end is missing (it is cut short, or no zip archive)");
}

/// Checks the header that stands before the member's bytes, which says where they begin.
void find_data(const ReadRange& read, uint64_t size, uint64_t local, ZipMember& member) {
  if (size < kLocalSize || local > size - kLocalSize)
    broken("the member \"" + member.name + "\" lies outside the file");
  const Bytes head = read(local, kLocalSize);
  if (little(head.view, 0, 4) != kLocalMark) broken("the member \"" + member.name + "\" has no header");
  member.data_offset = local + kLocalSize + little(head.view, 26, 2) + little(head.view, 28, 2);
  if (member.data_offset > size || member.compressed_size > size - member.data_offset)
    broken("the member \"" + member.name + "\" is cut short");
}

/// A deflated member: its beginning on its own, or all of it, kept.
class Deflated {
 public:
  Deflated(ReadRange read, ZipMember member) : read_(std::move(read)), member_(std::move(member)) {}

  Bytes range(uint64_t offset, uint64_t length) {
    // Arrays over 2 GB would not fit beside their packed form in a browser, and such a file can be saved unpacked.
    if (member_.size >= uint64_t{1} << 31)
      throw Error(ErrorCode::kInvalidSamples, "The member \"" + member_.name + "\" holds more than 2 GB, compressed.",
                  {}, "Save it with numpy.savez, which does not compress.");
    if (member_.size > most_inflated(member_.compressed_size))
      broken("the size of \"" + member_.name + "\" is impossible");
    // A stored block that passes the end of the buffer is copied in part, so a beginning is always whole.
    if (whole_.view.empty() && offset + length <= kMostNpyHeader && member_.size > 2 * kMostNpyHeader)
      return sub(expand(kMostNpyHeader), offset, length);
    if (whole_.view.empty() && member_.size > 0) {
      whole_ = expand(member_.size);
      if (crc32(whole_.view) != member_.crc) broken("the checksum of \"" + member_.name + "\" is wrong");
    }
    return sub(whole_, offset, length);
  }

 private:
  static Bytes sub(const Bytes& bytes, uint64_t offset, uint64_t length) {
    TERSOR_CHECK(offset <= bytes.view.size() && length <= bytes.view.size() - offset);
    return {bytes.view.subspan(static_cast<size_t>(offset), static_cast<size_t>(length)), bytes.owner};
  }
  Bytes expand(uint64_t length) const {
    const Bytes packed = read_(member_.data_offset, member_.compressed_size);
    auto out = std::make_shared<std::vector<std::byte>>(static_cast<size_t>(length));
    const Inflated result = inflate(packed.view, *out);
    if (result.written != length || (length == member_.size && !result.complete))
      broken("the member \"" + member_.name + "\" has another size than the directory says");
    return {*out, out};
  }

  ReadRange read_;
  ZipMember member_;
  Bytes whole_;
};

}  // namespace

bool is_zip(std::span<const std::byte> head) {
  return head.size() >= 4 && little(head, 0, 4) == kLocalMark;
}

std::vector<ZipMember> read_zip(const ReadRange& read, uint64_t size) {
  if (size < kEndSize) broken("it is cut short");
  const Directory directory = find_directory(read, size);
  const Bytes entries = read(directory.offset, directory.size);
  std::vector<ZipMember> members;
  size_t at = 0;
  for (uint64_t i = 0; i < directory.entries; ++i) {
    if (little(entries.view, at, 4) != kEntryMark) broken("its directory is malformed");
    ZipMember member;
    const uint64_t flags = little(entries.view, at + 8, 2), method = little(entries.view, at + 10, 2);
    member.crc = static_cast<uint32_t>(little(entries.view, at + 16, 4));
    member.compressed_size = little(entries.view, at + 20, 4);
    member.size = little(entries.view, at + 24, 4);
    const auto name = static_cast<size_t>(little(entries.view, at + 28, 2));
    const auto extra = static_cast<size_t>(little(entries.view, at + 30, 2));
    const auto comment = static_cast<size_t>(little(entries.view, at + 32, 2));
    uint64_t local = little(entries.view, at + 42, 4);
    at += kEntrySize;
    if (name > entries.view.size() - at) broken("its directory is malformed");
    member.name.assign(reinterpret_cast<const char*>(entries.view.data()) + at, name);
    at += name;
    if (extra + comment > entries.view.size() - at) broken("its directory is malformed");
    if (member.compressed_size == kNoRoom || member.size == kNoRoom || local == kNoRoom)
      find_values(entries.view.subspan(at, extra), {&member.size, &member.compressed_size, &local});
    at += extra + comment;
    if (!member.name.empty() && member.name.back() == '/') continue;
    if ((flags & 1) != 0)
      throw Error(ErrorCode::kInvalidSamples, "The member \"" + member.name + "\" of the archive is encrypted.");
    if (method != 0 && method != 8)
      throw Error(ErrorCode::kInvalidSamples, "The member \"" + member.name + "\" is packed by method " +
                                                  std::to_string(method) + "; stored (0) and deflated (8) are read.");
    member.deflated = method == 8;
    if (!member.deflated && member.size != member.compressed_size)
      broken("the size of \"" + member.name + "\" is impossible");
    find_data(read, size, local, member);
    members.push_back(std::move(member));
  }
  return members;
}

ReadRange open_member(ReadRange read, const ZipMember& member) {
  if (!member.deflated)
    return [read = std::move(read), start = member.data_offset](uint64_t offset, uint64_t length) {
      return read(start + offset, length);
    };
  auto state = std::make_shared<Deflated>(std::move(read), member);
  return [state](uint64_t offset, uint64_t length) { return state->range(offset, length); };
}

}  // namespace tersor::samples
