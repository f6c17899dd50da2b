// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "core/samples/source.h"

namespace tersor::python {

/// The bytes of an object with a contiguous buffer (bytes, an array), where they lie; they hold the object. With the
/// GIL. Error kInvalidArgument for another object.
samples::Bytes bytes_of(const nanobind::handle& object, const std::string& place);

/// Files that are made of buffers one after the other, such as the header of an .npy file and an array. No byte is
/// copied but where a range reaches over the end of a buffer. Needs no GIL once it is made.
class BufferSource : public samples::FileSource {
 public:
  void add(std::string path, std::vector<samples::Bytes> parts);
  const std::vector<samples::SourceFile>& files() const override { return files_; }
  samples::Bytes read(size_t file, uint64_t offset, uint64_t length) const override;

 private:
  std::vector<samples::SourceFile> files_;
  std::vector<std::vector<samples::Bytes>> parts_;
};

}  // namespace tersor::python
