// SPDX-License-Identifier: Apache-2.0
#include "core/samples/zip_source.h"

#include <algorithm>

namespace tersor::samples {

namespace {

/// The folder, with its slash, that all files lie in while some lie in folders inside it; empty where there is none.
std::string shared_top(const std::vector<SourceFile>& files) {
  if (files.empty()) return {};
  const size_t slash = files[0].path.find('/');
  if (slash == std::string::npos) return {};
  const std::string top = files[0].path.substr(0, slash + 1);
  bool deep = false;
  for (const SourceFile& file : files) {
    if (file.path.compare(0, top.size(), top) != 0) return {};
    deep = deep || file.path.find('/', top.size()) != std::string::npos;
  }
  return deep ? top : std::string();
}

}  // namespace

ZipSource::ZipSource(std::shared_ptr<const FileSource> archive) : archive_(std::move(archive)) {
  const auto read = [this](uint64_t offset, uint64_t length) { return archive_->read(0, offset, length); };
  members_ = read_zip(read, archive_->files()[0].size);
  for (const ZipMember& member : members_) files_.push_back({member.name, member.size});
  for (std::string top = shared_top(files_); !top.empty(); top = shared_top(files_))
    for (SourceFile& file : files_) file.path.erase(0, top.size());
}

Bytes ZipSource::read(size_t file, uint64_t offset, uint64_t length) const {
  const auto archive = archive_;
  const auto read = [archive](uint64_t from, uint64_t count) { return archive->read(0, from, count); };
  return open_member(read, members_[file])(offset, length);
}

JoinedSource::JoinedSource(std::vector<Part> parts) : parts_(std::move(parts)) {
  for (size_t part = 0; part < parts_.size(); ++part) {
    const auto& [name, source] = parts_[part];
    for (size_t k = 0; k < source->files().size(); ++k) {
      SourceFile file = source->files()[k];
      if (!name.empty()) file.path = name + "/" + file.path;
      files_.push_back(std::move(file));
      places_.emplace_back(part, k);
    }
  }
}

Bytes JoinedSource::read(size_t file, uint64_t offset, uint64_t length) const {
  const auto [part, index] = places_[file];
  return parts_[part].second->read(index, offset, length);
}

}  // namespace tersor::samples
