// SPDX-License-Identifier: Apache-2.0
// Where sample files come from. The core opens no file itself: the program, a worker or a test gives a FileSource that
// hands out ranges of bytes, so that a large array file or a thousand pictures never lie in memory at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tersor::samples {

/// Bytes and what keeps them alive.
struct Bytes {
  std::span<const std::byte> view;
  std::shared_ptr<const void> owner;
};

/// A file of a data set. `path` is relative to the data set, with '/' between folders, in UTF-8.
struct SourceFile {
  std::string path;
  uint64_t size = 0;
  const char* instead = nullptr;  // what is there in place of a file, as in "a pipe"; it is not read
};

/// The files of one data set. read() may be called from several threads at once.
class FileSource {
 public:
  virtual ~FileSource() = default;
  virtual const std::vector<SourceFile>& files() const = 0;
  /// `length` bytes from `offset` on; the range lies inside the file's size. Error kIo where it cannot be read.
  virtual Bytes read(size_t file, uint64_t offset, uint64_t length) const = 0;

  /// What a sample is named that is the whole data set.
  virtual std::string folder_name() const { return "test_data_set"; }

  Bytes read_all(size_t file) const { return read(file, 0, files()[file].size); }
  /// The first `length` bytes, or the whole file where it is shorter.
  Bytes read_head(size_t file, uint64_t length) const;
};

/// A file that lies in memory.
struct NamedBytes {
  std::string path;
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
};

class MemorySource : public FileSource {
 public:
  explicit MemorySource(std::vector<NamedBytes> contents);
  const std::vector<SourceFile>& files() const override { return files_; }
  Bytes read(size_t file, uint64_t offset, uint64_t length) const override;

 private:
  std::vector<NamedBytes> contents_;
  std::vector<SourceFile> files_;
};

}  // namespace tersor::samples
