// SPDX-License-Identifier: Apache-2.0
#include "core/samples/zip.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/base/error.h"
#include "core/samples/inflate.h"

namespace tersor::samples {

namespace {

[[noreturn]] void broken(const std::string& what) {
  throw Error(ErrorCode::kInvalidSamples, "The zip archive is damaged: " + what + ".", {},
              "Save the archive again, for example with numpy.savez.");
}

[[noreturn]] void refuse_zip64() {
  throw Error(ErrorCode::kInvalidSamples,
              "The archive is of the zip64 form (over 4 GB or 65535 members), which is not read.", {},
              "Save fewer samples to a file, or one .npy file for each.");
}

uint64_t little(std::span<const std::byte> bytes, size_t at, size_t count) {
  if (at > bytes.size() || count > bytes.size() - at) broken("it is cut short");
  uint64_t value = 0;
  for (size_t i = count; i-- > 0;) value = value << 8 | static_cast<uint64_t>(bytes[at + i]);
  return value;
}

constexpr uint32_t kEndMark = 0x06054b50, kEntryMark = 0x02014b50, kLocalMark = 0x04034b50;
constexpr uint64_t kEndSize = 22, kEntrySize = 46, kLocalSize = 30, kMostComment = 65535;

struct Directory {
  uint64_t offset = 0;
  uint64_t size = 0;
  uint64_t entries = 0;
};

Directory find_directory(const ReadRange& read, uint64_t size) {
  const uint64_t length = std::min(size, kEndSize + kMostComment);
  const Bytes end = read(size - length, length);
  for (uint64_t back = kEndSize; back <= length; ++back) {
    const auto at = static_cast<size_t>(length - back);
    if (little(end.view, at, 4) != kEndMark || little(end.view, at + 20, 2) != back - kEndSize) continue;
    Directory directory{little(end.view, at + 16, 4), little(end.view, at + 12, 4), little(end.view, at + 10, 2)};
    if (directory.offset == 0xffffffff || directory.size == 0xffffffff || directory.entries == 0xffff) refuse_zip64();
    const uint64_t place = size - back;
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
    const uint64_t extra = little(entries.view, at + 30, 2), comment = little(entries.view, at + 32, 2);
    const uint64_t local = little(entries.view, at + 42, 4);
    at += kEntrySize;
    if (name > entries.view.size() - at) broken("its directory is malformed");
    member.name.assign(reinterpret_cast<const char*>(entries.view.data()) + at, name);
    at += name + static_cast<size_t>(extra + comment);
    if (at > entries.view.size()) broken("its directory is malformed");
    if (member.compressed_size == 0xffffffff || member.size == 0xffffffff || local == 0xffffffff) refuse_zip64();
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
