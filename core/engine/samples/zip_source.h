// SPDX-License-Identifier: Apache-2.0
// Data sets that lie in other containers than one folder: zip archives, and several places together.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/samples/source.h"
#include "core/samples/zip.h"

namespace tersor::samples {

/// The members of a zip archive as files. A folder that holds all of them, and folders in it, is left out of their
/// paths, as archives of a folder of class folders have it.
class ZipSource : public FileSource {
 public:
  /// `archive` is file 0 of its source. Errors of read_zip().
  explicit ZipSource(std::shared_ptr<const FileSource> archive);
  const std::vector<SourceFile>& files() const override { return files_; }
  Bytes read(size_t file, uint64_t offset, uint64_t length) const override;

 private:
  std::shared_ptr<const FileSource> archive_;
  std::vector<ZipMember> members_;
  std::vector<SourceFile> files_;
};

/// Several sources as one; each one's files lie in a folder of its name, which may be empty.
class JoinedSource : public FileSource {
 public:
  using Part = std::pair<std::string, std::shared_ptr<const FileSource>>;
  explicit JoinedSource(std::vector<Part> parts);
  const std::vector<SourceFile>& files() const override { return files_; }
  Bytes read(size_t file, uint64_t offset, uint64_t length) const override;

 private:
  std::vector<Part> parts_;
  std::vector<std::pair<size_t, size_t>> places_;  // by file: which part, which of its files
  std::vector<SourceFile> files_;
};

}  // namespace tersor::samples
