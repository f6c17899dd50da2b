// SPDX-License-Identifier: Apache-2.0
// The directory of a zip archive, as far as .npz files need it: members stored or deflated.
#pragma once

#include <string>
#include <vector>

#include "core/samples/npy.h"

namespace tersor::samples {

struct ZipMember {
  std::string name;
  bool deflated = false;
  uint32_t crc = 0;
  uint64_t compressed_size = 0;
  uint64_t size = 0;
  uint64_t data_offset = 0;  // of the compressed bytes in the archive
};

bool is_zip(std::span<const std::byte> head);

/// Folders are left out. Error kInvalidSamples when the archive is damaged or encrypted.
std::vector<ZipMember> read_zip(const ReadRange& read, uint64_t size);

/// The member's content. Stored members are read range by range; a deflated one is expanded as a whole, checked against
/// its checksum, and kept, when more than its beginning is asked for.
ReadRange open_member(ReadRange read, const ZipMember& member);

}  // namespace tersor::samples
