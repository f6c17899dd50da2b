// SPDX-License-Identifier: Apache-2.0
#include "tests/samples/make_files.h"

#include "core/samples/inflate.h"

namespace tersor::test {

namespace {

void put(FileBytes& out, uint64_t value, int count, bool big = false) {
  for (int i = 0; i < count; ++i) {
    const int at = big ? count - 1 - i : i;
    out.push_back(at < 8 ? static_cast<std::byte>(value >> 8 * at) : std::byte{0});
  }
}

void put(FileBytes& out, const FileBytes& bytes) {
  out.insert(out.end(), bytes.begin(), bytes.end());
}

/// zlib's frame around stored blocks.
FileBytes zlib_stored(const FileBytes& data) {
  FileBytes out;
  put(out, 0x7801, 2, true);
  size_t at = 0;
  do {
    const size_t length = std::min<size_t>(data.size() - at, 65535);
    put(out, at + length == data.size() ? 1 : 0, 1);
    put(out, length, 2);
    put(out, length ^ 0xffff, 2);
    out.insert(out.end(), data.begin() + static_cast<ptrdiff_t>(at),
               data.begin() + static_cast<ptrdiff_t>(at + length));
    at += length;
  } while (at < data.size());
  put(out, 0, 4);  // the checksum, which the reader leaves to PNG's own
  return out;
}

void put_chunk(FileBytes& out, const std::string& type, const FileBytes& data) {
  FileBytes checked = bytes_of(type);
  put(checked, data);
  put(out, data.size(), 4, true);
  put(out, checked);
  put(out, samples::crc32(checked), 4, true);
}

}  // namespace

FileBytes bytes_of(std::string_view text) {
  return bytes_of(std::span<const char>(text.data(), text.size()));
}

FileBytes npy_around(const std::string& header, const FileBytes& data, int version) {
  FileBytes out = bytes_of("\x93NUMPY");
  put(out, static_cast<uint64_t>(version), 1);
  put(out, 0, 1);
  put(out, header.size() + 1, version == 1 ? 2 : 4);
  put(out, bytes_of(header + "\n"));
  put(out, data);
  return out;
}

FileBytes zip_of(const std::vector<std::pair<std::string, FileBytes>>& members) {
  FileBytes out, directory;
  for (const auto& [name, data] : members) {
    const size_t local = out.size();
    const uint32_t crc = samples::crc32(data);
    const auto common = [&, n = name.size(), d = data.size()](FileBytes& to) {
      put(to, 0, 8);  // flags, method, time, date
      put(to, crc, 4);
      put(to, d, 4);
      put(to, d, 4);
      put(to, n, 2);
      put(to, 0, 2);
    };
    put(out, 0x04034b50, 4);
    put(out, 20, 2);
    common(out);
    put(out, bytes_of(name));
    put(out, data);
    put(directory, 0x02014b50, 4);
    put(directory, 20, 2);
    put(directory, 20, 2);
    common(directory);
    put(directory, 0, 10);  // comment, disk, attributes
    put(directory, local, 4);
    put(directory, bytes_of(name));
  }
  const size_t start = out.size();
  put(out, directory);
  put(out, 0x06054b50, 4);
  put(out, 0, 4);
  put(out, members.size(), 2);
  put(out, members.size(), 2);
  put(out, directory.size(), 4);
  put(out, start, 4);
  put(out, 0, 2);
  return out;
}

FileBytes png_of(const PngParts& parts) {
  FileBytes out = bytes_of(std::string_view("\x89PNG\r\n\x1a\n", 8)), header;
  put(header, parts.width, 4, true);
  put(header, parts.height, 4, true);
  put(header, static_cast<uint64_t>(parts.depth), 1);
  put(header, static_cast<uint64_t>(parts.colour), 1);
  put(header, 0, 2);
  put(header, static_cast<uint64_t>(parts.interlace), 1);
  put_chunk(out, "IHDR", header);
  for (const auto& [type, data] : parts.extra) put_chunk(out, type, data);
  put_chunk(out, "IDAT", zlib_stored(parts.rows));
  put_chunk(out, "IEND", {});
  return out;
}

samples::InputSpec input(std::vector<int64_t> dims, DType dtype, std::string name) {
  std::vector<Dim> shape;
  for (int64_t dim : dims) shape.push_back({dim, ""});
  return {std::move(name), dtype, std::move(shape)};
}

std::shared_ptr<const samples::FileSource> source_of(const NamedFiles& files) {
  std::vector<samples::NamedBytes> contents;
  for (const auto& [path, data] : files) {
    auto owner = std::make_shared<FileBytes>(data);
    contents.push_back({path, *owner, owner});
  }
  return std::make_shared<samples::MemorySource>(std::move(contents));
}

std::shared_ptr<const samples::DataSet> open_set(const NamedFiles& files, const std::vector<samples::InputSpec>& inputs,
                                                 const samples::DataSetOptions& options) {
  return samples::DataSet::open(source_of(files), inputs, options);
}

}  // namespace tersor::test
