// SPDX-License-Identifier: Apache-2.0
#include "core/samples/source.h"

#include <algorithm>
#include <utility>

#include "core/base/error.h"

namespace tersor::samples {

Bytes FileSource::read_head(size_t file, uint64_t length) const {
  return read(file, 0, std::min(length, files()[file].size));
}

MemorySource::MemorySource(std::vector<NamedBytes> contents) : contents_(std::move(contents)) {
  for (const NamedBytes& one : contents_) files_.push_back({one.path, one.bytes.size()});
}

Bytes MemorySource::read(size_t file, uint64_t offset, uint64_t length) const {
  TERSOR_CHECK(file < contents_.size());
  const NamedBytes& content = contents_[file];
  TERSOR_CHECK(offset <= content.bytes.size() && length <= content.bytes.size() - offset);
  return {content.bytes.subspan(static_cast<size_t>(offset), static_cast<size_t>(length)), content.owner};
}

}  // namespace tersor::samples
